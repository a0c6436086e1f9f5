package page

import (
	"browser-coordinator/coordinator/page/guard"
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/snapshot"
)

// operation is a call under way; an event that makes waiting pointless cancels it.
type operation struct {
	cancel    context.CancelCauseFunc
	doing     string
	began     time.Time
	anyDialog bool // continues while a dialog is open
	patient   bool // never probed for why it is slow
	leaves    bool // it leaves the document, which may be a refused one
}

// begin rejects a call that cannot succeed now and sets its timeout. A dialog, a crash
// or the end of the page cancels the call. The caller must call the returned func.
func (p *Page) begin(ctx context.Context, doing string, timeout time.Duration) (context.Context, context.CancelFunc, error) {
	return p.beginOperation(ctx, doing, timeout, &operation{})
}

func (p *Page) beginOperation(ctx context.Context, doing string, timeout time.Duration, op *operation) (context.Context, context.CancelFunc, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended != nil {
		return nil, nil, &unsentError{p.ended}
	}
	if p.dialog != nil && !op.anyDialog {
		return nil, nil, &DialogError{*p.dialog}
	}
	if err := p.guard.Shows(p.frames.URL()); err != nil && !op.leaves {
		return nil, nil, &unsentError{err}
	}
	if len(p.ops) == 0 {
		p.hung.Store(false)
	}
	bounded, cancelTimer := context.WithTimeoutCause(ctx, timeout, &TimeoutError{Doing: doing, After: timeout})
	opCtx, cancel := context.WithCancelCause(bounded)
	op.cancel, op.doing, op.began = cancel, doing, time.Now()
	p.ops[op] = struct{}{}
	var probe *time.Timer
	if !op.patient {
		probe = time.AfterFunc(slowCall, func() { p.slow(opCtx, op) })
	}
	return opCtx, func() {
		if probe != nil {
			probe.Stop()
		}
		p.mu.Lock()
		delete(p.ops, op)
		p.mu.Unlock()
		cancel(nil)
		cancelTimer()
	}, nil
}

// interrupt cancels the calls under way with the error; mu is held.
func (p *Page) interrupt(news error) {
	_, dialog := news.(*DialogError)
	for op := range p.ops {
		if !dialog || !op.anyDialog {
			op.cancel(news)
		}
	}
}

// slowCall is how long a call may take before slow looks for the cause.
const slowCall = 500 * time.Millisecond

// slow looks for what may block a call: a debugger, a background tab that is not
// drawn, or an endless script.
func (p *Page) slow(ctx context.Context, op *operation) {
	p.askPaused(ctx)
	p.mu.Lock()
	acted := p.focused
	p.mu.Unlock()
	if acted {
		p.draw(ctx)
	}
	p.hung.Store(true)
	question, err := p.session.Start(ctx, "Runtime.evaluate", map[string]any{"expression": "0", "silent": true})
	if err != nil {
		return
	}
	waiting := ctx
	if p.heldUp() {
		var cancel context.CancelFunc
		waiting, cancel = context.WithTimeoutCause(ctx, heldUpPatience, errPatience)
		defer cancel()
	}
	switch err := question.Wait(waiting, nil); {
	case err == nil, cdp.Refused(err): // a refusal is a response too
		p.hung.Store(false)
	case errors.Is(err, errPatience):
		op.cancel(&TimeoutError{Doing: op.doing, After: time.Since(op.began).Round(time.Second)})
	}
}

// heldUpPatience bounds how long a page may take to respond while a tab of the same host
// has a dialog open. The dialog blocks the page if both share a process.
const heldUpPatience = 1500 * time.Millisecond

// heldUp reports whether a dialog is open in another tab of the page's host.
func (p *Page) heldUp() bool {
	where, dialog := p.browser.dialogElsewhere(p)
	u, err := url.Parse(where)
	return dialog != nil && err == nil && u.Hostname() == p.Host()
}

// explain turns an error of a call into one that its caller can act on.
func (p *Page) explain(err error, doing string) error {
	if err == nil {
		return nil
	}
	err = p.browser.translate(err)
	p.mu.Lock()
	ended := p.ended
	p.mu.Unlock()
	var paused *PausedError
	if errors.As(err, &paused) {
		return &PausedError{p.locatePause(paused.At)}
	}
	for _, known := range []error{ErrBrowserGone, ErrCrashed, ErrPageClosed} {
		if errors.Is(err, known) {
			return known
		}
	}
	if ended != nil {
		return ended
	}
	var field *input.FieldError
	if errors.As(err, &field) {
		told := *field
		told.Err = p.explain(field.Err, doing)
		return &told
	}
	var dialog *DialogError
	if errors.As(err, &dialog) {
		return dialog
	}
	var stale *frame.StaleRefError
	var target *frame.TargetError
	var unready *input.NotReadyError
	var notSaid *input.LateError
	var script *ScriptError
	var unlike *snapshot.VerifyError
	var timeout *TimeoutError
	var origin *guard.OriginError
	switch {
	case errors.As(err, &origin):
		return origin
	case errors.As(err, &stale):
		return stale
	case errors.As(err, &target):
		return target
	case errors.As(err, &unready):
		return unready
	case errors.As(err, &script):
		return script
	case errors.As(err, &unlike):
		return unlike
	case errors.As(err, &timeout):
	case errors.As(err, &notSaid):
		timeout = &TimeoutError{
			Doing: "waiting for " + notSaid.Target + " to be ready", After: notSaid.Waited.Round(time.Millisecond), Hint: "the page may be busy or paused in the debugger",
		}
	case errors.Is(err, cdp.ErrTimeout):
		timeout = &TimeoutError{Doing: doing, After: p.browser.opts.CallTimeout}
	}
	if timeout != nil && !timeout.over {
		if waits := p.whyLate(timeout); waits != nil {
			return waits
		}
	}
	if timeout != nil {
		return timeout
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// whyLate returns why a page did not respond in time; nil: unknown.
func (p *Page) whyLate(timeout *TimeoutError) error {
	p.mu.Lock()
	leaves, since := p.pending, p.left
	p.mu.Unlock()
	if leaves != "" {
		return &LoadingError{Doing: timeout.Doing, URL: leaves, For: time.Since(since).Round(time.Second)}
	}
	if !p.hung.Load() {
		return nil
	}
	hung := &HungError{Doing: timeout.Doing, After: timeout.After}
	if other, dialog := p.browser.dialogElsewhere(p); dialog != nil {
		hung.Other, hung.In = dialog, other
	}
	return hung
}

// leaveFor notes that the page is navigating to another document; mu is held.
func (p *Page) leaveFor(url string) {
	if p.pending == "" {
		p.left = time.Now()
	}
	p.pending = url
}
