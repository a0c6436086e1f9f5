package endpoint

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/internal/backoff"
	"browser-coordinator/internal/notify"
	"browser-coordinator/internal/trusted"
	"browser-coordinator/internal/usersocket"
)

// Endpoint is this process's part in serving a window's endpoint: it is the owner, or it
// stands by.
type Endpoint struct {
	files  *files
	lock   *flock.Flock
	source cdpproxy.Source
	opts   cdpproxy.Options
	log    *slog.Logger
	cancel context.CancelFunc
	done   chan struct{} // closed when keep has returned

	mu      sync.Mutex // guards the fields that follow
	addr    Addr
	owner   bool
	changed notify.Broadcast // of owner
}

// settleTimeout bounds how long Serve waits until this process serves or stands by.
const settleTimeout = 3 * time.Second

// closeTimeout bounds the orderly end of the clients' connections.
const closeTimeout = 2 * time.Second

// Serve serves the window's endpoint with the browsers of source, as soon as no other
// process does. It returns when this process serves the endpoint or stands by. ctx bounds
// that wait only; the endpoint lives until Close. Serve sets Token of opts.
func Serve(ctx context.Context, hash string, source cdpproxy.Source, opts cdpproxy.Options) (*Endpoint, error) {
	f, addr, err := open(hash)
	if err != nil {
		return nil, err
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	opts.Token = f.Token
	e := &Endpoint{
		files:  f,
		lock:   flock.New(f.path("lock"), flock.SetPermissions(0o600)),
		source: source,
		opts:   opts,
		log:    opts.Logger,
		addr:   addr,
		done:   make(chan struct{}),
	}
	var keepCtx context.Context
	keepCtx, e.cancel = context.WithCancel(context.Background())
	ready := make(chan error, 1)
	go e.keep(keepCtx, ready)

	timer := time.NewTimer(settleTimeout)
	defer timer.Stop()
	select {
	case err = <-ready:
	case <-ctx.Done():
		err = ctx.Err()
	case <-timer.C:
		// The owner lives, since its lock is taken, but does not respond.
		e.log.Warn("the coordinator that serves this endpoint does not respond; standing by until it ends", "url",
			e.URL())
	}
	if err != nil {
		e.Close()
		return nil, fmt.Errorf("serve endpoint: %w", err)
	}
	return e, nil
}

// Address is the endpoint's address.
func (e *Endpoint) Address() Addr {
	e.mu.Lock()
	defer e.mu.Unlock()
	addr := e.addr
	addr.Served = true
	addr.RequiresToken = addr.RequiresToken || e.opts.RequireToken
	return addr
}

// URL is the http address for CDP clients of the same user.
func (e *Endpoint) URL() string { return e.Address().URL }

// Owner reports whether this process serves the endpoint.
func (e *Endpoint) Owner() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.owner
}

// OwnerChanged returns a channel that is closed when the result of Owner changes: when the
// process that served the endpoint has ended, or this one no longer does.
func (e *Endpoint) OwnerChanged() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.changed.Next()
}

// Close ends this process's part. An owner's clients get a close frame, and a coordinator
// that stands by takes over at once. What is left after closeTimeout is closed without one.
func (e *Endpoint) Close() {
	e.cancel()
	<-e.done
}

// keep tries to become the owner; while another process is, it stands by. It is the only
// goroutine that changes this process's part.
func (e *Endpoint) keep(ctx context.Context, ready chan error) {
	defer close(e.done)
	settling := newBackoff()
	failing := backoff.Backoff{First: 250 * time.Millisecond, Max: 30 * time.Second}
	logged := "" // why it cannot serve, since it last settled
	settled := func() {
		report(ready, nil)
		failing.Reset()
		logged = ""
	}
	for ctx.Err() == nil {
		owned, err := e.tryLock()
		if owned {
			err = e.runOwner(ctx, settled)
		}
		switch {
		case err != nil && !owned:
			err = fmt.Errorf("lock %s: %w", e.lock.Path(), err)
		case !owned:
			start := time.Now()
			if err := e.standBy(ctx, settled); err == nil && time.Since(start) > settling.Max {
				settling.Reset()
				continue // the owner has ended: try at once
			} else {
				// The owner is about to listen, or to release the lock; or it drops each request.
				e.log.Debug("standing by", "error", err)
				settling.Sleep(ctx)
			}
			continue
		}
		if err != nil {
			level := slog.LevelError
			if err.Error() == logged {
				level = slog.LevelDebug
			}
			e.log.Log(ctx, level, "cannot serve the endpoint; trying again", "error", err)
			logged = err.Error()
			report(ready, err)
			failing.Sleep(ctx)
		}
	}
}

