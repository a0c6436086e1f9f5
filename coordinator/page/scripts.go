package page

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/lifecycle"
)

// timeLeft is how long a script that starts now may keep the page busy. It ends before the
// call's time, a part of which may have passed, so that an endless script is stopped and
// the page stays usable.
func (p *Page) timeLeft(ctx context.Context) time.Duration {
	limit := p.browser.opts.CallTimeout
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(deadline))
	}
	return max(limit-p.browser.opts.CallTimeout/5, p.browser.opts.busyTime())
}

// agentScript is an agent's script that is running, or whose caller no longer waits
// for it.
type agentScript struct {
	page    *Page
	session *cdp.Session
	// started is closed when the page has responded to a question that was sent before the
	// script. What keeps the page busy from then on has begun later.
	started chan struct{}
}

// stop stops the script if it keeps the page busy, and reports whether it did.
func (s *agentScript) stop(ctx context.Context, limit time.Duration) bool {
	select {
	case <-s.started:
		return s.page.stopBusy(ctx, s.session, limit)
	case <-s.page.browser.done:
	case <-ctx.Done():
	}
	return false
}

// runScript runs an agent's script. It stops an endless script when the limit is over,
// or when its caller no longer waits; time that the script waits for promises does not
// count. runScript never stops what kept the page busy before the script was sent. The browser's own
// timeout is not used: it also counts while a dialog or a debugger blocks the script, and does
// not respond when it ends "await 0; for (;;);".
func (p *Page) runScript(
	ctx context.Context, session *cdp.Session, limit time.Duration, run func(context.Context) error,
) error {
	question, err := askBusy(ctx, session)
	if err != nil {
		return err
	}
	script := &agentScript{page: p, session: session, started: make(chan struct{})}
	err = p.browser.running.Go(func() {
		// a refusal is a response too
		if err := question.Wait(context.WithoutCancel(ctx), nil); err == nil || cdp.Refused(err) {
			close(script.started)
		}
	})
	if err != nil {
		return err
	}
	p.browser.noteScript(script)
	stopped := false
	running, end := context.WithCancelCause(ctx)
	defer end(nil)
	over := make(chan struct{})
	watch := time.AfterFunc(limit-p.browser.opts.busyTime(), func() {
		defer close(over)
		if stopped = script.stop(running, p.browser.opts.busyTime()); stopped {
			end(lifecycle.ErrEndless)
		}
	})
	err = run(running)
	if !watch.Stop() {
		end(nil)
		<-over
	}
	switch {
	case ctx.Err() == nil || stopped:
		p.browser.forgetScript(script)
	case standsStill(context.Cause(ctx)):
		_ = p.browser.running.Go(func() { p.follow(script) }) // a connection that has ended sends nothing
	default:
		_ = p.browser.running.Go(func() { p.abandon(script) })
	}
	if stopped && err != nil {
		return &TimeoutError{
			Operation: "running the script", Elapsed: limit.Round(100 * time.Millisecond),
			Hint: "it never ended and was stopped; the page lives on", stopped: true,
		}
	}
	return err
}

// standsStill reports whether a call has ended because a dialog or a debugger blocks the page.
func standsStill(cause error) bool {
	return errors.As(cause, new(*DialogError)) || errors.As(cause, new(*PausedError))
}

// abandon stops a script whose caller no longer waits for it, if the script keeps
// the page busy.
func (p *Page) abandon(script *agentScript) {
	defer p.browser.forgetScript(script)
	ctx, cancel := context.WithTimeout(context.Background(), p.browser.opts.CallTimeout)
	defer cancel()
	script.stop(ctx, p.browser.opts.busyTime())
}

// follow gives a script that a dialog blocks its time again once that has closed, and then
// stops it if it has not paused or ended since. One that a debugger blocks is the user's.
func (p *Page) follow(script *agentScript) {
	defer p.browser.forgetScript(script)
	for {
		changed := p.life.Next()
		if p.Dialog() == nil || p.life.Ended() != nil {
			break
		}
		select {
		case <-changed:
		case <-p.browser.done:
			return
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), p.browser.opts.CallTimeout)
	defer cancel()
	script.stop(ctx, p.browser.opts.CallTimeout*4/5)
}

// stopBusy stops the script of a process that does not respond in time, and reports
// whether it did. While a dialog is open or another document is pending, something other
// than a script blocks the page.
func (p *Page) stopBusy(ctx context.Context, session *cdp.Session, limit time.Duration) bool {
	busy, _ := isBusy(ctx, session, limit)
	return busy && !p.life.IsBlocked() && terminate(ctx, session) == nil
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

func (b *Browser) noteScript(s *agentScript) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.scripts[s] = true
}

func (b *Browser) forgetScript(s *agentScript) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.scripts, s)
}

// stopScripts stops the scripts that keep pages busy.
func (b *Browser) stopScripts() {
	ctx, cancel := context.WithTimeout(context.Background(), 3*closeTimeout)
	defer cancel()
	var stopping sync.WaitGroup
	b.mu.Lock()
	for script := range b.scripts {
		stopping.Go(func() { script.stop(ctx, closeTimeout) })
	}
	b.mu.Unlock()
	stopping.Wait()
}
