package page

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/capture"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/guard"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/coordinator/page/sources"
)

// operations are the calls to a page that are under way.
type operations struct {
	*connection
	*state
	session *cdp.Session
	frames  *frame.Tree
	guard   *guard.Guard
	screen  *capture.Screen
	sources *sources.Sources
	pauses  *pauses
	// elsewhere is Browser.dialogElsewhere.
	elsewhere func() (where string, near bool, open *Dialog)

	hung  atomic.Bool             // the page has not responded to the last probe; see slow
	calls map[*operation]struct{} // state.mu guards it
}

// operation is a call under way; an event that makes waiting pointless cancels it.
type operation struct {
	cancel    context.CancelCauseFunc
	anyDialog bool // continues while a dialog is open
	unwatched bool // never probed for why it is slow
	leaves    bool // it leaves the document, which may be a refused one
}

// begin rejects a call that cannot succeed now and sets its timeout. A dialog, a crash
// or the end of the page cancels the call. The caller must call the returned func.
func (o *operations) begin(ctx context.Context, doing string, timeout time.Duration) (context.Context, context.CancelFunc, error) {
	return o.beginOperation(ctx, doing, timeout, &operation{})
}

func (o *operations) beginOperation(ctx context.Context, doing string, timeout time.Duration, op *operation) (context.Context, context.CancelFunc, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended != nil {
		return nil, nil, &unsentError{o.ended}
	}
	if o.dialog != nil && !op.anyDialog {
		return nil, nil, &DialogError{*o.dialog}
	}
	if err := o.guard.Shows(o.frames.URL()); err != nil && !op.leaves {
		return nil, nil, &unsentError{err}
	}
	if len(o.calls) == 0 {
		o.hung.Store(false)
	}
	bounded, cancelTimer := context.WithTimeoutCause(ctx, timeout, &TimeoutError{Doing: doing, After: timeout})
	opCtx, cancel := context.WithCancelCause(bounded)
	op.cancel = cancel
	o.calls[op] = struct{}{}
	var probe *time.Timer
	if !op.unwatched {
		began := time.Now()
		probe = time.AfterFunc(slowCall, func() {
			o.watch(opCtx, func() { cancel(&TimeoutError{Doing: doing, After: time.Since(began).Round(time.Second)}) })
		})
	}
	return opCtx, func() {
		if probe != nil {
			probe.Stop()
		}
		o.mu.Lock()
		delete(o.calls, op)
		o.mu.Unlock()
		cancel(nil)
		cancelTimer()
	}, nil
}

// interrupt cancels the calls under way with the error; mu is held.
func (o *operations) interrupt(err error) {
	_, dialog := err.(*DialogError)
	for op := range o.calls {
		if !dialog || !op.anyDialog {
			op.cancel(err)
		}
	}
}

// slowCall is how long a call may take before watch looks for the cause.
const slowCall = 500 * time.Millisecond

// watch looks for what blocks a slow call, at growing intervals: what blocks it may begin
// only later.
func (o *operations) watch(ctx context.Context, giveUp func()) {
	for pause := slowCall; o.slow(ctx, giveUp); pause *= 2 {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// slow looks for what may block a call: a debugger, a background tab that is not
// drawn, or an endless script. It reports whether there is none now.
func (o *operations) slow(ctx context.Context, giveUp func()) bool {
	o.pauses.ask(ctx)
	o.screen.Redraw(ctx)
	o.hung.Store(true)
	question, err := askBusy(ctx, o.session)
	if err != nil {
		return false
	}
	if _, near, _ := o.elsewhere(); near { // the dialog blocks this page if both share a process
		defer time.AfterFunc(elsewhereTimeout, giveUp).Stop()
	}
	if err := question.Wait(ctx, nil); err != nil && !cdp.Refused(err) { // a refusal is a response too
		return false
	}
	o.hung.Store(false)
	return true
}

// elsewhereTimeout bounds how long a page may take to respond while a tab of the same host
// has a dialog open.
const elsewhereTimeout = 1500 * time.Millisecond

// explain turns an error of a call into one that its caller can act on.
func (o *operations) explain(err error, doing string) error {
	if err == nil {
		return nil
	}
	err = translate(err)
	var paused *PausedError
	if errors.As(err, &paused) {
		return &PausedError{o.locate(paused.At)}
	}
	for _, known := range []error{ErrBrowserGone, ErrCrashed, ErrPageClosed} {
		if errors.Is(err, known) {
			return known
		}
	}
	if ended := o.whyEnded(); ended != nil {
		return ended
	}
	var field *input.FieldError
	if errors.As(err, &field) {
		explained := *field
		explained.Err = o.explain(field.Err, doing)
		return &explained
	}
	for _, known := range []func(error) (error, bool){
		as[*DialogError], as[*guard.OriginError], as[*frame.StaleRefError], as[*frame.TargetError],
		as[*input.NotReadyError], as[*PromptError], as[*ScriptError], as[*snapshot.VerifyError],
	} {
		if found, ok := known(err); ok {
			return found
		}
	}
	var timeout *TimeoutError
	var late *input.LateError
	switch {
	case errors.As(err, &timeout):
	case errors.As(err, &late):
		timeout = &TimeoutError{
			Doing: "waiting for " + late.Target + " to be ready", After: late.Waited.Round(time.Millisecond), Hint: "the page may be busy or paused in the debugger",
		}
	case errors.Is(err, cdp.ErrTimeout):
		timeout = &TimeoutError{Doing: doing, After: o.opts.CallTimeout}
	default:
		return fmt.Errorf("%s: %w", doing, err)
	}
	if timeout.over {
		return timeout
	}
	return o.whyLate(timeout)
}

// as finds an error of a type that needs no explanation.
func as[E error](err error) (error, bool) {
	var found E
	ok := errors.As(err, &found)
	return found, ok
}

// locate finds the position in the workspace where script is paused. The call that the
// pause ended has no time left.
func (o *operations) locate(at Paused) Paused {
	if at.Place == "" {
		at.Place = o.sources.Place(context.Background(), at.URL, at.Line, at.Column)
	}
	return at
}

// whyLate adds to a timeout why the page did not respond in time, if that is known.
func (o *operations) whyLate(timeout *TimeoutError) error {
	o.mu.Lock()
	leaves, since := o.pending, o.left
	o.mu.Unlock()
	where, near, dialog := o.elsewhere()
	if leaves != "" && !(near && o.hung.Load()) {
		return &LoadingError{Doing: timeout.Doing, URL: leaves, For: time.Since(since).Round(time.Second)}
	}
	if !o.hung.Load() {
		return timeout
	}
	hung := &HungError{Doing: timeout.Doing, After: timeout.After}
	if dialog != nil {
		hung.Other, hung.In = dialog, where
	}
	return hung
}

// run runs a call that reads or sets something, with a timeout, and explains its error.
func (o *operations) run(ctx context.Context, doing string, timeout time.Duration, do func(context.Context) error) error {
	ctx, end, err := o.begin(ctx, doing, timeout)
	if err != nil {
		return err
	}
	defer end()
	return o.explain(do(ctx), doing)
}
