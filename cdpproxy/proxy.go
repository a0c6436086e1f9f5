package cdpproxy

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"browser-coordinator/cdpproxy/peer"
)

// Proxy is one window's endpoint. Make it with New.
type Proxy struct {
	source Source
	opts   Options
	server *http.Server
	ctx    context.Context // ends when Shutdown begins
	end    context.CancelFunc
	strict atomic.Int32 // calls of Stricten without their undo
	taps   taps
	limits limits
	slots  chan struct{} // a value for each exchange under way with the browser
	conns  peer.Connections

	start   sync.Once      // by Serve
	running sync.WaitGroup // the relays, the WebSockets' requests, and followSource
	served  atomic.Int32   // requests of admitted clients that are being served, and relays
	waiting atomic.Int32   // those of them that wait for a browser
	count   atomic.Uint64  // of the clients: connections and requests

	mu     sync.Mutex // guards relays, the end of ctx, and what is added to running
	relays map[*relay]struct{}
}

// New returns a proxy for the browsers that source names. With nil options it uses
// the defaults. Nothing runs before Serve.
func New(source Source, opts *Options) *Proxy {
	p := &Proxy{
		source: source,
		opts:   opts.withDefaults(),
		conns:  peer.Connections{Admitted: maxClients},
		limits: realLimits,
		slots:  make(chan struct{}, maxExchanges),
		relays: map[*relay]struct{}{},
	}
	p.ctx, p.end = context.WithCancel(context.Background())
	p.server = &http.Server{
		Handler: http.HandlerFunc(p.handle),
		// Against slow-loris and oversized headers. These limits do not apply to a
		// hijacked connection.
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ConnContext:       withPeer,
		ConnState:         p.conns.Watch,
		// Its answer to "OPTIONS *" would keep the connection of an unauthenticated client.
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     log.New(logWriter{p.opts.Logger}, "", 0),
	}
	return p
}

// Serve serves clients on ln until Shutdown, then returns nil. It may be
// called for several listeners (127.0.0.1 and ::1). It serves on loopback only.
func (p *Proxy) Serve(ln net.Listener) error {
	addr, ok := ln.Addr().(*net.TCPAddr)
	if !ok || !addr.IP.IsLoopback() {
		ln.Close()
		return fmt.Errorf("cdpproxy: serve %v: a CDP endpoint gives full control of a browser, so it is served on "+
			"loopback only", ln.Addr())
	}
	if p.opts.Rule == nil {
		ln.Close()
		return errors.New("cdpproxy: no rule is set for the messages of clients")
	}
	if p.opts.Token == "" && (p.opts.RequireToken || !PeerProof) {
		ln.Close()
		return fmt.Errorf("cdpproxy: serve %v: no token is set, so no client could ever be admitted", ln.Addr())
	}
	p.start.Do(func() { p.running.Go(p.followSource) })
	err := p.server.Serve(ln)
	if p.ctx.Err() != nil || errors.Is(err, net.ErrClosed) || errors.Is(err, http.ErrServerClosed) {
		return nil // or the owner of the listener closed it
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
	p.start.Do(func() {}) // from now on Serve starts nothing
	p.mu.Lock()
	p.end()
	p.mu.Unlock()
	p.conns.Stop()
	for _, r := range p.list() {
		r.end(ending{closeGoingAway, "the coordinator that serves this endpoint is shutting down"})
	}
	err := p.server.Shutdown(ctx)
	stop := context.AfterFunc(ctx, func() {
		for _, r := range p.list() {
			r.cut()
		}
	})
	p.running.Wait()
	stop()
	if err != nil {
		p.server.Close()
		return fmt.Errorf("cdpproxy: shutdown: %w", err)
	}
	return nil
}

// followSource ends the relays of a browser as soon as the source no longer
// names it.
func (p *Proxy) followSource() {
	for {
		b, changed := p.source.Browser()
		for _, r := range p.list() {
			if end, must := r.replaced(b); must {
				r.end(end)
			}
		}
		select {
		case <-changed:
		case <-p.ctx.Done():
			return
		}
	}
}

// enter lets Shutdown wait for running.Done. It reports false if Shutdown has begun.
func (p *Proxy) enter() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() != nil {
		return false
	}
	p.running.Add(1)
	return true
}

// add registers a relay. It reports false when the proxy is ending or r's browser is
// no longer the current one.
//
// The order matters. r is registered before the source is asked. So a later change
// reaches r through followSource, and an earlier one is seen here: no client can
// stay with a browser that has been replaced.
func (p *Proxy) add(r *relay) bool {
	if !p.enter() {
		return false
	}
	p.mu.Lock()
	p.relays[r] = struct{}{}
	p.mu.Unlock()
	if p.ctx.Err() != nil || !p.stillCurrent(r.client.browser) {
		p.remove(r)
		return false
	}
	return true
}

// remove is the last step of a relay.
func (p *Proxy) remove(r *relay) {
	defer p.running.Done()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.relays, r)
}

// list returns the relays at this moment.
func (p *Proxy) list() []*relay {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Keys(p.relays))
}

// logWriter forwards the errors of net/http to the logger.
type logWriter struct{ log *slog.Logger }

func (w logWriter) Write(b []byte) (int, error) {
	w.log.Debug("http server", "message", string(b))
	return len(b), nil
}
