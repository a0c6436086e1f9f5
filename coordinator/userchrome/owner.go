package userchrome

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"browser-coordinator/cdpproxy/partial"
	"browser-coordinator/internal/notify"
	"browser-coordinator/internal/trusted"
	"browser-coordinator/internal/usersocket"
)

// OwnerCommand is the command that calls Own, with the profile folder and the product for people.
const OwnerCommand = "own-chrome"

// firstUse bounds how long the program that has started the owner takes to use the connection.
const firstUse = 10 * time.Second

// owner is the process that has the connection.
type owner struct {
	server *http.Server
	end    context.CancelFunc // ends the connection

	mu      sync.Mutex // guards the fields that follow
	users   int        // programs that use the connection
	state   report
	part    *partial.Browser // nil: not connected yet
	changed notify.Broadcast
}

// Own connects to the browser with that profile folder, and shares the connection from the moment
// before until no program uses it. ready is called when programs can ask for it. If another process owns
// the connection, it does nothing.
func Own(ctx context.Context, folder, product string, ready func() error, log *slog.Logger) (err error) {
	p, err := Browser{product, []string{folder}}.choose()
	if err != nil {
		return err
	}
	path, err := fileOf(p.folder, "lock")
	if err != nil {
		return err
	}
	lock := flock.New(path, flock.SetPermissions(0o600))
	locked, err := trusted.Lock(lock, lock.TryLock)
	switch {
	case err != nil:
		return fmt.Errorf("lock the connection to %s: %w", p.Name(), err)
	case !locked:
		return ready()
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	if path, err = fileOf(p.folder, "sock"); err != nil {
		return err
	}
	listener, err := usersocket.Listen(path)
	if err != nil {
		return fmt.Errorf("share the connection to %s: %w", p.Name(), err)
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	w := &owner{end: end, state: report{PID: os.Getpid(), Profile: p.folder, Browser: p.Name()}}
	unused := time.AfterFunc(firstUse, func() { w.use(0) })
	defer unused.Stop()
	mux := http.NewServeMux()
	mux.HandleFunc(browserPath, w.respond)
	mux.HandleFunc(usePath, func(out http.ResponseWriter, r *http.Request) {
		unused.Stop()
		w.use(1)
		defer w.use(-1)
		w.respond(out, r)
	})
	mux.HandleFunc(tabsPath, w.tabs)
	mux.HandleFunc(handOverPath, w.change((*partial.Browser).HandOver))
	mux.HandleFunc(takeBackPath, w.change((*partial.Browser).TakeBack))
	w.server = &http.Server{Handler: mux, ReadHeaderTimeout: probeTimeout}
	served := make(chan error, 1)
	go serveUsers(w.server, listener, served)
	defer w.release(served)
	if err := ready(); err != nil {
		return err
	}
	o, err := connect(ctx, p, func() { w.set(func(r *report) { r.Asking = true }) }, log)
	if err != nil {
		w.set(func(r *report) {
			r.Asking, r.Ended = false, true
			if ctx.Err() == nil {
				r.Error, r.Refused = err.Error(), errors.Is(err, ErrRefused)
			}
		})
		return nil // whoever waits has the error
	}
	w.mu.Lock()
	w.part = o.part
	w.mu.Unlock()
	w.set(func(r *report) { r.Asking, r.URL = false, o.URL() })
	select {
	case <-o.Done():
	case <-ctx.Done():
	}
	w.set(func(r *report) {
		r.Ended, r.URL = true, ""
		if err := o.Err(); err != nil {
			r.Error = err.Error()
		}
	})
	o.close()
	return nil
}

func serveUsers(server *http.Server, listener net.Listener, served chan<- error) {
	served <- server.Serve(listener)
}

// use counts the programs that use the connection, and ends it with the last one.
func (w *owner) use(change int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.users += change; w.users == 0 {
		w.state.Ended = true // so that nobody joins what ends
		w.changed.Notify()
		w.end()
	}
}

func (w *owner) set(change func(*report)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.state)
	w.changed.Notify()
}

// release ends the responses when the others have read what they end with.
func (w *owner) release(served <-chan error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = w.server.Shutdown(ctx) // who has not read it by then sees that the connection ends
	w.server.Close()
	<-served
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
