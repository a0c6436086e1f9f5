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
// milliseconds: less than the call's time, so that an endless one is stopped and
// the page lives on. Time that it waits for promises does not count.
func (p *Page) scriptTime() runtime.TimeDelta {
	return runtime.TimeDelta((p.browser.opts.CallTimeout * 4 / 5).Milliseconds())
}

// busyPatience is how long a page may leave a trivial question unanswered at the end
// of a script's time before that is stopped. The page's own tasks take less.
func (p *Page) busyPatience() time.Duration { return p.browser.opts.CallTimeout * 3 / 20 }

// ownScript is a script of an agent that is running, or that nobody waits for any
// more.
type ownScript struct {
	page    *Page
	session *cdp.Session

	asking   chan struct{} // holds one thing while the fields that follow are in use
	question *cdp.Pending  // sent before the script; nil: its answer is known
	began    bool          // it was answered, and so the script has begun
}

// hasBegun says whether the page answered when the script was sent: what keeps it busy
// now has begun since then. It waits for that as long as ctx lasts.
func (s *ownScript) hasBegun(ctx context.Context) bool {
	select {
	case s.asking <- struct{}{}:
		defer func() { <-s.asking }()
	case <-ctx.Done():
		return false
	}
	if s.question != nil {
		err := s.question.Wait(ctx, nil)
		s.question, s.began = nil, err == nil || cdp.Refused(err) // which is an answer too
	}
	return s.began
}

// stop stops the script if it keeps the page busy, and says whether it did.
func (s *ownScript) stop(ctx context.Context, patience time.Duration) bool {
	return s.hasBegun(ctx) && s.page.stopBusy(ctx, s.session, patience)
}

// runScript runs what an agent has written, and stops it where it comes to no end:
// when its time is over, and also when nobody waits for it any more. The browser
// has a bound of its own only for what a script does before it first waits. What
// kept the page busy before the script was sent is not stopped.
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
		p.browser.watching.Go(func() { p.abandonScript(script) })
	default:
		p.browser.removeScript(script)
	}
	if errors.Is(err, errEndless) || cdp.Refused(err) && !frame.LeftDocument(err) && time.Since(began) >= limit {
		return &TimeoutError{Doing: "running the script", After: limit, Hint: "it came to no end and was stopped; the page lives on", over: true}
	}
	return err
}

var errEndless = errors.New("the script comes to no end")

// standsStill says whether a call has ended because the page waits for somebody.
func standsStill(cause error) bool {
	return errors.As(cause, new(*DialogError)) || errors.As(cause, new(*PausedError))
}

// abandonScript stops a script that nobody waits for any more, if it keeps the page
// busy.
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

// leavePatience is how long a page may leave a question unanswered when its
// connection is about to end, and with it the means to stop a script.
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

// stopBusy stops the script of a process that does not answer in time, and says
// whether it did. Where a dialog is open or another document is awaited, it is no
// script that keeps the page from answering.
func (p *Page) stopBusy(ctx context.Context, session *cdp.Session, patience time.Duration) bool {
	busy, _ := isBusy(ctx, session, patience)
	p.mu.Lock()
	waits := p.dialog != nil || p.pending != ""
	p.mu.Unlock()
	return busy && !waits && terminate(ctx, session) == nil
}

// isBusy says whether a process leaves a question unanswered for that long.
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

// terminate stops the script that a process runs; a busy one, too, hears of it. It
// waits a little for the answer: a connection that ends takes along what was not sent.
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

// askBusy puts a question that a page which runs no script answers at once.
func askBusy(ctx context.Context, session *cdp.Session) (*cdp.Pending, error) {
	return session.Start(ctx, runtime.CommandEvaluate, runtime.EvaluateParams{Expression: "0", Silent: new(true)})
}
