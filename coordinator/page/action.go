package page

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/lifecycle"
	"browser-coordinator/coordinator/page/webmcp"
)

// action is something that may change the page.
type action struct {
	operation string // for errors, for example: clicking e5
	timeout   time.Duration
	do        func(context.Context) error       // it calls lookBefore when it is about to change the page
	settle    func(context.Context, mark) error // waits for what it has started
}

// Act runs an action of the page's input, and reports what it changed; also with an error, if
// the action failed midway.
func (p *Page) Act(ctx context.Context, a input.Action) (Change, error) {
	if err := cmp.Or(a.Err, p.observer.Recording()); err != nil {
		return Change{}, err
	}
	if err := p.awaitUser(ctx, a.Operation); err != nil {
		return Change{}, err
	}
	if a.Begin != nil {
		if err := a.Begin(ctx); err != nil {
			return Change{}, err
		}
	}
	if err := p.observer.Recording(); err != nil { // it may have begun meanwhile
		return Change{}, err
	}
	p.input.Choosers.Hold(ctx, true)
	defer p.input.Choosers.Hold(ctx, false)
	var out input.Outcome
	defer func() { out.Release(ctx) }()
	var failed error // midway: what it has done until then has effects too
	do := func(ctx context.Context) (err error) {
		if !p.life.IsBlocked() {
			p.reader.Watch(ctx)
		}
		if a.Waits == 0 { // it does not look for a target, which may take a while
			p.lookBefore(ctx, false)
		}
		confirm := a.Confirm
		a.Confirm = func(e input.Element) error {
			p.lookBefore(ctx, e.Unchanged)
			if confirm == nil {
				return nil
			}
			return confirm(e)
		}
		sent, documents := p.input.SentCount(), p.life.Documents()
		watched := a.Arrives && p.life.UnlessLeaving(ctx, p.input.WatchArrivals) == nil
		out, err = a.Run(ctx)
		if p.input.SentCount() > sent && p.browser.hasUser(ctx, p) {
			defer p.input.Ended(ctx)
		}
		if watched && p.dropped(ctx, documents, err) {
			err = &PromptError{p.prompt()}
		}
		if p.input.SentCount() > sent && ctx.Err() == nil {
			failed, err = err, nil
		}
		return err
	}
	settle := func(ctx context.Context, before mark) error {
		err := p.settleRequests(ctx, before)
		if err == nil && !p.life.IsBlocked() {
			p.input.Settled(ctx, a, failed, &out)
		}
		return err
	}
	change, err := p.perform(ctx, action{a.Operation, a.Waits + p.browser.opts.CallTimeout, do, settle})
	change.Outcome = out
	if err == nil {
		err = p.explain(failed, a.Operation)
	}
	done := cmp.Or(input.Part(failed), input.Part(err))
	switch {
	case err == nil || done == "":
	case errors.Is(err, ErrPageClosed):
		err = &ClosedError{a.Operation, done}
	case input.Part(err) == "": // the page has ended since
		err = &input.PartialError{Done: done, Err: err}
	}
	return change, err
}

// Identify is what an action would act on now.
func (p *Page) Identify(ctx context.Context, aim input.Aim) (element input.Element, err error) {
	err = p.run(ctx, "looking at the target", respondTimeout, func(ctx context.Context) error {
		element, err = p.input.Identify(ctx, aim)
		return err
	})
	return element, err
}

// lookBefore notes what the page has shown since the agent's last answer, so that it is not
// credited to what is done now. still: nothing has changed in the document of the target.
func (p *Page) lookBefore(ctx context.Context, still bool) {
	if p.life.IsBlocked() {
		return
	}
	_ = p.life.UnlessLeaving(ctx, func(ctx context.Context) error { p.reader.Before(ctx, still); return nil })
}

// act is perform for what changes the page at once.
func (p *Page) act(
	ctx context.Context, operation string, timeout time.Duration, do func(context.Context) error,
) (Change, error) {
	return p.perform(ctx, action{operation, timeout, func(ctx context.Context) error {
		p.lookBefore(ctx, false)
		return do(ctx)
	}, p.settle})
}

