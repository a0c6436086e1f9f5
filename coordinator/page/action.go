package page

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/input"
)

// Act runs an action of the page's input, and reports what it changed; also with an error, if
// the action failed midway.
func (p *Page) Act(ctx context.Context, a input.Action) (Change, error) {
	if a.Err != nil {
		return Change{}, a.Err
	}
	p.input.Choosers.Hold(ctx, true)
	defer p.input.Choosers.Hold(ctx, false)
	var out input.Outcome
	defer func() { out.Release(ctx) }()
	var failed error // midway: what it has done until then has effects too
	settle := func(ctx context.Context, before mark) error {
		err := p.observer.settleRequests(ctx, before)
		if err == nil && failed == nil && a.Check != nil && p.state.documents() == before.commits && !p.state.isBlocked() {
			a.Check(ctx, &out)
		}
		return err
	}
	change, err := p.actUntil(ctx, a.Doing, a.Waits+p.connection.opts.CallTimeout, settle, func(ctx context.Context, look func(still bool)) (err error) {
		if !p.state.isBlocked() {
			p.reader.Watch(ctx)
		}
		if a.Waits == 0 { // it does not look for a target, which may take a while
			look(false)
		}
		confirm := a.Confirm
		a.Confirm = func(on input.On) error {
			look(on.Still)
			if confirm == nil {
				return nil
			}
			return confirm(on)
		}
		sent, documents := p.input.Sent(), p.state.documents()
		watched := a.Arrives && p.observer.unlessLeaving(ctx, p.input.WatchArrivals) == nil
		out, err = a.Run(ctx)
		if watched && p.dropped(ctx, documents, err) {
			err = &PromptError{p.prompt()}
		}
		if p.input.Sent() > sent && ctx.Err() == nil {
			failed, err = err, nil
		}
		return err
	})
	change.Outcome = out
	if err == nil {
		err = p.operations.explain(failed, a.Doing)
	}
	return change, err
}

// identifyTimeout is short, since a user waits.
const identifyTimeout = time.Second

// Identify is what an action would act on now.
func (p *Page) Identify(ctx context.Context, aim input.Aim) (on input.On, err error) {
	err = p.operations.run(ctx, "looking at the target", identifyTimeout, func(ctx context.Context) error {
		on, err = p.input.Identify(ctx, aim)
		return err
	})
	return on, err
}

// act runs something that may change the page and returns what changed. A dialog
// that the input opens is such a change, and so is a breakpoint that it reaches: the
// action is done, and the page is blocked. A dialog that opens before any input was
// sent, or between two inputs, is an [InterruptedError].
func (p *Page) act(ctx context.Context, doing string, timeout time.Duration, do func(ctx context.Context) error) (Change, error) {
	return p.actUntil(ctx, doing, timeout, p.observer.settle, func(ctx context.Context, look func(still bool)) error {
		look(false)
		return do(ctx)
	})
}

// lookBefore notes what the page has shown since the agent's last answer, so that it is not
// credited to what is done now. still: nothing has changed in the document of the target.
func (p *Page) lookBefore(ctx context.Context, still bool) {
	if p.state.isBlocked() {
		return
	}
	_ = p.observer.unlessLeaving(ctx, func(ctx context.Context) error { p.reader.Before(ctx, still); return nil })
}

