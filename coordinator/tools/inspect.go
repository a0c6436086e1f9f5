package tools

import (
	"context"
	"fmt"
	"math"
	"strings"

	"browser-coordinator/coordinator/output"
	"browser-coordinator/coordinator/page/inspect"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/answer"
	"browser-coordinator/policy"
)

type inspectIn struct {
	targetIn
	answer.Paged
	inPage
}

var _ = define(definition[inspectIn]{
	Name: "browser_inspect", Title: "Inspect",
	Description: "An element's box, styles, CSS rules, listeners and component, with source places",
	Set:         "devtools", Unlike: "theirs has none of this",
	Effect: Reads,
	Do:     inspectElement,
	Returns: "the element; its box in the viewport of its frame; why it cannot be clicked; computed styles that are " +
		"not the initial ones; the page's rules, strongest first, and what each lost declaration loses to; its " +
		"event listeners; with a development build of React, Vue, Svelte, Lit or Angular the component with " +
		"props, state and source",
	Notes: "Nothing is scrolled, and no mouse is moved. Rules of ancestors are those that the element inherits from. " +
		"The browser's own rules are left out, and the reversed order of `!important` in layers is not known. Of " +
		"Svelte the component's place is known, of Angular its fields.\n\n" +
		"The component is read [beside the page's code](../specs/security.md#the-users-choice), by own data " +
		"properties: no getter of the page runs.",
	Example: `{"target": "button \"Order\""}`,
})

func inspectElement(ctx context.Context, c *agent.Call, in inspectIn) error {
	p, file, err := c.PageAndFile(ctx, in.Filename, output.Text)
	if err != nil {
		return err
	}
	what := "inspection of " + p.ID() + " " + in.Target
	if c.Out.Further(in.Paged, what) {
		return nil
	}
	r, err := p.Inspector().Inspect(ctx, in.Target)
	if err != nil {
		return err
	}
	return c.Out.Text(in.Paged, file, what, inspectionText(r))
}

func inspectionText(r inspect.Report) string {
	var b strings.Builder
	tag := r.Tag
	if r.ID != "" {
		tag += "#" + r.ID
	}
	for _, class := range r.Classes {
		tag += "." + class
	}
	fmt.Fprintf(&b, "%s <%s>\n", r.Identity, policy.Excerpt(tag, longestValues)) // as one line: it is the page's
	box := r.Box
	fmt.Fprintf(&b, "Box: %s × %s at %s,%s; margin %s, border %s, padding %s, content %s × %s\n", px(box.Width),
		px(box.Height), px(box.X), px(box.Y), sides(box.Margin), sides(box.Border), sides(box.Padding),
		px(box.ContentWidth), px(box.ContentHeight))
	switch o := r.Obstacle; {
	case o.Misses && box.IsAway():
		fmt.Fprintf(&b, "Outside of the viewport, which is %s × %s: a click scrolls there first.\n", px(box.ViewWidth),
			px(box.ViewHeight))
	case o.Misses:
		fmt.Fprintf(&b, "Cannot be clicked unless scrolling helps: %s\n", o.Why)
	case o.Why != "":
		fmt.Fprintf(&b, "Cannot be clicked: %s\n", o.Why)
	default:
		b.WriteString("Visible, and a click hits it.\n")
	}
	if len(r.Styles) > 0 {
		fmt.Fprintf(&b, "Computed: %s\n", strings.Join(r.Styles, "; "))
	}
	writeRules(&b, r.Rules)
	if len(r.Listeners) > 0 {
		b.WriteString("Listeners:\n")
	}
	for _, l := range r.Listeners {
		fmt.Fprintf(&b, "- %s%s", policy.Excerpt(l.Type, longestValues), inBrackets(l.Options))
		if l.At.URL != "" {
			fmt.Fprintf(&b, " %s", l.At)
		}
		b.WriteByte('\n')
	}
	if c := r.Component; c != nil {
		fmt.Fprintf(&b, "Component: %s\n", c)
		writeLines(&b, "Props", c.Props)
		writeLines(&b, "State", c.State)
	}
	return b.String()
}

func writeRules(b *strings.Builder, rules []inspect.Rule) {
	for n, r := range rules {
		switch {
		case n == 0 && !r.Inherited:
			b.WriteString("Rules, strongest first:\n")
		case r.Inherited && (n == 0 || !rules[n-1].Inherited):
			b.WriteString("Inherited:\n")
		}
		fmt.Fprintf(b, "- %s", strings.Join(append(r.Conditions, r.Selector), " "))
		if r.At.URL != "" || r.At.Place != "" {
			fmt.Fprintf(b, " (%s)", r.At)
		}
		b.WriteByte('\n')
		for _, d := range r.Declarations {
			note := ""
			switch {
			case d.Invalid:
				note = " [invalid]"
			case d.LosesTo != "":
				note = " [loses to " + d.LosesTo + "]"
			}
			fmt.Fprintf(b, "    %s%s\n", d.Text, note)
		}
	}
}

func writeLines(b *strings.Builder, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "  %s:\n", title)
	for _, line := range lines {
		fmt.Fprintf(b, "    %s\n", line)
	}
}

func inBrackets(options []string) string {
	if len(options) == 0 {
		return ""
	}
	return " [" + strings.Join(options, ", ") + "]"
}

// px is a length in CSS pixels.
func px(n float64) string { return fmt.Sprint(math.Round(n*100) / 100) }

// sides are four lengths as CSS abbreviates them.
func sides(s [4]float64) string {
	if s[0] == s[1] && s[1] == s[2] && s[2] == s[3] {
		return px(s[0])
	}
	if s[0] == s[2] && s[1] == s[3] {
		return px(s[0]) + " " + px(s[1])
	}
	return fmt.Sprintf("%s %s %s %s", px(s[0]), px(s[1]), px(s[2]), px(s[3]))
}
