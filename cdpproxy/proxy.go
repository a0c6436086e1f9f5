package cdpproxy

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"browser-coordinator/cdpproxy/eventloop"
	"browser-coordinator/cdpproxy/peer"
)

// Proxy is one window's endpoint. Make it with New.
type Proxy struct {
	source Source
	opts   Options
	log    *slog.Logger
	server *http.Server
	done   chan struct{} // closed when Shutdown or Close begins
	count  atomic.Uint64 // of clients, for their numbers
	served atomic.Uint64 // clients that were connected to a browser
	strict atomic.Int32  // calls of Stricten without their undo

	changes, refusals atomic.Uint64 // for the status page
	taps              taps

	limits limits

	slots chan struct{} // a value for each exchange under way with the browser

	mu sync.Mutex // guards the fields that follow
	// ending is true once done is closed. Goroutines are added to wg only
	// while it is false, so that a Wait after it turned true misses none.
	ending    bool
	following bool           // followSource was started
	loop      eventloop.Loop // set before the first relay; nil where there is none
	relays    map[*relay]struct{}
	// silent are the connections without a request: browsers open some in advance.
	// http.Server would wait 5 s for them.
	silent map[net.Conn]struct{}
	// unauthenticated are the connections that have not been admitted: all of their
	// responses are refusals.
	unauthenticated map[net.Conn]struct{}
	wg              sync.WaitGroup // followSource and every relay
}

// limits bound the memory for clients, and how long it is held. Tests use others.
type limits struct {
	memory                *budget
	waitingBytes          int // of one client's commands that wait for a decision
	headers               int // of one message's frames
	tapMessages, tapBytes int
	closeTimeout          time.Duration
}

// maxExchanges bounds the discovery requests and handshakes under way with a
// browser. Chromium's listen queue takes ten connections. Of hundreds that arrive
// together after a restart the kernel would drop most, and each would be retried
// only seconds later.
const maxExchanges = 6

// New returns a proxy for the browsers that source names. With nil options it uses
// the defaults. Nothing runs before Serve.
func New(source Source, opts *Options) *Proxy {
	p := &Proxy{
		source: source,
		opts:   opts.withDefaults(),
		done:   make(chan struct{}),
		limits: limits{memory: processMemory, waitingBytes: maxWaitingBytes, headers: maxHeaders, tapMessages: tapMessages, tapBytes: tapBytes, closeTimeout: closeTimeout},
		slots:  make(chan struct{}, maxExchanges),
		relays: make(map[*relay]struct{}),
		silent: make(map[net.Conn]struct{}), unauthenticated: make(map[net.Conn]struct{}),
	}
	p.log = p.opts.Logger
	p.server = &http.Server{
		Handler: http.HandlerFunc(p.handle),
		// Against slow-loris and oversized headers. These limits do not apply to a
		// hijacked connection.
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		ConnContext:       withPeer,
		ConnState:         p.watchConn,
		ErrorLog:          log.New(logWriter{p.log}, "", 0),
	}
	return p
}

// Serve serves clients on ln until Shutdown or Close, then returns nil. It may be
// called for several listeners (127.0.0.1 and ::1). It serves on loopback only.
func (p *Proxy) Serve(ln net.Listener) error {
	addr, ok := ln.Addr().(*net.TCPAddr)
	if !ok || !addr.IP.IsLoopback() {
		ln.Close()
		return fmt.Errorf("cdpproxy: serve %v: a CDP endpoint gives full control of a browser, so it is served on loopback only", ln.Addr())
	}
	if p.opts.Token == "" && (p.opts.RequireToken || !PeerProof) {
		ln.Close()
		return fmt.Errorf("cdpproxy: serve %v: no token is set, so no client could ever be let in", ln.Addr())
	}
	p.mu.Lock()
	if p.ending {
		p.mu.Unlock()
		ln.Close()
		return nil
	}
	if !p.following {
		p.following = true
		var err error
		if p.loop, err = eventloop.Start(); err != nil {
			p.log.Warn("relaying without a loop", "error", err)
		}
		p.wg.Add(1)
		go p.followSource()
	}
	p.mu.Unlock()

	err := p.server.Serve(ln)
	select {
	case <-p.done:
		return nil
	default:
	}
	if errors.Is(err, net.ErrClosed) || errors.Is(err, http.ErrServerClosed) {
		return nil // the owner of the listener closed it
	}
	return fmt.Errorf("cdpproxy: serve %v: %w", ln.Addr(), err)
}