// perform runs an action and returns what changed. A dialog that the input opens is such a change,
// and so is a breakpoint that it reaches: the action is done, and the page is blocked. A dialog that
// opens before any input was sent, or between two inputs, is an error.
func (p *Page) perform(ctx context.Context, a action) (Change, error) {
	ctx, end, err := p.begin(ctx, call{operation: a.operation, timeout: a.timeout})
	if err != nil {
		return Change{}, err
	}
	defer end()
	p.browser.flush()
	before := p.mark()
	err = a.do(ctx)
	if err == nil {
		err = a.settle(ctx, before)
	}
	var partial *input.PartialError
	sent := p.input.SentCount() > before.inputs
	if paused, ok := errors.AsType[*PausedError](err); ok && sent && !errors.As(err, &partial) {
		c := p.changeSince(before)
		c.Effects = p.effects(c, before)
		pause := p.locate(paused.Location)
		c.Paused = &pause
		return c, nil
	}
	var dialog *DialogError
	switch {
	case errors.As(err, &dialog) && errors.As(err, &partial):
		return Change{}, interrupted(dialog.Dialog, a.operation, partial.Done)
	case errors.As(err, &dialog) && !sent:
		return Change{}, interrupted(dialog.Dialog, a.operation, "nothing was done")
	case err != nil && dialog == nil:
		err = p.explain(err, a.operation)
		if !sent {
			err = &unsentError{err}
		}
		return Change{}, err
	}
	return p.result(ctx, before), nil
}

// Rest waits for a fixed time, and returns what changed meanwhile. A page that a dialog or
// the debugger blocks may rest, too.
func (p *Page) Rest(ctx context.Context, d time.Duration) (Change, error) {
	rest := func(ctx context.Context) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if p.life.IsBlocked() {
		return Change{}, rest(ctx)
	}
	return p.act(ctx, "waiting", d+p.browser.opts.CallTimeout, rest)
}

// Evaluate runs a script in the page's main world. It returns the script's value as JSON
// and what the script has changed. A function ("() => document.title", with a target
// "(element) => …") is called; anything else is an expression. Promises are awaited, and
// the content security policy does not apply. The value is nil if the script has not
// ended, because it has opened another document or a dialog, or stopped in a debugger.
// The change reports which.
func (p *Page) Evaluate(ctx context.Context, script, target string, b Bounds) (json.RawMessage, Change, error) {
	var value json.RawMessage
	run := func(ctx context.Context) (err error) {
		p.lookBefore(ctx, false)
		before := p.life.Seq()
		value, err = p.evaluate(ctx, script, target, b)
		if frame.LeftDocument(err) { // the event of the next document may come after the response
			return p.life.AwaitFor(ctx, respondTimeout, func() bool {
				return p.life.After(before, lifecycle.Committed) || p.life.IsLeaving()
			})
		}
		return err
	}
	change, err := p.perform(ctx, action{"running the script", p.browser.opts.CallTimeout, run, p.settleScript})
	stopped := change.Navigated || change.Loading != "" || change.Dialog != nil || change.Paused != nil
	if err == nil && value == nil && !stopped {
		err = errNoValue
	}
	return value, change, err
}

var errNoValue = errors.New("the script gave no value: its frame has gone, or its promise never settles")

// CallTool calls a tool that the page offers. With an outcome that is empty another document has
// replaced the page's, or a dialog or the debugger blocks it; the change reports which.
func (p *Page) CallTool(
	ctx context.Context, name string, arguments json.RawMessage,
) (outcome webmcp.Outcome, _ Change, _ error) {
	call := func(ctx context.Context) (err error) {
		if err := p.observer.Recording(); err != nil {
			return err
		}
		p.lookBefore(ctx, false)
		outcome, err = p.tools.Call(ctx, name, arguments)
		return err
	}
	doing := fmt.Sprintf("calling the page's tool %q", name)
	change, err := p.perform(ctx, action{doing, p.browser.opts.CallTimeout, call, p.settleScript})
	return outcome, change, err
}

// WaitFor waits until the page meets the conditions, across navigations.
func (p *Page) WaitFor(ctx context.Context, opts WaitOptions) (WaitResult, error) {
	description := opts.String()
	if description == "" {
		return WaitResult{}, errors.New("name what to wait for")
	}
	opts.Timeout = cmp.Or(opts.Timeout, defaultWait)
	if opts.New && (opts.Text == "" || opts.Target != "") {
		return WaitResult{}, errors.New("new waits for another occurrence of a text: give text, and no target")
	}
	wait := waiter{page: p, opts: opts, end: time.Now().Add(opts.Timeout)}
	do := func(ctx context.Context) error {
		if opts.Text != "" && opts.Target == "" && !opts.New && !p.life.IsBlocked() {
			_ = p.life.UnlessLeaving(ctx, func(ctx context.Context) error {
				wait.came = p.reader.HasPassed(ctx, opts.Text)
				return nil
			})
		}
		p.lookBefore(ctx, false)
		return wait.run(ctx)
	}
	change, err := p.perform(ctx, action{"waiting for " + description, opts.Timeout, do, p.settle})
	result := WaitResult{Change: change, Passed: err == nil && wait.passed}
	// Nobody knows what an expression or the network was before.
	result.Immediate = err == nil && !wait.delayed && !wait.passed && opts.Expression == "" && !opts.Idle
	return result, err
}