// actUntil is act with its own settle function. do must call look when it is about to change
// the page.
func (p *Page) actUntil(ctx context.Context, doing string, timeout time.Duration, settle func(context.Context, mark) error, do func(ctx context.Context, look func(still bool)) error) (Change, error) {
	ctx, end, err := p.operations.begin(ctx, doing, timeout)
	if err != nil {
		return Change{}, err
	}
	defer end()
	p.connection.flush()
	before := p.observer.markNow()
	err = do(ctx, func(still bool) { p.lookBefore(ctx, still) })
	if err == nil {
		err = settle(ctx, before)
	}
	var paused *PausedError
	if errors.As(err, &paused) && p.input.Sent() > before.inputs {
		c := p.observer.since(before)
		logged, last := p.observer.logged(before)
		c.Effects = p.observer.effects(c, before, logged, last)
		at := p.operations.locate(paused.At)
		c.Paused = &at
		return c, nil
	}
	unsent := p.input.Sent() == before.inputs
	var partial *input.PartialError
	var dialog *DialogError
	switch {
	case errors.As(err, &dialog) && errors.As(err, &partial):
		return Change{}, &InterruptedError{Dialog: dialog.Dialog, Doing: doing, Done: partial.Done}
	case errors.As(err, &dialog) && unsent:
		return Change{}, &InterruptedError{Dialog: dialog.Dialog, Doing: doing}
	case err != nil && dialog == nil:
		err = p.operations.explain(err, doing)
		if unsent {
			err = &unsentError{err}
		}
		return Change{}, err
	}
	return p.observer.result(ctx, before), nil
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
	if p.state.isBlocked() {
		return Change{}, rest(ctx)
	}
	return p.act(ctx, "waiting", d+p.connection.opts.CallTimeout, rest)
}

// Evaluate runs a script in the page's main world. It returns the script's value as JSON
// and what the script has changed. A function ("() => document.title", with a target
// "(element) => …") is called; anything else is an expression. Promises are awaited, and
// the content security policy does not apply. The value is nil if the script has not
// ended, because it has opened another document or a dialog, or stopped in a debugger.
// The change reports which.
func (p *Page) Evaluate(ctx context.Context, script, target string) (json.RawMessage, Change, error) {
	var value json.RawMessage
	change, err := p.actUntil(ctx, "running the script", p.connection.opts.CallTimeout, p.observer.settleScript, func(ctx context.Context, look func(still bool)) error {
		look(false)
		documents := p.state.documents()
		var err error
		value, err = p.scripts.evaluate(ctx, script, target)
		if frame.LeftDocument(err) { // the event of the next document may come after the response
			return p.state.awaitFor(ctx, windowTimeout, func() bool { return p.state.commits != documents || p.state.pending != "" })
		}
		return err
	})
	if err == nil && value == nil && !change.Navigated && !change.Loading && change.Dialog == nil && change.Paused == nil {
		err = errNoValue
	}
	return value, change, err
}

var errNoValue = errors.New("the script gave no value: its frame has gone, or its promise can never be kept")

// WaitFor waits until the page meets the conditions, across navigations.
func (p *Page) WaitFor(ctx context.Context, opts WaitOptions) (Change, error) {
	what := opts.String()
	if what == "" {
		return Change{}, errors.New("nothing to wait for was given")
	}
	opts.Timeout = cmp.Or(opts.Timeout, defaultWait)
	if opts.New && (opts.Text == "" || opts.Target != "") {
		return Change{}, errors.New("new waits for another occurrence of a text: give text, and no target")
	}
	wait := waiter{state: p.state, frames: p.frames, scripts: p.scripts, network: p.history.Network}
	end := time.Now().Add(opts.Timeout)
	change, err := p.act(ctx, "waiting for "+what, opts.Timeout, func(ctx context.Context) error {
		for {
			p.state.mu.Lock()
			commits, moves := p.state.commits, p.state.moves
			wait.later = wait.later || !fitsURL(p.frames.URL(), opts.URL)
			p.state.mu.Unlock()
			if err := p.state.await(ctx, func() bool { return fitsURL(p.frames.URL(), opts.URL) }); err != nil {
				return err
			}
			met, err := wait.waitInDocument(ctx, opts, time.Until(end))
			if err == nil && met {
				return nil
			}
			if err != nil && !cdp.Refused(err) && !errors.Is(err, frame.ErrGone) {
				return err
			}
			p.state.mu.Lock()
			wait.later = true
			p.state.mu.Unlock()
			// The document was replaced, or time is up; ctx reports the latter.
			if err := p.state.await(ctx, func() bool { return p.state.commits != commits || p.state.moves != moves }); err != nil {
				return err
			}
		}
	})
	// What an expression or the network was before, nobody knows.
	change.Already = err == nil && !wait.later && opts.Expression == "" && !opts.Idle
	return change, err
}
