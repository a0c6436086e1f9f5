package page

import (
	"context"
	"errors"
	"time"

	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
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

// runScript runs what an agent has written, and stops it where it comes to no end:
// when its time is over, and also when nobody waits for it any more. The browser
// has a bound of its own only for what a script does before it first waits.
//
// What keeps the page busy is stopped only if the page answered when the script was
// sent: it has begun since then.
func (p *Page) runScript(ctx context.Context, session *cdp.Session, run func(context.Context) error) error {
	question, err := askBusy(ctx, session)
	if err != nil {
		return err
	}
	began, limit := time.Now(), time.Duration(p.scriptTime())*time.Millisecond
	running, end := context.WithCancelCause(ctx)
	defer end(nil)
	over := make(chan struct{})
	watch := time.AfterFunc(limit-p.busyPatience(), func() {
		defer close(over)
		if answered(question) && p.stopBusy(running, session, p.busyPatience()) {
			end(errEndless)
		}
	})
	err = run(running)
	switch waits := watch.Stop(); {
	case !waits:
		end(nil)
		<-over
	case ctx.Err() != nil && answered(question) && !standsStill(context.Cause(ctx)):
		p.browser.watching.Go(func() { p.abandonScript(session) })
	}
	if errors.Is(err, errEndless) || refused(err) && !leftDocument(err) && time.Since(began) >= limit {
		return &TimeoutError{Doing: "running the script", After: humanDuration(limit), Hint: "it came to no end and was stopped; the page lives on", over: true}
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
func (p *Page) abandonScript(session *cdp.Session) {
	ctx, cancel := context.WithTimeout(context.Background(), p.browser.opts.CallTimeout)
	defer cancel()
	p.stopBusy(ctx, session, p.busyPatience())
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
	case refused(err):
		return false, nil
	}
	return false, err
}

// terminate stops the script that a process runs; a busy one, too, hears of it.
func terminate(ctx context.Context, session *cdp.Session) error {
	_, err := session.Start(ctx, runtime.CommandTerminateExecution, nil)
	return err
}

// askBusy puts a question that a page which runs no script answers at once.
func askBusy(ctx context.Context, session *cdp.Session) (*cdp.Pending, error) {
	return session.Start(ctx, runtime.CommandEvaluate, runtime.EvaluateParams{Expression: "0", Silent: new(true)})
}

// answered says whether a question has been answered by now; a refusal is an answer
// too. It may be asked once.
func answered(question *cdp.Pending) bool {
	now, cancel := context.WithCancel(context.Background())
	cancel()
	err := question.Wait(now, nil)
	return err == nil || refused(err)
}
