package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"browser-coordinator/coordinator/javascript"
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/lifecycle"
	"browser-coordinator/coordinator/tools/export"
)

// Record is a call that a test repeats.
type Record struct {
	Page     javascript.Expression   // the variable of its page
	Scope    javascript.Expression   // the page, or the frame in which something was seen
	Elements []javascript.Expression // locators of them

	call *Call
	test *export.Test
}

// Text is a text of the agent, or the secret of that name.
func (d *Record) Text(text string) any {
	if d.isSecret(text) {
		return javascript.Variable(text)
	}
	return text
}

// TextAt is the Text that was typed into an element of the call. It is a variable for a
// password field.
func (d *Record) TextAt(n int, text string) any {
	if !d.Element(n).Password || d.isSecret(text) {
		return d.Text(text)
	}
	return d.test.Password(text, d.isSecret)
}

func (d *Record) isSecret(name string) bool { return d.call.Agent.Secrets.Value(name) != name }

// URL is the address of the page before.
func (d *Record) URL() string { return d.call.effect.url }

// Message is the message of the dialog that the call has answered; empty: unknown.
func (d *Record) Message() string {
	if d.call.effect.trace.dialog == nil {
		return ""
	}
	return d.call.effect.trace.dialog.Message
}

// Clicked reports whether an upload clicked its target.
func (d *Record) Clicked() bool { return d.call.effect.change.OpenedChooser }

// Downloaded reports whether the call has started a download.
func (d *Record) Downloaded() bool { return d.call.effect.change.Download != "" }

// ToEnd reports whether a slow typing moved the caret to the end.
func (d *Record) ToEnd() bool { return d.call.effect.change.CaretAtEnd }

// Element is what the call has acted on, as the page presented it; zero if that is unknown.
func (d *Record) Element(n int) (element input.Element) {
	if all := d.call.effect.change.Elements; n < len(all) {
		element = all[n]
	}
	return element
}

// SeenIn notes the frame in which a call has found something, by its locator.
func (c *Call) SeenIn(locator javascript.Expression) { c.effect.trace.frame = locator }

// AnswersDialog notes the dialog that a call answers; nil: none is open.
func (c *Call) AnswersDialog(dialog *page.Dialog) { c.effect.trace.dialog = dialog }

// locate notes a locator of an element that the call acts on.
func (c *Call) locate(ctx context.Context, p *page.Page, target string) {
	if !c.Agent.Record || target == "" {
		return
	}
	locator, err := p.Reader().Locator(ctx, target)
	if _, numbered := frame.ParseRef(target); err != nil && !numbered {
		locator = javascript.Format("locator($)", target)
	}
	c.effect.trace.locators = append(c.effect.trace.locators, locator)
}

// record adds a call to the test that has succeeded, or failed after it had done a part.
func (c *Call) record(ctx context.Context, failed error) {
	d := &c.effect
	code := c.Request.Code
	if !c.Agent.Record || code == nil && (c.Request.readOnly() || c.Request.Local) {
		return
	}
	comment := ""
	if failed != nil {
		part := input.Part(failed)
		if part == "" {
			return
		}
		comment = fmt.Sprintf("%s failed here, after a part: %s.", c.Request.Operation.Name, part)
		code = nil
		if c.Request.Part != nil {
			code = c.Request.Part(failed)
		}
	}
	var in export.Page
	var want int
	if d.page != nil {
		in = export.Page{ID: d.page.ID(), URL: d.url}
		want = c.locateAims(ctx)
	}
	outcome := export.Outcome{Chooser: d.change.Chooser != nil}
	if d.change.Navigated {
		outcome.URL = d.change.URL
	}
	if dialog := d.change.Dialog; dialog != nil && dialog.Type != lifecycle.PrintPreview {
		outcome.Dialog = &dialog.Message
	}
	if d.page != nil && failed == nil {
		outcome.Shown = c.expected(ctx)
	}
	for _, p := range d.change.Tabs.Open {
		outcome.Opened = append(outcome.Opened, p.ID)
	}
	c.Agent.Test.Add(in, func(variable javascript.Expression) export.Step {
		if code == nil {
			return export.Step{Comment: cmp.Or(comment, c.Request.Operation.Name+" is not part of the test.")}
		}
		done := &Record{Page: variable, Scope: variable, call: c, test: &c.Agent.Test}
		if !d.trace.frame.IsZero() {
			done.Scope = javascript.Format("$.$", variable, d.trace.frame)
		}
		located := failed != nil || len(d.trace.locators) >= want
		if !located || slices.ContainsFunc(d.trace.locators, javascript.Expression.IsZero) {
			return export.Step{Comment: c.Request.Operation.Name + ": its element has no locator."}
		}
		for _, locator := range d.trace.locators {
			done.Elements = append(done.Elements, javascript.Format("$.$", variable, locator))
		}
		step := code(done)
		step.Comment = cmp.Or(step.Comment, comment)
		return step
	}, outcome)
}

// locateAims notes the locators of the elements that a call has only read, and returns how
// many elements the call aims at.
func (c *Call) locateAims(ctx context.Context) (want int) {
	read := c.effect.trace.locators == nil // it has not acted
	for _, aim := range c.Request.Aims {
		if aim.Target != "" {
			want++
		}
		if read {
			c.locate(ctx, c.effect.page, aim.Target)
		}
	}
	return want
}

// Repetition is a call that would do what the user has done in a page.
type Repetition struct {
	Request
	Page     export.Page
	Elements []input.Element
	Locators []javascript.Expression // of the elements
	Answers  *page.Dialog            // nil: none
	Opens    *page.Dialog            // nil: none
}

// AddTo adds the call to a test, as if the agent had done it.
func (c *Call) AddTo(test *export.Test, r Repetition) {
	change := page.Change{Outcome: input.Outcome{Elements: r.Elements}}
	call := &Call{Agent: c.Agent, Request: r.Request, effect: effect{
		url: r.Page.URL, change: change, trace: trace{dialog: r.Answers},
	}}
	var outcome export.Outcome
	if r.Opens != nil {
		outcome.Dialog = &r.Opens.Message
	}
	test.Add(r.Page, func(variable javascript.Expression) export.Step {
		done := &Record{Page: variable, Scope: variable, call: call, test: test}
		for _, locator := range r.Locators {
			done.Elements = append(done.Elements, javascript.Format("$.$", variable, locator))
		}
		return r.Code(done)
	}, outcome)
}
