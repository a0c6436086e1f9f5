package page

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
)

// scriptTime is how long a script may keep the page busy, in the browser's
// milliseconds. It is shorter than the call's timeout, so that an endless script is
// stopped and the page stays usable. Time that the script waits for promises does not count.
func (p *Page) scriptTime() runtime.TimeDelta {
	return runtime.TimeDelta((p.browser.opts.CallTimeout * 4 / 5).Milliseconds())
}

// busyPatience bounds how long a page may take to respond to a trivial evaluation near
// the end of a script's time before the script is stopped. The page's own tasks take less.
func (p *Page) busyPatience() time.Duration { return p.browser.opts.CallTimeout * 3 / 20 }

// ownScript is an agent's script that is running, or whose caller no longer waits
// for it.
type ownScript struct {
	page    *Page
	session *cdp.Session

	asking   chan struct{} // a lock with timeout for the fields that follow
	question *cdp.Pending  // sent before the script; nil: the response is known
	began    bool          // the question has a response, so the script has begun
}

// hasBegun reports whether the page has responded to the question that was sent before
// the script. If so, what keeps the page busy now has begun later. It waits for the
// response until ctx ends.
func (s *ownScript) hasBegun(ctx context.Context) bool {
	select {
	case s.asking <- struct{}{}:
		defer func() { <-s.asking }()
	case <-ctx.Done():
		return false
	}
	if s.question != nil {
		err := s.question.Wait(ctx, nil)
		s.question, s.began = nil, err == nil || cdp.Refused(err) // a refusal is a response too
	}
	return s.began
}

// stop stops the script if it keeps the page busy, and reports whether it did.
func (s *ownScript) stop(ctx context.Context, patience time.Duration) bool {
	return s.hasBegun(ctx) && s.page.stopBusy(ctx, s.session, patience)
}

// runScript runs an agent's script. It stops an endless script when its time is over,
// or when its caller no longer waits. The browser's own timeout covers only the part of
// a script before its first await. runScript never stops what kept the page busy before
// the script was sent.
func (p *Page) runScript(ctx context.Context, session *cdp.Session, run func(context.Context) error) error {
	question, err := askBusy(ctx, session)
	if err != nil {
		return err
	}
	script := &ownScript{page: p, session: session, asking: make(chan struct{}, 1), question: question}
	p.browser.addScript(script)
	began, limit := time.Now(), time.Duration(p.scriptTime())*time.Millisecond
	running, end := context.WithCancelCause(ctx)
	defer end(nil)
	over := make(chan struct{})
	watch := time.AfterFunc(limit-p.busyPatience(), func() {
		defer close(over)
		if script.stop(running, p.busyPatience()) {
			end(errEndless)
		}
	})
	err = run(running)
	switch waits := watch.Stop(); {
	case !waits:
		end(nil)
		<-over
		p.browser.removeScript(script)
	case ctx.Err() != nil && !standsStill(context.Cause(ctx)):
		p.browser.running.Go(func() { p.abandonScript(script) })
	default:
		p.browser.removeScript(script)
	}
	if errors.Is(err, errEndless) || cdp.Refused(err) && !frame.LeftDocument(err) && time.Since(began) >= limit {
		return &TimeoutError{Doing: "running the script", After: limit, Hint: "it came to no end and was stopped; the page lives on", over: true}
	}
	return err
}

var errEndless = errors.New("the script comes to no end")

// standsStill reports whether a call has ended because a dialog or a debugger blocks the page.
func standsStill(cause error) bool {
	return errors.As(cause, new(*DialogError)) || errors.As(cause, new(*PausedError))
}

// abandonScript stops a script whose caller no longer waits for it, if the script keeps
// the page busy.
func (p *Page) abandonScript(script *ownScript) {
	defer p.browser.removeScript(script)
	ctx, cancel := context.WithTimeout(context.Background(), p.browser.opts.CallTimeout)
	defer cancel()
	script.stop(ctx, p.busyPatience())
}

func (b *Browser) addScript(s *ownScript) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.scripts[s] = true
}

func (b *Browser) removeScript(s *ownScript) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.scripts, s)
}

// leavePatience bounds how long a page may take to respond when its connection is about
// to end. Without the connection, nothing can stop the script.
const leavePatience = 200 * time.Millisecond

// endScripts stops the scripts that keep pages busy.
func (b *Browser) endScripts() {
	ctx, cancel := context.WithTimeout(context.Background(), 3*leavePatience)
	defer cancel()
	var stopping sync.WaitGroup
	b.mu.Lock()
	for s := range b.scripts {
		stopping.Go(func() { s.stop(ctx, leavePatience) })
	}
	b.mu.Unlock()
	stopping.Wait()
}

// stopBusy stops the script of a process that does not respond in time, and reports
// whether it did. While a dialog is open or another document is pending, something other
// than a script blocks the page.
func (p *Page) stopBusy(ctx context.Context, session *cdp.Session, patience time.Duration) bool {
	busy, _ := isBusy(ctx, session, patience)
	p.mu.Lock()
	waits := p.dialog != nil || p.pending != ""
	p.mu.Unlock()
	return busy && !waits && terminate(ctx, session) == nil
}

// isBusy reports whether a process does not respond within that time.
func isBusy(ctx context.Context, session *cdp.Session, patience time.Duration) (bool, error) {
	question, err := askBusy(ctx, session)
	if err != nil {
		return false, err
	}
	bounded, cancel := context.WithTimeoutCause(ctx, patience, errPatience)
	defer cancel()
	err = question.Wait(bounded, nil)
	switch {
	case errors.Is(err, errPatience):
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
	bounded, cancel := context.WithTimeout(ctx, leavePatience)
	defer cancel()
	_ = stopping.Wait(bounded, nil)
	return nil
}

// askBusy sends an evaluation to which a page that runs no script responds at once.
func askBusy(ctx context.Context, session *cdp.Session) (*cdp.Pending, error) {
	return session.Start(ctx, runtime.CommandEvaluate, runtime.EvaluateParams{Expression: "0", Silent: new(true)})
}
