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

var _ = define(Tool{
	Name: "browser_inspect", Title: "Inspect",
	Description: "An element's box, styles, CSS rules, listeners and component, with source places",
	Set:         "devtools", Difference: "theirs has none of this",
	Effect: Reads,
	Returns: "also why it cannot be clicked; computed styles that are not initial; rules, the strongest first, " +
		"and what each lost declaration loses to; with a development build of React, Vue, Svelte, Lit or Angular " +
		"the component's props, state and source",
	Notes: "It scrolls nothing and moves no mouse. The browser's own rules are left out, and the reversed order " +
		"of `!important` in layers is not known. Rules of a sheet whose text the browser no longer " +
		"has are without a place, as the browser writes them. A component's source is the place of the element (React, " +
		"Svelte), of the class (Angular), its file (Vue), or unknown (Lit). Of Svelte neither props nor state is known. " +
		"Of Angular, props are the inputs, and state has the other fields but outputs.",
	Example: `{"target": "button \"Order\""}`,
}, calls[inspectIn]{Do: inspectElement})

func inspectElement(ctx context.Context, c *agent.Call, in inspectIn) error {
	p, file, err := c.PageAndFile(ctx, in.Filename, output.Text)
	if err != nil {
		return err
	}
	description := "inspection of " + p.ID() + " " + in.Target
	if c.Out.Further(in.Paged, description) {
		return nil
	}
	r, err := p.Inspector().Inspect(ctx, in.Target)
	if err != nil {
		return err
	}
	return c.Out.Text(in.Paged, file, description, inspectionText(r))
}

// report is a text of lines, each of which is one whatever a page has in it: none of them begins with
// the page's words.
type report struct{ strings.Builder }

// longestLine bounds a line of a report, in bytes.
const longestLine = 8000

func (r *report) add(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	text := strings.TrimLeft(line, " ")
	r.WriteString(line[:len(line)-len(text)] + policy.Excerpt(text, longestLine) + "\n")
}

func inspectionText(r inspect.Report) string {
	var b report
	tag := r.Tag
	if r.ID != "" {
		tag += "#" + r.ID
	}
	for _, class := range r.Classes {
		tag += "." + class
	}
	b.add("%s <%s>", r.Identity, tag)
	box := r.Box
	b.add("Box: %s × %s at %s,%s; margin %s, border %s, padding %s, content %s × %s", px(box.Width),
		px(box.Height), px(box.X), px(box.Y), sides(box.Margin), sides(box.Border), sides(box.Padding),
		px(box.ContentWidth), px(box.ContentHeight))
	switch o := r.Obstacle; {
	case o.Misses && box.IsAway():
		b.add("Outside of the viewport, which is %s × %s: a click scrolls there first.", px(box.ViewWidth),
			px(box.ViewHeight))
	case o.Misses:
		b.add("Cannot be clicked unless scrolling helps: %s", o.Why)
	case o.Why != "":
		b.add("Cannot be clicked: %s", o.Why)
	default:
		b.add("Visible, and a click hits it.")
	}
	if len(r.Styles) > 0 {
		b.add("Computed: %s", strings.Join(r.Styles, "; "))
	}
	b.addRules(r.Rules)
	if r.NoRules != "" {
		b.add("The rules cannot be read: %s", r.NoRules)
	}
	if len(r.Listeners) > 0 {
		b.add("Listeners:")
	}
	for _, l := range r.Listeners {
		location := ""
		if l.Position.URL != "" {
			location = " " + l.Position.String()
		}
		b.add("- %s%s%s", l.Type, inBrackets(l.Options), location)
	}
	if c := r.Component; c != nil {
		b.add("Component: %s", c)
		b.addList("Props", c.Props)
		b.addList("State", c.State)
	}
	return b.String()
}

func (r *report) addRules(rules []inspect.Rule) {
	for n, rule := range rules {
		switch {
		case n == 0 && !rule.Inherited:
			r.add("Rules, strongest first:")
		case rule.Inherited && (n == 0 || !rules[n-1].Inherited):
			r.add("Inherited:")
		}
		location := ""
		if rule.Position.URL != "" || rule.Position.Place != "" {
			location = fmt.Sprintf(" (%s)", rule.Position)
		}
		r.add("- %s%s", strings.Join(append(rule.Conditions, rule.Selector), " "), location)
		for _, d := range rule.Declarations {
			note := ""
			switch {
			case d.Invalid:
				note = " [invalid]"
			case d.LosesTo != "":
				note = " [loses to " + d.LosesTo + "]"
			}
			r.add("    %s%s", d.Text, note)
		}
	}
}

func (r *report) addList(title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	r.add("  %s:", title)
	for _, line := range lines {
		r.add("    %s", line)
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
