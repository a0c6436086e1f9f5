package userchrome

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/zeebo/xxh3"

	"browser-coordinator/cdpproxy/partial"
	"browser-coordinator/coordinator/launch"
	"browser-coordinator/internal/backoff"
	"browser-coordinator/internal/notify"
	"browser-coordinator/internal/statedir"
	"browser-coordinator/internal/trusted"
	"browser-coordinator/internal/usersocket"
)

// The process that has the lock of a profile folder owns its connection. It reports on its
// socket, chrome-HASH.sock, what has become of it, and keeps each response open as long as it
// owns the connection: the end of the response is the event that the owner has left, for any
// cause. Only processes of the same user reach the socket.

// report is a line of the owner's response.
type report struct {
	PID     int    `json:"pid"`
	Profile string `json:"profile"`
	Browser string `json:"browser"`          // for people
	Asking  bool   `json:"asking,omitempty"` // the browser asks its user
	URL     string `json:"url,omitempty"`    // of CDP, whose path is a secret
	Ended   bool   `json:"ended,omitempty"`  // the process does not own it any longer
	Error   string `json:"error,omitempty"`  // why there is no connection
	Refused bool   `json:"refused,omitempty"`
}

// browserPath is the path of an owner's socket.
const browserPath = "/browser"

func fileOf(folder, kind string) (string, error) {
	dir, err := statedir.Make()
	return filepath.Join(dir, fmt.Sprintf("chrome-%016x.%s", xxh3.HashString(folder), kind)), err
}

// open connects to the browser: as its owner, or through the process that owns it.
func (b Browser) open(ctx context.Context, asking func(), log *slog.Logger) (session, error) {
	pause := backoff.Backoff{First: 5 * time.Millisecond, Max: 250 * time.Millisecond, Jitter: 0.2}
	for {
		// A browser that another process is connected to runs, so this is checked each time.
		p, err := b.choose()
		if err != nil {
			return nil, err
		}
		path, err := fileOf(p.folder, "lock")
		if err != nil {
			return nil, err
		}
		lock := flock.New(path, flock.SetPermissions(0o600))
		locked, err := trusted.Lock(lock, lock.TryLock)
		if err != nil {
			return nil, fmt.Errorf("lock the connection to %s: %w", b.Name(), err)
		}
		if locked {
			return connectAsOwner(ctx, p, lock, asking, log)
		}
		s, err := join(ctx, p, asking)
		if s != nil || !errors.Is(err, errNoOwner) {
			return s, err
		}
		if !pause.Sleep(ctx) { // it has just begun, or is just ending
			return nil, context.Cause(ctx)
		}
	}
}

// errNoOwner: no process responds for the connection.
var errNoOwner = errors.New("the process that shares the connection does not respond")

// owner shares the connection of this process.
type owner struct {
	lock   *flock.Flock
	server *http.Server
	done   chan struct{} // closed when all is released

	mu      sync.Mutex // guards the fields that follow
	state   report
	part    *partial.Browser // nil: not connected yet
	changed notify.Broadcast
}

