package tools

import (
	"context"
	"fmt"
	"strings"

	"browser-coordinator/coordinator/output"
	"browser-coordinator/coordinator/page/audit"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/answer"
)

type auditIn struct {
	Target string `json:"target,omitempty" about:"ref or selector" is:"subject"`
	answer.Paged
	inPage
}

var _ = define(Tool{
	Name: "browser_audit", Title: "Audit", Description: "Find accessibility defects (axe-core), also contrast",
	Set: "devtools", Difference: "theirs has none",
	Effect: Reads,
	Returns: "defects by rule, the most serious first, with each element and how to repair it; how many elements " +
		"only a person can judge",
	Notes: "It is axe-core 4.14.1 with its default rules, which the page does not see. `target` is audited " +
		"without the frames in it.",
	Example: `{}`,
}, calls[auditIn]{Do: auditPage})

func auditPage(ctx context.Context, c *agent.Call, in auditIn) error {
	p, file, err := c.PageAndFile(ctx, in.Filename, output.Text)
	if err != nil {
		return err
	}
	description := "audit of " + p.ID() + " " + in.Target
	if c.Out.Further(in.Paged, description) {
		return nil
	}
	r, err := p.Auditor().Audit(ctx, in.Target)
	if err != nil {
		return err
	}
	if r.Unsure > 0 {
		c.Out.Addf("Elements that only a person can judge: %d.", r.Unsure)
	}
	if len(r.Findings) == 0 {
		c.Out.Addf("No rule is broken.")
		return nil
	}
	return c.Out.Text(in.Paged, file, description, auditText(r.Findings))
}

// auditText has a heading for each rule, and an entry for each element.
func auditText(findings []audit.Finding) string {
	var b strings.Builder
	for n, f := range findings {
		if n == 0 || f.Rule != findings[n-1].Rule {
			fmt.Fprintf(&b, "%s (%s): %s, %s\n", f.Rule, f.Impact, f.Help, f.URL)
		}
		element := f.Selector
		if f.Element != "" {
			element = f.Element + ", " + f.Selector
		}
		if f.Frame != "" {
			element += " in " + f.Frame
		}
		fmt.Fprintf(&b, "- %s\n", element)
		if len(f.All) > 0 {
			fmt.Fprintf(&b, "    %s\n", strings.Join(f.All, "; "))
		}
		if len(f.Any) > 0 {
			fmt.Fprintf(&b, "    %s\n", strings.Join(f.Any, "; or: "))
		}
	}
	return b.String()
}
