package page

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/chromedp/cdproto/debugger"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/guard"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/snapshot"
)

// call is a call to the page that begins.
type call struct {
	operation  string // for errors, for example: clicking e5
	timeout    time.Duration
	overDialog bool // it goes on while a dialog is open
	leaves     bool // it leaves the document, which may be a refused one
}

// run runs a call that reads or sets something, and explains its error; limit 0: that of any call.
// Most capabilities get it as their [lifecycle.Run].
func (p *Page) run(ctx context.Context, operation string, limit time.Duration, do func(context.Context) error) error {
	ctx, end, err := p.begin(ctx, call{operation: operation, timeout: cmp.Or(limit, p.browser.opts.CallTimeout)})
	if err != nil {
		return err
	}
	defer end()
	return p.explain(do(ctx), operation)
}

// begin rejects a call that cannot succeed now and sets its timeout. A dialog, a pause of the debugger,
// a crash or the end of the page cancels the call. The caller must call the returned func.
func (p *Page) begin(ctx context.Context, c call) (context.Context, context.CancelFunc, error) {
	begin := p.life.Begin
	if c.overDialog {
		begin = p.life.BeginOverDialog
	}
	bounded, cancelTimer := context.WithTimeoutCause(ctx, c.timeout,
		&TimeoutError{Operation: c.operation, Elapsed: c.timeout})
	opened, endCall, err := begin(bounded)
	if refused := p.guard.Shows(p.frames.URL()); err == nil && refused != nil && !c.leaves {
		endCall()
		err = refused
	}
	if err != nil {
		cancelTimer()
		if !errors.As(err, new(*DialogError)) {
			err = &unsentError{err}
		}
		return nil, nil, err
	}
	if p.calls.Add(1) == 1 {
		p.hung.Store(false)
	}
	start := time.Now()
	opened, giveUp := context.WithCancelCause(opened)
	watch := time.AfterFunc(briefTimeout, func() {
		p.watch(opened, func() {
			giveUp(&TimeoutError{Operation: c.operation, Elapsed: time.Since(start).Round(time.Second)})
		})
	})
	return opened, func() {
		watch.Stop()
		p.calls.Add(-1)
		giveUp(nil)
		endCall()
		cancelTimer()
	}, nil
}