// connectAsOwner connects to the browser, and shares the connection from the moment before.
func connectAsOwner(ctx context.Context, p *port, lock *flock.Flock, asking func(), log *slog.Logger) (session, error) {
	w := &owner{lock: lock, done: make(chan struct{})}
	w.state = report{PID: os.Getpid(), Profile: p.folder, Browser: p.Name()}
	path, err := fileOf(p.folder, "sock")
	var ln net.Listener
	if err == nil {
		ln, err = usersocket.Listen(path)
	}
	if err != nil {
		lock.Unlock()
		return nil, fmt.Errorf("share the connection to %s: %w", p.Name(), err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc(browserPath, w.respond)
	mux.HandleFunc(tabsPath, w.tabs)
	mux.HandleFunc(handOverPath, w.change((*partial.Browser).HandOver))
	mux.HandleFunc(takeBackPath, w.change((*partial.Browser).TakeBack))
	w.server = &http.Server{Handler: mux, ReadHeaderTimeout: probeTimeout}
	served := make(chan error, 1)
	go serveOthers(w.server, ln, served)
	o, err := connect(ctx, p, func() {
		w.set(func(r *report) { r.Asking = true })
		asking()
	}, log)
	if err != nil {
		w.set(func(r *report) {
			r.Asking, r.Ended, r.Error, r.Refused = false, true, err.Error(), errors.Is(err, ErrRefused)
		})
		w.release(served)
		return nil, err
	}
	w.mu.Lock()
	w.part = o.part
	w.mu.Unlock()
	w.set(func(r *report) { r.Asking, r.URL = false, o.URL() })
	o.shared = w.done
	go w.follow(o, served)
	return o, nil
}

func serveOthers(server *http.Server, ln net.Listener, served chan<- error) {
	served <- server.Serve(ln)
}

func (w *owner) set(change func(*report)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.state)
	w.changed.Notify()
}

// follow stops sharing when the connection has ended, so that another process may connect. It
// is owned by the connection's close.
func (w *owner) follow(o *owned, served <-chan error) {
	<-o.Done()
	w.set(func(r *report) {
		r.Ended, r.URL = true, ""
		if err := o.Err(); err != nil {
			r.Error = err.Error()
		}
	})
	w.release(served)
}

// release gives up the lock when the others have read that.
func (w *owner) release(served <-chan error) {
	defer close(w.done)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = w.server.Shutdown(ctx) // who has not read it by then sees that the connection ends
	w.server.Close()
	<-served
	_ = w.lock.Unlock()
}

// respond reports the state at once and at every change.
func (w *owner) respond(out http.ResponseWriter, r *http.Request) {
	out.Header().Set("Content-Type", "application/jsonl")
	lines, stream := json.NewEncoder(out), http.NewResponseController(out)
	for {
		w.mu.Lock()
		now, changed := w.state, w.changed.Next()
		w.mu.Unlock()
		if lines.Encode(now) != nil || stream.Flush() != nil || now.Ended {
			return
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}

// session is the browser for this process, as its owner or not.
type session interface {
	launch.Browser
	close()
}

// joined is the connection of another process. It implements launch.Browser.
type joined struct {
	launch.Connection
	running sync.WaitGroup
}

// join waits until the process that owns the connection has it, and uses it.
func join(ctx context.Context, p *port, asking func()) (session, error) {
	path, err := fileOf(p.folder, "sock")
	if err != nil {
		return nil, err
	}
	j := &joined{Connection: launch.NewConnection()}
	stop := context.AfterFunc(ctx, func() { j.Finish(nil) })
	res, _, err := usersocket.Get(j.Context(), path, browserPath)
	if err != nil {
		j.Finish(nil)
		return nil, fmt.Errorf("%w: %w", errNoOwner, err)
	}
	lines := json.NewDecoder(io.LimitReader(res.Body, usersocket.MaxAnswer))
	for {
		var r report
		err := lines.Decode(&r)
		switch {
		case err == nil && r.Asking:
			asking()
			continue
		case err == nil && r.URL != "" && stop():
			j.Address = r.URL
			j.running.Go(func() { j.follow(res.Body, lines) })
			return j, nil
		case err == nil && r.URL == "" && !r.Ended:
			continue
		}
		j.Finish(nil)
		res.Body.Close()
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil, r.Error == "":
			return nil, errNoOwner
		case r.Refused:
			return nil, &refusedError{r.Error}
		}
		return nil, errors.New(r.Error)
	}
}

// refusedError is an owner's error that wraps ErrRefused.
type refusedError struct{ text string }

func (e *refusedError) Error() string { return e.text }
func (e *refusedError) Unwrap() error { return ErrRefused }

// follow is owned by close.
func (j *joined) follow(body io.Closer, lines *json.Decoder) {
	defer body.Close()
	for {
		var r report
		if lines.Decode(&r) != nil {
			j.Finish(errors.New("the program that shared its connection to your browser has ended. When you need the " +
				"browser again, it asks you again"))
			return
		}
		if r.Error != "" {
			j.Finish(errors.New(r.Error))
			return
		}
	}
}

func (j *joined) close() {
	j.Finish(nil)
	j.running.Wait()
}
