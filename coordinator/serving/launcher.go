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
	"browser-coordinator/coordinator/launch"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/internal/notify"
	"browser-coordinator/policy"
)

const (
	// launchTimeout bounds the launch of a browser of our own.
	launchTimeout = 30 * time.Second
	// windowTimeout bounds the window's start of its browser. A client waits 30 s for a
	// browser by default, so there is time left for a browser of our own.
	windowTimeout = 20 * time.Second
	// launchPause is how long a failed launch counts for all clients: a refused client often
	// retries at once.
	launchPause = 5 * time.Second
	// ownGeneration separates the generations of our own browsers from the window's.
	ownGeneration = 1 << 63
)

// launcher is an endpoint's source that starts a browser when a client needs one: through
// the window's launch configuration, or else a browser of our own, which is used while
// the window has none.
type launcher struct {
	source        *registry.Source
	own           *launch.OnDemand
	windowTimeout time.Duration
	log           *slog.Logger
	ctx           context.Context // ends with close
	cancel        context.CancelFunc
	running       sync.WaitGroup // the launcher's goroutines

	mu         sync.Mutex        // guards the fields that follow
	launching  chan struct{}     // closed when it has failed; nil: no launch runs
	browser    *cdpproxy.Browser // of our own; nil: none
	generation uint64
	failure    error           // of the last launch; nil once there is a browser
	failed     <-chan struct{} // closed with failure
	failedAt   time.Time
	current    *cdpproxy.Browser
	changed    notify.Broadcast // of current
}

func newLauncher(source *registry.Source, o *Options) *launcher {
	l := &launcher{source: source, own: o.OnDemand, windowTimeout: cmp.Or(o.WindowTimeout, windowTimeout), log: o.Logger}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	l.running.Add(1)
	go l.follow()
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

// Access allows everything in a browser of our own, where there is no user to ask.
func (l *launcher) Access() (policy.State, <-chan struct{}) {
	l.mu.Lock()
	l.refresh()
	own, changed := l.current != nil && l.current == l.browser, l.changed.Next()
	l.mu.Unlock()
	if own {
		return policy.State{Mode: policy.ModeFull}, changed
	}
	return l.source.Access()
}

// Ask asks the window's user.
func (l *launcher) Ask(ctx context.Context, q policy.Question) (policy.Answer, error) {
	return l.source.Ask(ctx, q)
}

// follow refreshes at every change of the window's browser.
func (l *launcher) follow() {
	defer l.running.Done()
	for {
		_, changed := l.source.Browser()
		l.mu.Lock()
		l.refresh()
		l.mu.Unlock()
		select {
		case <-changed:
		case <-l.ctx.Done():
			return
		}
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
		l.current, l.failure = now, nil
		l.changed.Notify()
	}
}

// wanted is called for each client that waits for a browser. The returned channel is
// closed when no browser could be launched.
func (l *launcher) wanted() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.launching == nil && l.failure != nil && time.Since(l.failedAt) < launchPause {
		return l.failed
	}
	if l.launching == nil && l.ctx.Err() == nil {
		l.launching = make(chan struct{})
		l.running.Add(1)
		go l.launch(l.launching)
	}
	return l.launching
}

// why is the cause of the last launch's failure; empty: it did not fail.
func (l *launcher) why() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failure == nil {
		return ""
	}
	return fmt.Sprintf("None could be launched: %v.", l.failure)
}

// launch starts a browser, once for all clients that are waiting for one.
func (l *launcher) launch(failed chan struct{}) {
	defer l.running.Done()
	defer func() {
		l.mu.Lock()
		l.launching = nil
		l.mu.Unlock()
	}()
	err := l.launchWindows()
	if err == nil || l.ctx.Err() != nil {
		return
	}
	l.log.Warn("the window started no browser, so one of our own is launched", "why", err)
	ctx, cancel := context.WithTimeout(l.ctx, launchTimeout)
	defer cancel()
	if err := l.launchOwn(ctx); err != nil {
		l.log.Error("no browser could be launched", "error", err)
		l.mu.Lock()
		l.failure, l.failed, l.failedAt = err, failed, time.Now()
		l.mu.Unlock()
		close(failed)
	}
}

// launchWindows makes the window start its browser.
func (l *launcher) launchWindows() error {
	ctx, cancel := context.WithTimeout(l.ctx, l.windowTimeout)
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

func (l *launcher) launchOwn(ctx context.Context) error {
	url, err := l.own.Browser(ctx)
	if err != nil {
		return err
	}
	ended := l.own.Done()
	l.mu.Lock()
	l.generation++
	l.browser = &cdpproxy.Browser{Generation: ownGeneration + l.generation, Name: "a browser of its own", URL: url}
	l.refresh()
	l.mu.Unlock()
	l.running.Add(1)
	go l.watchOwn(ended)
	return l.await(ctx)
}

// watchOwn clears our own browser when it ends.
func (l *launcher) watchOwn(ended <-chan struct{}) {
	defer l.running.Done()
	select {
	case <-ended:
	case <-l.ctx.Done():
		return
	}
	l.mu.Lock()
	l.browser = nil
	l.refresh()
	l.mu.Unlock()
}