// Stricten requires the token of every client from now on, as Options.RequireToken
// does, until each call is undone.
func (p *Proxy) Stricten() (undo func()) {
	p.strict.Add(1)
	return sync.OnceFunc(func() { p.strict.Add(-1) })
}

// RequiresToken reports whether the token is required even where the system can
// prove that a client is the same user.
func (p *Proxy) RequiresToken() bool { return p.opts.RequireToken || p.strict.Load() > 0 }

// Shutdown stops listening, closes every client's connection (1001) and waits until
// all of them are closed. When ctx ends first, it cuts the rest and returns ctx's
// error.
func (p *Proxy) Shutdown(ctx context.Context) error {
	p.begin()
	p.endAll(ending{code: closeGoingAway, reason: "the coordinator that serves this endpoint is shutting down"})
	err := p.server.Shutdown(ctx)
	stop := context.AfterFunc(ctx, p.cutAll)
	p.wg.Wait()
	stop()
	p.endLoop()
	if err != nil {
		p.server.Close()
		return fmt.Errorf("cdpproxy: shutdown: %w", err)
	}
	return nil
}

// Close cuts every connection and waits for the proxy's goroutines.
func (p *Proxy) Close() error {
	p.begin()
	err := p.server.Close()
	p.cutAll()
	p.wg.Wait()
	p.endLoop()
	if err != nil {
		return fmt.Errorf("cdpproxy: close: %w", err)
	}
	return nil
}

// endLoop closes the loop when the last relay has ended.
func (p *Proxy) endLoop() {
	p.mu.Lock()
	l := p.loop
	p.loop = nil
	p.mu.Unlock()
	if l != nil {
		l.Close()
	}
}

func (p *Proxy) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ending {
		p.ending = true
		close(p.done)
	}
	for conn := range p.silent {
		conn.Close()
	}
}

// maxUnauthenticated bounds the unauthenticated connections, where the system can
// prove the owner of a connection. Beyond it only connections of the same user are
// accepted: another user could use up all descriptors.
const maxUnauthenticated = 256

// watchConn follows the state of each connection. It handles a new one before
// anything else does.
func (p *Proxy) watchConn(conn net.Conn, state http.ConnState) {
	if state == http.StateNew && PeerProof && p.isCrowded() && peer.CheckClient(conn) != nil {
		conn.Close()
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch state {
	case http.StateNew:
		p.unauthenticated[conn] = struct{}{}
	case http.StateActive: // a request has begun
	default:
		delete(p.unauthenticated, conn) // a refusal ends the connection
	}
	switch {
	case state != http.StateNew:
		delete(p.silent, conn)
	case p.ending:
		conn.Close()
	default:
		p.silent[conn] = struct{}{}
	}
}

func (p *Proxy) isCrowded() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.unauthenticated) >= maxUnauthenticated
}

// followSource ends the relays of a browser as soon as the source no longer
// names it.
func (p *Proxy) followSource() {
	defer p.wg.Done()
	var last *Browser // the last one that was not nil
	for {
		b, changed := p.source.Browser()
		if b != nil {
			if last != nil && b.Generation != last.Generation {
				p.changes.Add(1)
			}
			last = b
		}
		p.endOthers(b)
		select {
		case <-changed:
		case <-p.done:
			return
		}
	}
}

// add registers a relay and starts it. It reports false, and starts nothing, when
// the proxy is ending or r's browser is no longer the current one.
//
// The order matters. r is in the map before the source is asked. So a later change
// reaches r through followSource, and an earlier one is seen here: no client can
// stay with a browser that has been replaced.
func (p *Proxy) add(r *relay) bool {
	p.mu.Lock()
	if p.ending {
		p.mu.Unlock()
		return false
	}
	p.relays[r] = struct{}{}
	p.wg.Add(1)
	p.mu.Unlock()

	if !p.stillCurrent(r.browser) {
		p.remove(r)
		return false
	}
	p.served.Add(1)
	return true
}

func (p *Proxy) remove(r *relay) {
	defer p.wg.Done()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.relays, r)
}

// endOthers ends the relays whose browser is not b (nil: there is none).
func (p *Proxy) endOthers(b *Browser) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for r := range p.relays {
		r.endIfReplaced(b)
	}
}

func (p *Proxy) endAll(e ending) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for r := range p.relays {
		r.end(e)
	}
}

func (p *Proxy) cutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for r := range p.relays {
		r.cut()
	}
}

// logWriter forwards the errors of net/http to the logger.
type logWriter struct{ log *slog.Logger }

func (w logWriter) Write(b []byte) (int, error) {
	w.log.Debug("http server", "message", string(b))
	return len(b), nil
}