// tryLock tries to become the owner. The folder is checked each time: this process may run
// for days.
func (e *Endpoint) tryLock() (bool, error) {
	if err := checkState(); err != nil {
		return false, err
	}
	return trusted.Lock(e.lock, e.lock.TryLock)
}

// report passes the first outcome to Serve, which reads only that one.
func report(ready chan error, err error) {
	select {
	case ready <- err:
	default:
	}
}

// runOwner serves the endpoint until ctx ends, and calls settled once it does. The lock is held.
func (e *Endpoint) runOwner(ctx context.Context, settled func()) error {
	released := make(chan struct{})
	release := sync.OnceFunc(func() {
		e.setOwner(false)
		if err := e.lock.Unlock(); err != nil {
			e.log.Error("the lock of the endpoint cannot be released", "error", err)
		}
		close(released)
	})
	defer release()

	lns, err := e.listen(ctx)
	if err != nil {
		return err
	}
	e.opts.Token = e.files.Token // another owner may have made a new one
	proxy := cdpproxy.New(e.source, &e.opts)
	owner := &ownerServer{proxy, e.Address().Port, released}
	others := &http.Server{Handler: owner.handler(), ReadHeaderTimeout: askTimeout}
	socket, err := usersocket.Listen(e.files.path("sock"))
	if err != nil {
		e.log.Warn("other coordinators get no reports of this endpoint", "error", err)
	}
	served := make(chan error, len(lns)+1)
	e.setOwner(true)
	for _, ln := range lns {
		go serveListener(proxy, ln, served)
	}
	running := len(lns)
	if socket != nil {
		go serveListener(others, socket, served)
		lns = append(lns, socket)
		running++
	}
	e.log.Info("serving the endpoint", "url", e.URL())
	settled()

	select {
	case <-ctx.Done():
		err = nil
	case err = <-served:
		running--
	}
	// First close the port and the socket, then release the lock, then notify those that
	// stand by: the next owner finds all free. The old clients get their close frames meanwhile.
	for _, ln := range lns {
		ln.Close()
	}
	release()
	closing, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	// The listeners are closed already, which Shutdown may report.
	if shutdownErr := errors.Join(proxy.Shutdown(closing), others.Shutdown(closing)); shutdownErr != nil &&
		!errors.Is(shutdownErr, net.ErrClosed) && err == nil {
		e.log.Warn("clients were disconnected", "error", shutdownErr)
	}
	others.Close()
	for range running {
		<-served
	}
	return err
}

func serveListener(server interface{ Serve(net.Listener) error }, ln net.Listener, served chan<- error) {
	served <- server.Serve(ln)
}

func (e *Endpoint) setOwner(owner bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.owner != owner {
		e.owner = owner
		e.changed.Notify()
	}
}

// listen opens the window's port. A process that has just died may still have it for a
// moment, and there is no event for the end of that. After that moment another program
// has it, and the next port is used and remembered.
func (e *Endpoint) listen(ctx context.Context) ([]net.Listener, error) {
	for occupied := 0; ; occupied = e.files.Port {
		if err := e.files.complete(occupied); err != nil {
			return nil, err
		}
		if occupied != 0 {
			e.log.Warn("another program listens on this window's port: the endpoint's address changes", "port",
				occupied, "next", e.files.Port)
		}
		lns, err := listenSoon(ctx, e.files.Port)
		if errors.Is(err, errTaken) {
			continue
		}
		if err != nil {
			return nil, err
		}
		e.mu.Lock()
		e.addr = e.files.addr(e.files.Port)
		e.mu.Unlock()
		return lns, nil
	}
}

var errTaken = errors.New("the port is taken")

func listenSoon(ctx context.Context, port int) ([]net.Listener, error) {
	ctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	wait := newBackoff()
	for {
		lns, err := listen(port)
		if err == nil {
			return lns, nil
		}
		if !isTaken(err) {
			return nil, err
		}
		if !wait.Sleep(ctx) {
			return nil, errors.Join(errTaken, err)
		}
	}
}

// newBackoff returns short pauses, for the few conditions without an event.
func newBackoff() backoff.Backoff {
	return backoff.Backoff{First: 2 * time.Millisecond, Max: 250 * time.Millisecond}
}
