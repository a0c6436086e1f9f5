package serving

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/cdpproxy/discovery"
	"browser-coordinator/coordinator/launch"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/internal/notify"
	"browser-coordinator/policy"
)

// ownGeneration separates the generations of our own browsers from the window's.
const ownGeneration = 1 << 63

// launcher is an endpoint's source that starts a browser when a client needs one: through
// the window's launch configuration, or else our own browser, which is used while
// the window has none.
type launcher struct {
	source   *registry.Source
	onDemand *launch.OnDemand
	access   policy.Mode   // in own
	hold     time.Duration // how long a client waits for a browser, at most the default; other times are parts of it
	log      *slog.Logger
	ctx      context.Context // ends with close
	cancel   context.CancelFunc
	running  sync.WaitGroup // the launcher's goroutines

	mu         sync.Mutex        // guards the fields that follow
	attempt    *attempt          // the last launch; nil: none, or there has been a browser since
	browser    *cdpproxy.Browser // our own; nil: none
	generation uint64
	current    *cdpproxy.Browser
	changed    notify.Broadcast // of current, or of what the window's user allows
}

// attempt is one launch, for all clients that wait for a browser.
type attempt struct {
	failed chan struct{} // closed when no browser could be launched
	err    error         // why; nil: it has not failed
	time   time.Time     // of the failure
}

func newLauncher(source *registry.Source, o *Options) *launcher {
	l := &launcher{source: source, onDemand: o.OnDemand, access: o.Access, hold: cdpproxy.DefaultHold, log: o.Logger}
	if o.HoldTimeout > 0 {
		l.hold = min(o.HoldTimeout, l.hold)
	}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	_, changed := source.Browser() // before a reader can miss a change
	_, choice := source.Access()
	l.running.Add(1)
	go l.follow(changed, choice)
	return l
}

// close stops the launcher. It leaves our own browser to the browser's owner.
func (l *launcher) close() {
	l.cancel()
	l.running.Wait()
}

// Browser implements cdpproxy.Source.
func (l *launcher) Browser() (*cdpproxy.Browser, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refresh()
	return l.current, l.changed.Next()
}

// Access is the mode of Options in our own browser. A client that the window's user has
// stopped is stopped there too: the window shows that.
func (l *launcher) Access() (policy.State, <-chan struct{}) {
	l.mu.Lock()
	l.refresh()
	own, changed := l.current != nil && l.current == l.browser, l.changed.Next()
	l.mu.Unlock()
	if own {
		chosen, _ := l.source.Access()
		return policy.State{Mode: l.access, Stopped: chosen.Stopped}, changed
	}
	return l.source.Access()
}

// Ask asks the window's user.
func (l *launcher) Ask(ctx context.Context, q policy.Question) (policy.Answer, error) {
	return l.source.Ask(ctx, q)
}

// follow refreshes at every change of the window's browser, or of what its user allows, from
// those that close the channels on.
func (l *launcher) follow(changed, choice <-chan struct{}) {
	defer l.running.Done()
	for {
		select {
		case <-changed:
		case <-choice:
		case <-l.ctx.Done():
			return
		}
		_, changed = l.source.Browser()
		_, choice = l.source.Access()
		l.mu.Lock()
		l.refresh()
		l.changed.Notify()
		l.mu.Unlock()
	}
}

// refresh sets the current browser: the window's, else our own. Every reader calls it, so
// that none combines a former browser with the policy for the next. l.mu is held.
func (l *launcher) refresh() {
	now, _ := l.source.Browser()
	if now == nil {
		now = l.browser
	}
	if now != l.current {
		l.current = now
		if l.attempt != nil && l.attempt.err != nil {
			l.attempt = nil
		}
		l.changed.Notify()
	}
}

// demand is called for each client that waits for a browser. The returned channel is
// closed when no browser could be launched. A failed launch counts for a while: a refused
// client often retries at once.
func (l *launcher) demand() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if last := l.attempt; last != nil && (last.err == nil || time.Since(last.time) < l.hold/6) {
		return last.failed
	}
	if l.ctx.Err() != nil {
		return nil
	}
	l.attempt = &attempt{failed: make(chan struct{})}
	l.running.Add(1)
	go l.launch(l.attempt)
	return l.attempt.failed
}

// failure is the cause of the last launch's failure, or what the launch waits for; empty:
// neither.
func (l *launcher) failure() string {
	if waiting := l.onDemand.Waiting(); waiting != "" {
		return "It is " + waiting + "."
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.attempt == nil || l.attempt.err == nil {
		return ""
	}
	return fmt.Sprintf("None could be launched: %v.", l.attempt.err)
}

// launch starts a browser: the window's, or else our own.
func (l *launcher) launch(a *attempt) {
	defer l.running.Done()
	err := l.launchWindows()
	if err != nil && l.ctx.Err() == nil {
		l.log.Warn("the window started no browser, so our own is launched", "error", err)
		err = l.launchOwn()
	}
	if err != nil && l.ctx.Err() == nil {
		l.log.Error("no browser could be launched", "error", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil || l.ctx.Err() != nil {
		l.attempt = nil
		return
	}
	a.err, a.time = err, time.Now()
	close(a.failed)
}

// launchWindows makes the window start its browser.
func (l *launcher) launchWindows() error {
	ctx, cancel := context.WithTimeout(l.ctx, l.hold*2/3) // which leaves time for our own
	defer cancel()
	if err := l.source.StartDebugging(ctx); err != nil {
		return err
	}
	return l.await(ctx)
}

// await returns when there is a browser.
func (l *launcher) await(ctx context.Context) error {
	for {
		b, changed := l.Browser()
		if b != nil {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return errors.New("its debug session has no browser")
		}
	}
}

func (l *launcher) launchOwn() error {
	opened, err := l.onDemand.Open(l.ctx)
	if err != nil {
		return err
	}
	inProcess := opened.InProcess()
	var product discovery.Product
	if inProcess != nil {
		product, _ = inProcess.Product(l.ctx) // for the status only
	}
	l.mu.Lock()
	l.generation++
	own := &cdpproxy.Browser{
		Generation: ownGeneration + l.generation, Name: cmp.Or(l.onDemand.Provider(), "private"),
		Product: product.Name, Via: string(l.onDemand.Kind()), URL: opened.URL(), InProcess: inProcess,
	}
	l.browser = own
	l.refresh()
	l.mu.Unlock()
	l.running.Add(1)
	go l.watchOwn(own, opened.Done())
	return nil
}

// watchOwn clears our own browser when it ends, unless the next one has replaced it.
func (l *launcher) watchOwn(own *cdpproxy.Browser, ended <-chan struct{}) {
	defer l.running.Done()
	select {
	case <-ended:
	case <-l.ctx.Done():
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.browser == own {
		l.browser = nil
		l.refresh()
	}
}
