package virtual

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

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

// Options configure a Browser. The zero value and nil are good defaults.
type Options struct {
	// MaxBuffered bounds the bytes buffered for one client that reads more slowly
	// than its pages write. Beyond it the client's connection is closed. Zero: 256
	// MiB.
	MaxBuffered int
	// Logger: nil discards.
	Logger *slog.Logger
}

// Browser presents pages as a browser. Its methods may be called from any
// goroutine.
type Browser struct {
	opts   Options
	log    *slog.Logger
	guid   string
	secret string
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	wg     sync.WaitGroup // the server, the targets' and the clients' goroutines

	// mu guards the fields that follow, and the fields of targets, clients and
	// sessions whose comments name it. Events are queued under mu, so that every
	// client gets them in order. Nothing under mu blocks.
	mu      sync.Mutex
	ending  bool
	pages   []Page
	started bool // a first request has come
	targets map[string]*target
	order   []*target // those that have been offered, oldest first
	clients map[*client]struct{}
	version *version
	changed notify.Broadcast // of the targets
	closing chan struct{}    // closed when ending is set
	server  *http.Server
	address string
}

// New returns a browser without pages. Nothing runs before URL is called.
func New(opts *Options) *Browser {
	b := &Browser{
		guid: randomID(), secret: randomID(),
		targets: map[string]*target{}, clients: map[*client]struct{}{},
		closing: make(chan struct{}),
	}
	if opts != nil {
		b.opts = *opts
	}
	if b.opts.MaxBuffered == 0 {
		b.opts.MaxBuffered = 256 << 20
	}
	if b.log = b.opts.Logger; b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	return b
}

// randomID has the form of Chromium's ids of targets and sessions.
func randomID() string {
	b := make([]byte, 16)
	rand.Read(b)
	return strings.ToUpper(hex.EncodeToString(b))
}

var errClosed = errors.New("virtual browser: closed")

// URL returns the browser-level WebSocket URL, and starts to listen there. It stays
// the same until Close. Any holder of the URL may use the pages. It is for this
// process, which puts a guarded endpoint in front of it.
func (b *Browser) URL() (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ending {
		return "", errClosed
	}
	if b.server == nil {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", fmt.Errorf("virtual browser: %w", err)
		}
		b.address = ln.Addr().String()
		b.server = &http.Server{
			Handler:           http.HandlerFunc(b.handle),
			ReadHeaderTimeout: 10 * time.Second,
			IdleTimeout:       2 * time.Minute,
			ErrorLog:          log.New(debugWriter{b.log}, "", 0),
		}
		b.wg.Add(1)
		go b.serve(b.server, ln)
	}
	return "ws://" + b.address + b.browserPath(), nil
}

func (b *Browser) browserPath() string { return "/" + b.secret + "/devtools/browser/" + b.guid }

func (b *Browser) serve(server *http.Server, ln net.Listener) {
	defer b.wg.Done()
	if err := server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		b.log.Error("pages are no longer served", "error", err)
	}
}

// debugWriter forwards the errors of net/http to the logger.
type debugWriter struct{ log *slog.Logger }

func (w debugWriter) Write(b []byte) (int, error) {
	w.log.Debug("http server", "message", string(b))
	return len(b), nil
}

// SetPages sets the pages that exist now. Sessions of removed pages end.
func (b *Browser) SetPages(pages []Page) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pages = slices.Clone(pages)
	b.follow()
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
	if !b.started || b.ending {
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

// notify wakes the callers that wait for targets. mu is held.
func (b *Browser) notify() {
	b.changed.Notify()
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
		case <-b.ctx.Done():
			return nil, errClosed
		}
	}
}

// ready waits until each page has reported its target info, or cannot, so that a
// client finds the pages as in a browser. It reports whether there is one.
func (b *Browser) ready(ctx context.Context) bool {
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
	return err == nil
}

// refresh asks the pages for state without events: the browser sends no event for a
// new title.
func (b *Browser) refresh(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	b.mu.Lock()
	targets := slices.Clone(b.order)
	b.mu.Unlock()
	var asked sync.WaitGroup
	for _, t := range targets {
		asked.Go(func() { t.refresh(ctx) })
	}
	asked.Wait()
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
func (b *Browser) Close() error {
	b.mu.Lock()
	if !b.ending {
		b.ending = true
		close(b.closing)
	}
	for c := range b.clients {
		c.end(closeGoingAway, "the browser that this endpoint presents has ended")
	}
	server := b.server
	clients := make([]*client, 0, len(b.clients))
	for c := range b.clients {
		clients = append(clients, c)
	}
	b.mu.Unlock()
	for _, c := range clients {
		<-c.done
	}
	b.cancel()
	if server != nil {
		server.Close()
	}
	b.wg.Wait()
	return nil
}
