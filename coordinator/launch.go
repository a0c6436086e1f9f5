package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/cdpproxy/access"
	"browser-coordinator/coordinator/registry"
)

// launchPatience is how long a browser of our own may take to be there.
const launchPatience = 30 * time.Second

// windowPatience is how long the window may take to start its own: short enough
// that who waits for a browser, for 30 s by default, is given one of ours after
// that. Tests change it.
var windowPatience = 20 * time.Second

// ownGeneration tells the generations of our own browsers from the window's.
const ownGeneration = 1 << 63

// launcher is the source of an endpoint that starts a browser when a client
// wants one: the window's launch configuration, or else a browser of our own,
// which is used for as long as the window has none.
type launcher struct {
	source *registry.Source
	own    *ownBrowser
	log    *slog.Logger
	ctx    context.Context // ends with close
	cancel context.CancelFunc
	ended  sync.WaitGroup // follow and launch
	news   chan struct{}  // holds a value when our own browser came or went

	mu         sync.Mutex        // guards the fields that follow
	launching  chan struct{}     // closed when it has failed; nil: nothing is launched
	browser    *cdpproxy.Browser // of our own; nil if there is none
	generation uint64
	failure    error           // of the last launch; nil once there is a browser
	failed     <-chan struct{} // closed with failure
	failedAt   time.Time
	answer     *cdpproxy.Browser
	changed    chan struct{} // closed and replaced when answer changes
}

func newLauncher(source *registry.Source, own *ownBrowser, log *slog.Logger) *launcher {
	l := &launcher{source: source, own: own, log: log, news: make(chan struct{}, 1), changed: make(chan struct{})}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	l.ended.Add(1)
	go l.follow()
	return l
}

// close ends what the launcher does; our own browser is its owner's to end.
func (l *launcher) close() {
	l.cancel()
	l.ended.Wait()
}

// Browser is for cdpproxy.
func (l *launcher) Browser() (*cdpproxy.Browser, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refresh()
	return l.answer, l.changed
}

// Access is for the endpoint's rule: in a browser of our own there is nobody to
// ask.
func (l *launcher) Access() (access.State, <-chan struct{}) {
	l.mu.Lock()
	l.refresh()
	own, changed := l.answer != nil && l.answer == l.browser, l.changed
	l.mu.Unlock()
	if own {
		return access.State{Mode: access.Full}, changed
	}
	return l.source.Access()
}

// Ask is for the endpoint's rule.
func (l *launcher) Ask(ctx context.Context, q access.Question) (access.Answer, error) {
	return l.source.Ask(ctx, q)
}

// follow tells who waits for another answer.
func (l *launcher) follow() {
	defer l.ended.Done()
	for {
		_, changed := l.source.Browser()
		l.mu.Lock()
		l.refresh()
		l.mu.Unlock()
		select {
		case <-changed:
		case <-l.news:
		case <-l.ctx.Done():
			return
		}
	}
}

// refresh brings the answer up to date: the window's browser, else our own. Whoever
// looks does that, so that nobody sees a former browser with what is allowed in the
// next. l.mu is held.
func (l *launcher) refresh() {
	now, _ := l.source.Browser()
	if now == nil {
		now = l.browser
	}
	if now != l.answer {
		l.answer, l.failure = now, nil
		close(l.changed)
		l.changed = make(chan struct{})
	}
}

// launchPause is how long a launch that failed stands for all: who is refused often
// asks again at once.
const launchPause = 5 * time.Second

// wanted is called for each client that has to wait for a browser. What it returns
// is closed when no browser could be launched.
func (l *launcher) wanted() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.launching == nil && l.failure != nil && time.Since(l.failedAt) < launchPause {
		return l.failed
	}
	if l.launching == nil && l.ctx.Err() == nil {
		l.launching = make(chan struct{})
		l.ended.Add(1)
		go l.launch(l.launching)
	}
	return l.launching
}

// why says what became of the last launch, if no browser came of it.
func (l *launcher) why() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failure == nil {
		return ""
	}
	return fmt.Sprintf("None could be launched: %v.", l.failure)
}

// launch starts a browser, once for all who want one until it is there.
func (l *launcher) launch(failed chan struct{}) {
	defer l.ended.Done()
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
	ctx, cancel := context.WithTimeout(l.ctx, launchPatience)
	defer cancel()
	if err := l.launchOwn(ctx); err != nil {
		l.log.Error("no browser could be launched", "error", err)
		l.mu.Lock()
		l.failure, l.failed, l.failedAt = err, failed, time.Now()
		l.mu.Unlock()
		close(failed)
	}
}

// launchWindows has the window start its browser.
func (l *launcher) launchWindows() error {
	ctx, cancel := context.WithTimeout(l.ctx, windowPatience)
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
	gone := l.own.Done()
	l.mu.Lock()
	l.generation++
	l.browser = &cdpproxy.Browser{Generation: ownGeneration + l.generation, Name: "a browser of its own", URL: url}
	l.mu.Unlock()
	l.tell()
	l.ended.Add(1)
	go l.watchOwn(gone)
	return l.await(ctx)
}

// watchOwn forgets our own browser when it ends.
func (l *launcher) watchOwn(gone <-chan struct{}) {
	defer l.ended.Done()
	select {
	case <-gone:
	case <-l.ctx.Done():
		return
	}
	l.mu.Lock()
	l.browser = nil
	l.mu.Unlock()
	l.tell()
}

func (l *launcher) tell() {
	select {
	case l.news <- struct{}{}:
	default:
	}
}
