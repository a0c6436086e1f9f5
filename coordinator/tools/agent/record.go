package agent

import (
	"context"
	"slices"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/tools/export"
)

// Repeatable is implemented by the arguments of tools whose calls a test can repeat.
type Repeatable interface {
	Step(c *Done) export.Step
}

// Done is a call that a test repeats.
type Done struct {
	Page  string   // the JavaScript variable of its page
	Scope string   // the page, or the frame in which something was seen
	On    []string // locators of its elements

	call *Call
}

// Text is a text of the agent in JavaScript: a string, or the secret of that name.
func (d *Done) Text(text string) string {
	if d.call.Secrets.Value(text) != text {
		return export.Secret(text)
	}
	return export.Quote(text)
}

// URL is the address of the page before.
func (d *Done) URL() string { return d.call.did.url }

// Message is the message of the dialog that the call has answered; empty: unknown.
func (d *Done) Message() string {
	if d.call.did.dialog == nil {
		return ""
	}
	return d.call.did.dialog.Message
}

// Clicked reports whether an upload clicked its target.
func (d *Done) Clicked() bool { return d.call.did.change.Clicked }

// Element is what the call has acted on, as the page presented it.
func (d *Done) Element(n int) input.On { return d.call.did.change.On[n] }

// SeenIn notes the frame in which a call has found something, by its locator.
func (c *Call) SeenIn(frame string) { c.did.frame = frame }

// AnswersDialog notes the dialog that a call answers; nil: none is open.
func (c *Call) AnswersDialog(dialog *page.Dialog) { c.did.dialog = dialog }

// locate notes a locator of an element that the call acts on.
func (c *Call) locate(ctx context.Context, p *page.Page, target string) {
	if c.Test == nil || target == "" {
		return
	}
	locator, err := p.Reader().Locator(ctx, target)
	if _, numbered := frame.ParseRef(target); err != nil && !numbered {
		locator = "locator(" + export.Quote(target) + ")"
	}
	c.did.locators = append(c.did.locators, locator)
}

// record adds a call that has succeeded to the test.
func (c *Call) record(ctx context.Context) {
	d := &c.did
	if c.Test == nil || d.page == nil {
		return
	}
	does, repeatable := c.In.(Repeatable)
	if !repeatable && c.readOnly() {
		return
	}
	var wanted int
	if on, ok := c.In.(interface{ Aims() []input.Aim }); ok {
		read := d.locators == nil // it has not acted
		for _, aim := range on.Aims() {
			if aim.Target != "" {
				wanted++
			}
			if read {
				c.locate(ctx, d.page, aim.Target)
			}
		}
	}
	came := export.Outcome{Chooser: d.change.Chooser != nil}
	if d.change.Navigated {
		came.URL = d.change.URL
	}
	if dialog := d.change.Dialog; dialog != nil {
		came.Dialog = &dialog.Message
	}
	came.Shown = c.expected(ctx)
	for _, p := range d.change.NewPages {
		came.Opened = append(came.Opened, p.ID)
	}
	c.Test.Add(export.Page{ID: d.page.ID(), URL: d.url}, func(variable string) export.Step {
		if !repeatable {
			return export.Step{Comment: c.Tool.Name + " is not part of the test."}
		}
		done := &Done{Page: variable, Scope: variable, call: c}
		if d.frame != "" {
			done.Scope += "." + d.frame
		}
		if len(d.locators) < wanted || slices.Contains(d.locators, "") {
			return export.Step{Comment: c.Tool.Name + ": its element has no locator."}
		}
		for _, locator := range d.locators {
			done.On = append(done.On, variable+"."+locator)
		}
		return does.Step(done)
	}, came)
}
