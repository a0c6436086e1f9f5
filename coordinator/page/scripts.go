package page

import (
	"context"
	"errors"
	"time"

	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/input"
)

// scripts runs an agent's scripts in a page, and stops those that come to no end.
type scripts struct {
	*connection
	*state
	session *cdp.Session
	frames  *frame.Tree
	input   *input.Input
}

// timeLeft is how long a script that starts now may keep the page busy. It ends before the
// call's time, a part of which may have passed, so that an endless script is stopped and
// the page stays usable.
func (js *scripts) timeLeft(ctx context.Context) time.Duration {
	limit := js.opts.CallTimeout
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(deadline))
	}
	return max(limit-js.opts.CallTimeout/5, js.busyTime())
}

// busyTime bounds how long a page may take to respond to a trivial evaluation near
// the end of a script's time before the script is stopped. The page's own tasks take less.
func (js *scripts) busyTime() time.Duration { return js.opts.CallTimeout * 3 / 20 }

// ownScript is an agent's script that is running, or whose caller no longer waits
// for it.
type ownScript struct {
	of      *scripts
	session *cdp.Session
	// begun is closed when the page has responded to a question that was sent before the
	// script. What keeps the page busy from then on has begun later.
	begun chan struct{}
}

// stop stops the script if it keeps the page busy, and reports whether it did.
func (s *ownScript) stop(ctx context.Context, limit time.Duration) bool {
	select {
	case <-s.begun:
		return s.of.stopBusy(ctx, s.session, limit)
	case <-s.of.done:
	case <-ctx.Done():
	}
	return false
}

// run runs an agent's script. It stops an endless script when its time is over,
// or when its caller no longer waits; time that the script waits for promises does not
// count. run never stops what kept the page busy before the script was sent. The browser's own
// timeout is not used: it also counts while a dialog or a debugger blocks the script, and does
// not respond when it ends "await 0; for (;;);".
func (js *scripts) run(ctx context.Context, session *cdp.Session, run func(context.Context) error) error {
	question, err := askBusy(ctx, session)
	if err != nil {
		return err
	}
	script := &ownScript{of: js, session: session, begun: make(chan struct{})}
	js.running.Go(func() {
		if err := question.Wait(context.WithoutCancel(ctx), nil); err == nil || cdp.Refused(err) { // a refusal is a response too
			close(script.begun)
		}
	})
	js.connection.scripts.add(script)
	limit, stopped := js.timeLeft(ctx), false
	running, end := context.WithCancelCause(ctx)
	defer end(nil)
	over := make(chan struct{})
	watch := time.AfterFunc(limit-js.busyTime(), func() {
		defer close(over)
		if stopped = script.stop(running, js.busyTime()); stopped {
			end(errEndless)
		}
	})
	err = run(running)
	if !watch.Stop() {
		end(nil)
		<-over
	}
	switch {
	case ctx.Err() == nil || stopped:
		js.connection.scripts.remove(script)
	case standsStill(context.Cause(ctx)):
		js.running.Go(func() { js.follow(script) })
	default:
		js.running.Go(func() { js.abandon(script) })
	}
	if stopped && err != nil {
		return &TimeoutError{Doing: "running the script", After: limit.Round(100 * time.Millisecond), Hint: "it came to no end and was stopped; the page lives on", over: true}
	}
	return err
}

var errEndless = errors.New("the script comes to no end")

// standsStill reports whether a call has ended because a dialog or a debugger blocks the page.
func standsStill(cause error) bool {
	return errors.As(cause, new(*DialogError)) || errors.As(cause, new(*PausedError))
}

// abandon stops a script whose caller no longer waits for it, if the script keeps
// the page busy.
func (js *scripts) abandon(script *ownScript) {
	defer js.connection.scripts.remove(script)
	ctx, cancel := context.WithTimeout(context.Background(), js.opts.CallTimeout)
	defer cancel()
	script.stop(ctx, js.busyTime())
}

// follow gives a script that a dialog blocks its time again once that has closed, and then
// stops it if it has not paused or ended since. One that a debugger blocks is the user's.
func (js *scripts) follow(script *ownScript) {
	defer js.connection.scripts.remove(script)
	for {
		js.mu.Lock()
		blocked, changed := js.dialog != nil && js.ended == nil, js.changed.Next()
		js.mu.Unlock()
		if !blocked {
			break
		}
		select {
		case <-changed:
		case <-js.done:
			return
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), js.opts.CallTimeout)
	defer cancel()
	script.stop(ctx, js.opts.CallTimeout*4/5)
}

// stopBusy stops the script of a process that does not respond in time, and reports
// whether it did. While a dialog is open or another document is pending, something other
// than a script blocks the page.
func (js *scripts) stopBusy(ctx context.Context, session *cdp.Session, limit time.Duration) bool {
	busy, _ := isBusy(ctx, session, limit)
	return busy && !js.isBlocked() && terminate(ctx, session) == nil
}

// isBusy reports whether a process does not respond within that time.
func isBusy(ctx context.Context, session *cdp.Session, limit time.Duration) (bool, error) {
	question, err := askBusy(ctx, session)
	if err != nil {
		return false, err
	}
	bounded, cancel := context.WithTimeoutCause(ctx, limit, errLimit)
	defer cancel()
	err = question.Wait(bounded, nil)
	switch {
	case errors.Is(err, errLimit):
		return true, nil
	case cdp.Refused(err):
		return false, nil
	}
	return false, err
}

// terminate stops the script that a process runs, even if the process is busy. It waits
// briefly for the response, because unsent commands are lost when the connection ends.
func terminate(ctx context.Context, session *cdp.Session) error {
	stopping, err := session.Start(ctx, runtime.CommandTerminateExecution, nil)
	if err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	_ = stopping.Wait(bounded, nil)
	return nil
}

// askBusy sends an evaluation to which a page that runs no script responds at once.
func askBusy(ctx context.Context, session *cdp.Session) (*cdp.Pending, error) {
	return session.Start(ctx, runtime.CommandEvaluate, runtime.EvaluateParams{Expression: "0", Silent: new(true)})
}
