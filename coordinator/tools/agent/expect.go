package agent

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"browser-coordinator/coordinator/javascript"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/coordinator/tools/export"
)

// What an action's answer shows is what its test expects: what is most telling, is likely to
// be so again, and is seen by a locator of Playwright too.

// shownLine is a line of what an answer shows: its role, name, ref and text. A line without
// a role that matters is a text.
type shownLine struct{ role, name, ref, attributes, text string }

var (
	roleLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^([a-z]+)(?: "((?:[^"\\]|\\.)*)")?((?: \[[^\]]*\])*)(?:: (.*)|:)?$`)
	})
	refMark = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[ref=(e\d+)\]`) })
	// passing matches what another run is likely to show otherwise: times, dates, long or
	// numbered identifiers, and what says that something is still going on.
	passing = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\d:\d\d|\d+[-./]\d+[-./]\d|\d{5}|[#№]\s*\d|` +
			`\b(ago|now|today|yesterday|tomorrow)\b|\d\s*(ms|s|sec|seconds?|minutes?|hours?)\b|…$|\.\.\.$|` +
			`\b(loading|saving|sending|searching|processing|please wait)\b|~~`)
	})
)

// telling are the roles of lines that matter, the most telling first.
var telling = []string{"alert", "status", "alertdialog", "dialog", "heading", "field", "check", ""}

// kinds are how the value of a control is read, see locate.
var kinds = map[string]string{
	"textbox": "field", "searchbox": "field", "spinbutton": "field", "slider": "field", "checkbox": "check",
	"radio": "check", "switch": "check",
}

func parseShown(line string) (l shownLine) {
	line = strings.TrimPrefix(strings.TrimSpace(line), "- ")
	m := roleLine().FindStringSubmatch(line)
	if m == nil {
		l.text, _, _ = strings.Cut(line, " | ")
		return l
	}
	l = shownLine{role: m[1], name: strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(m[2]), attributes: m[3],
		text: m[4]}
	if ref := refMark().FindStringSubmatch(m[3]); ref != nil {
		l.ref = ref[1]
	}
	return l
}

// lasting reports whether a text is likely to be there in another run.
func lasting(text string, hide func(string) string) bool {
	letters := 0
	for _, r := range text {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	if letters < 2 || len(text) > 100 || passing().MatchString(text) || hide(text) != text {
		return false
	}
	return !slices.ContainsFunc(strings.Fields(text), isIdentifier)
}

// isIdentifier reports whether a word looks like one that a program made up.
func isIdentifier(word string) bool {
	digits := len(word) - len(strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, word))
	return len(word) >= 8 && digits >= 2 && digits < len(word)
}

// expected is what a test can expect after the call, the most telling first.
func (c *Call) expected(ctx context.Context) []export.Expectation {
	var candidates []shownLine
	removed, changed := map[string]bool{}, map[string]bool{}
	changes := c.effect.trace.changes
	for line := range strings.Lines(changes.Text) {
		if body, isRemoved := strings.CutPrefix(line, "- "); isRemoved && !changes.New {
			removed[strings.TrimSpace(body)], changed[parseShown(body).ref] = true, true
		}
	}
	rank := func(l shownLine) int { return slices.Index(telling, cmp.Or(kinds[l.role], l.role)) }
	for line := range strings.Lines(changes.Text) {
		body, added := strings.CutPrefix(line, "+ ")
		if changes.New {
			body, added = line, true
		}
		l := parseShown(body)
		switch {
		case !added, rank(l) < 0, removed[strings.TrimSpace(body)]: // the last have moved
		case kinds[l.role] != "" && (l.ref == "" || !changed[l.ref]), l.role == "" && changes.New:
		default:
			candidates = append(candidates, l)
		}
	}
	slices.SortStableFunc(candidates, func(a, b shownLine) int { return rank(a) - rank(b) })
	var found []export.Expectation
	for _, l := range candidates {
		if len(found) == export.MostExpected {
			break // each asks the page
		}
		if e := c.expectation(ctx, l); e != nil {
			found = append(found, e)
		}
	}
	return found
}

// expectation is that a line is shown; nil: a test could not rely on it.
func (c *Call) expectation(ctx context.Context, l shownLine) export.Expectation {
	reader, visible := c.effect.page.Reader(), javascript.Format("toBeVisible()")
	switch {
	case l.role == "alert" || l.role == "status":
		if !lasting(l.text, c.Agent.Secrets.Hide) {
			return nil
		}
		all, err := reader.FindByRole(ctx, l.role, "")
		all = slices.DeleteFunc(all, func(s snapshot.Sighting) bool { return !s.Frame.IsZero() })
		holds := func(s snapshot.Sighting) bool { return reader.VerifyValue(ctx, s.Ref, "text", l.text) == nil }
		if err != nil || !slices.ContainsFunc(all, holds) {
			return nil
		}
		if len(all) == 1 {
			return export.Expect(javascript.Format("getByRole($)", l.role), javascript.Format("toHaveText($)", l.text))
		}
		return export.Expect(javascript.Format("getByRole($).filter({ hasText: $ }).first()", l.role, l.text), visible)
	case l.role == "":
		if !lasting(l.text, c.Agent.Secrets.Hide) {
			return nil
		}
		in, err := reader.VerifyText(ctx, l.text)
		if err != nil {
			return nil
		}
		return func(page javascript.Expression) javascript.Expression {
			if !in.IsZero() {
				page = javascript.Format("$.$", page, in)
			}
			return export.ExpectText(page, l.text)
		}
	case kinds[l.role] == "":
		if !lasting(l.name, c.Agent.Secrets.Hide) {
			return nil
		}
		found, err := reader.FindByRole(ctx, l.role, l.name)
		if err != nil || len(found) == 0 || !found[0].Frame.IsZero() {
			return nil
		}
		return export.Expect(javascript.Format("getByRole($, { name: $ }).first()", l.role, l.name), visible)
	}
	is, value := javascript.Format("toHaveValue($)", l.text), l.text
	if kinds[l.role] == "check" {
		checked := strings.Contains(l.attributes, " [checked]")
		is, value = javascript.Format("toBeChecked({ checked: $ })", checked), fmt.Sprint(checked)
	} else if passing().MatchString(value) || c.Agent.Secrets.Hide(value) != value {
		return nil
	}
	locator, err := reader.Locator(ctx, l.ref)
	same := func(other javascript.Expression) bool { return other.String() == locator.String() }
	typed := kinds[l.role] == "field" && slices.ContainsFunc(c.effect.trace.locators, same)
	if err != nil || typed || reader.VerifyValue(ctx, l.ref, kinds[l.role], value) != nil {
		return nil
	}
	return export.Expect(locator, is)
}