// watch looks for what blocks a slow call, at growing intervals: what blocks it may begin
// only later.
func (p *Page) watch(ctx context.Context, giveUp func()) {
	for pause := briefTimeout; p.probe(ctx, giveUp); pause *= 2 {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// probe looks for what may block a call: a debugger, a background tab that is not
// drawn, or an endless script. It reports whether there is none now.
func (p *Page) probe(ctx context.Context, giveUp func()) bool {
	p.probePause(ctx)
	p.screen.Redraw(ctx)
	question, err := askBusy(ctx, p.session)
	if err != nil {
		return false
	}
	defer time.AfterFunc(probeTimeout, func() { p.hung.Store(true) }).Stop()
	// The dialog blocks this page if both share a process.
	if _, near, _ := p.browser.dialogElsewhere(p); near {
		defer time.AfterFunc(unloadTimeout, giveUp).Stop()
	}
	if err := question.Wait(ctx, nil); err != nil && !cdp.Refused(err) { // a refusal is a response too
		return false
	}
	p.hung.Store(false)
	return true
}

// probePause makes the browser report whether another debugger has paused script execution. Enabling
// our own Debugger domain during a pause makes it report the pause at once, and disabling the domain
// leaves the pause in place. Only slow calls do this, because an enabled debugger stops at "debugger"
// statements and reports every script.
func (p *Page) probePause(ctx context.Context) {
	for _, s := range p.frames.Sessions() {
		if _, err := s.Start(ctx, debugger.CommandEnable, nil); err != nil {
			continue
		}
		_, _ = s.Start(context.WithoutCancel(ctx), debugger.CommandDisable, nil)
	}
}

// explain turns an error of a call into one that its caller can act on.
func (p *Page) explain(err error, operation string) error {
	if err == nil {
		return nil
	}
	err = translate(err)
	if field, ok := errors.AsType[*input.FieldError](err); ok {
		explained := *field
		explained.Err = p.explain(field.Err, operation)
		return &explained
	}
	if partial, ok := errors.AsType[*input.PartialError](err); ok {
		explained := *partial
		explained.Err = p.explain(partial.Err, operation)
		return &explained
	}
	var paused *PausedError
	if errors.As(err, &paused) {
		return &PausedError{p.locate(paused.Location)}
	}
	if disconnected, ok := errors.AsType[*DisconnectedError](err); ok {
		return disconnected
	}
	for _, known := range []error{ErrBrowserGone, ErrCrashed, ErrPageClosed} {
		if errors.Is(err, known) {
			return known
		}
	}
	if ended := p.life.Ended(); ended != nil {
		return ended
	}
	for _, known := range []func(error) (error, bool){
		as[*DialogError], as[*guard.LimitError], as[*frame.StaleRefError], as[*input.FormError], as[*frame.TargetError],
		as[*input.NotReadyError], as[*PromptError], as[*ScriptError], as[*snapshot.VerifyError],
	} {
		if found, ok := known(err); ok {
			return found
		}
	}
	var timeout *TimeoutError
	var late *input.LateError
	var large *frame.StoppedError
	switch {
	case errors.As(err, &large):
		timeout = &TimeoutError{
			Operation: operation, Elapsed: large.Elapsed.Round(100 * time.Millisecond), stopped: true,
			Hint: "the page is too large for it, so it was stopped; the page lives on. Name an element by a CSS selector",
		}
	case errors.As(err, &timeout):
	case errors.As(err, &late):
		timeout = &TimeoutError{
			Operation: "waiting for " + late.Target + " to be ready", Elapsed: late.Elapsed.Round(time.Millisecond),
			Hint: "the page may be busy or paused in the debugger",
		}
	case errors.Is(err, cdp.ErrTimeout):
		timeout = &TimeoutError{Operation: operation, Elapsed: p.browser.opts.CallTimeout}
	default:
		return fmt.Errorf("%s: %w", operation, err)
	}
	if timeout.stopped {
		return timeout
	}
	return p.explainTimeout(timeout)
}

// as finds an error of a type that needs no explanation.
func as[E error](err error) (error, bool) {
	var found E
	ok := errors.As(err, &found)
	return found, ok
}

// locate finds the position in the workspace where script is paused. The call that the
// pause ended has no time left.
func (p *Page) locate(pause Paused) Paused {
	p.sources.Locate(context.Background(), &pause.Location)
	return pause
}

// explainTimeout adds to a timeout why the page did not respond in time, if that is known.
func (p *Page) explainTimeout(timeout *TimeoutError) error {
	departure, leaves := p.life.Departure()
	place, near, dialog := p.browser.dialogElsewhere(p)
	hung := p.hung.Load()
	if leaves && !(near && hung) {
		return &LeavingError{URL: departure.URL, Proxy: p.browser.proxy(departure.URL), Operation: timeout.Operation,
			Elapsed: time.Since(departure.Time).Round(time.Second)}
	}
	if p.browser.strayPreview() {
		held := *timeout // others read the original
		held.Hint = "a print preview is open in the browser, and gets all input: close the tab or popup that prints " +
			"(browser_tabs), or ask the user to close the preview"
		return &held
	}
	if !hung {
		return timeout
	}
	explained := &HungError{Operation: timeout.Operation, Elapsed: timeout.Elapsed}
	for _, r := range p.history.Network.PendingSince(0) {
		if r.Type == "xhr" && r.Status == 0 { // the only ones that a script can wait for
			explained.Awaited = r.URL
		}
	}
	if dialog != nil {
		explained.Dialog, explained.DialogURL = dialog, place
	}
	return explained
}
