package virtual

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy/browser"
	"browser-coordinator/cdpproxy/private"
	"browser-coordinator/internal/notify"
)

// Page is one page's endpoint.
type Page struct {
	// Key names the page for SetPages. Required.
	Key string
	// Parent is the key of the page that this one is a part of (a frame in another
	// process, a worker); empty for a tab.
	Parent string
	// URL is the address of the page's shared CDP session, on loopback. Its path is
	// a secret. Required.
	URL string
}

// Browser presents pages as a browser. Its methods may be called from any
// goroutine.
type Browser struct {
	log    *slog.Logger
	id     string // of the browser's target
	server *private.Server
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	ending context.Context // ends when Close begins, with mu held
	end    context.CancelFunc
	joined sync.WaitGroup // the clients
	wg     sync.WaitGroup // the targets' goroutines

	// mu is the package's one lock. It guards the fields that follow, and the fields of
	// targets, clients, sessions and connections whose comments name it. It is held
	// while a client's command, a page's event or a page's response is handled, so that
	// every client gets its messages in order. Nothing under mu blocks.
	mu      sync.Mutex
	pages   []Page
	started bool // a first request has come
	targets map[string]*target
	order   []*target // those that have been offered, oldest first
	clients map[*client]struct{}
	version *version
	changed notify.Broadcast // of the targets
}

// New returns a browser without pages, which is served until Close. Any holder of its
// URL may use the pages. It is for this process, which puts a guarded endpoint in
// front of it.
func New(logger *slog.Logger) (*Browser, error) {
	b := &Browser{
		id: browser.NewID(), log: logger,
		targets: map[string]*target{}, clients: map[*client]struct{}{},
	}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	b.ending, b.end = context.WithCancel(b.ctx)
	var err error
	b.server, err = private.Serve(b, logger)
	return b, err
}

var errClosed = errors.New("virtual browser: closed")

// URL is the browser-level WebSocket URL.
func (b *Browser) URL() string { return b.server.URL() }

// SetPages sets the pages that exist now. Sessions of removed pages end.
func (b *Browser) SetPages(pages []Page) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pages = slices.Clone(pages)
	if b.started {
		b.follow()
	}
}

// start begins to follow the pages, at the first request.
func (b *Browser) start() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.started = true
	b.follow()
}

// follow updates the targets from the pages. mu is held.
func (b *Browser) follow() {
	if b.ending.Err() != nil {
		return
	}
	named := map[string]bool{}
	for _, p := range b.pages {
		named[p.Key] = true
		t := b.targets[p.Key]
		if t != nil && t.page.URL == p.URL {
			continue
		}
		if t != nil {
			b.drop(t)
		}
		t = newTarget(b, p)
		b.targets[p.Key] = t
		b.wg.Add(1)
		go t.watch()
	}
	for key, t := range b.targets {
		if !named[key] {
			b.drop(t)
		}
	}
}

// drop ends a target. mu is held.
func (b *Browser) drop(t *target) {
	delete(b.targets, t.page.Key)
	t.cancel()
	b.withdraw(t)
}

// await waits until find returns a target. find is called with mu held.
func (b *Browser) await(ctx context.Context, find func() *target) (*target, error) {
	for {
		b.mu.Lock()
		t, changed := find(), b.changed.Next()
		b.mu.Unlock()
		if t != nil {
			return t, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-b.ending.Done():
			return nil, errClosed
		}
	}
}

// ready waits until each page has reported its target info, or cannot, so that a
// client finds the pages as in a browser. It has an error if there is none.
func (b *Browser) ready(ctx context.Context) error {
	b.start()
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	_, err := b.await(ctx, func() *target {
		for _, t := range b.targets {
			if !t.settled {
				return nil
			}
		}
		return b.first()
	})
	if err != nil {
		return errNoPage
	}
	return nil
}

// refresh asks the pages for state without events: the browser sends no event for a
// new title.
func (b *Browser) refresh(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	b.mu.Lock()
	targets := slices.Clone(b.order)
	b.mu.Unlock()
	var refreshing sync.WaitGroup
	for _, t := range targets {
		refreshing.Go(func() { t.refresh(ctx) })
	}
	refreshing.Wait()
}

// first is the tab that responds for the browser: the oldest. mu is held.
func (b *Browser) first() *target {
	for _, t := range b.order {
		if t.isTab() {
			return t
		}
	}
	return nil
}

// byID finds a target, or the tab around it. mu is held.
func (b *Browser) byID(id string) (t *target, tab bool) {
	for _, t := range b.order {
		switch {
		case t.info.ID == id:
			return t, false
		case t.isTab() && t.tabID() == id:
			return t, true
		}
	}
	return nil, false
}

// Close closes every client's connection, resets their settings of the pages, and
// waits for the browser's goroutines.
func (b *Browser) Close() {
	b.mu.Lock()
	b.end()
	for c := range b.clients {
		c.downstream.End(uint16(websocket.StatusGoingAway), "the browser that this endpoint presents has ended")
	}
	b.mu.Unlock()
	b.joined.Wait()
	b.server.Close()
	b.cancel()
	b.wg.Wait()
}
