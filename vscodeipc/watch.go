package vscodeipc

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"browser-coordinator/internal/backoff"
	"browser-coordinator/internal/notify"
)

// Snapshot is what a watcher knows of its window.
type Snapshot struct {
	Connected bool
	Hello           // of the last connection, with the last state; empty before the first
	Err       error // why it is not connected; nil until the first attempt has ended
}

// Watcher stays connected to one window (spec 9). When the connection ends it dials
// again, with growing pauses, or at once if a caller needs the window. A closed watcher no
// longer dials.
type Watcher struct {
	address Address
	dial    DialOptions
	log     *slog.Logger
	ctx     context.Context
	cancel  context.CancelFunc
	done    chan struct{}

	// mu guards the fields that follow.
	mu        sync.Mutex
	snapshot  Snapshot
	changed   notify.Broadcast // of snapshot
	client    *client          // nil while not connected
	current   *attempt         // in progress, or nil
	next      *attempt         // requested, or nil; it follows current if that fails
	requested notify.Broadcast // that there is a next one
}

// attempt is one dial, from the moment of the request.
type attempt struct {
	start time.Time
	done  chan struct{}
}

func newAttempt() *attempt { return &attempt{time.Now(), make(chan struct{})} }

// newBackoff returns the pauses of the window protocol: 1, 2, 4, 8, 16, then 30 s, each
// up to 20 % shorter or longer.
func newBackoff() backoff.Backoff {
	return backoff.Backoff{First: time.Second, Max: 30 * time.Second, Jitter: 0.2}
}

// Watch begins to watch the window at an address. The window need not exist yet.
func Watch(a Address, o DialOptions) *Watcher {
	w := &Watcher{address: a, dial: o, log: o.Logger, done: make(chan struct{}), next: newAttempt()}
	if w.log == nil {
		w.log = discard
	}
	w.snapshot.State = State{}.normal()
	w.ctx, w.cancel = context.WithCancel(context.Background())
	go w.run()
	return w
}

// Snapshot returns the current snapshot, and a channel that is closed at the next
// change.
func (w *Watcher) Snapshot() (Snapshot, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.snapshot, w.changed.Next()
}

// Call runs one of the window's commands and stores its result in the value that result
// points to, unless result is nil. Without a connection it dials at once. Its only
// deadline is the context's, since the user may have to answer. When the context ends,
// the call is also cancelled in the window.
func (w *Watcher) Call(ctx context.Context, command string, arg, result any) error {
	c, err := w.connection(ctx)
	if err != nil {
		return err
	}
	return c.call(ctx, command, arg, result)
}

// connection returns the connection. Without one it dials at once; the error is why that
// failed.
func (w *Watcher) connection(ctx context.Context) (*client, error) {
	ended, _ := w.Retry()
	select {
	case <-ended:
	case <-ctx.Done():
		return nil, fmt.Errorf("reach the window at %s: %w", w.address, ctx.Err())
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.ctx.Err() != nil:
		return nil, fmt.Errorf("reach the window at %s: %w", w.address, errClosed)
	case w.client == nil:
		return nil, w.snapshot.Err
	}
	return w.client, nil
}

// Retry dials a window that is not connected at once, without the pause, and does not
// wait for the result. The channel is closed when the attempt has ended and its result
// is in the snapshot.
//
// An attempt in progress may have found an outdated state, so another follows if it
// fails; began is when the first of them began. For a connected or closed watcher the
// channel is already closed.
func (w *Watcher) Retry() (ended <-chan struct{}, startTime time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.next == nil {
		w.next = newAttempt()
		w.requested.Notify()
	}
	ended, startTime = w.next.done, w.next.start
	if w.current != nil {
		startTime = w.current.start
	}
	if w.client != nil || w.ctx.Err() != nil {
		w.settle(&w.next)
	}
	return ended, startTime
}

// settle ends an attempt, if there is one. The caller holds w.mu.
func (w *Watcher) settle(a **attempt) {
	if *a != nil {
		close((*a).done)
		*a = nil
	}
}

// Close ends the watcher and its connection, and waits for both.
func (w *Watcher) Close() error {
	w.cancel()
	<-w.done
	return nil
}

// run is owned by the watcher and ends with its context.
func (w *Watcher) run() {
	defer close(w.done)
	defer w.set(nil, func(*Snapshot) {}) // ends what is requested
	pauses := newBackoff()
	for w.ctx.Err() == nil {
		w.mu.Lock()
		w.current, w.next = w.next, nil
		if w.current == nil {
			w.current = newAttempt()
		}
		w.mu.Unlock()
		c, err := w.open()
		if err == nil {
			pauses.Reset()
			w.follow(c)
			c.close()
			err = c.err
		}
		w.set(nil, func(s *Snapshot) { s.Connected, s.Err = false, err })
		w.log.Debug("window is not connected", "address", w.address, "error", err)
		w.pause(pauses.Next())
	}
}

// set changes the connection and the snapshot, and ends the attempts that have their
// result by that.
func (w *Watcher) set(c *client, update func(*Snapshot)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.client = c
	update(&w.snapshot)
	w.changed.Notify()
	w.settle(&w.current)
	if c != nil || w.ctx.Err() != nil {
		w.settle(&w.next)
	}
}

// pause waits until the next attempt is due or requested.
func (w *Watcher) pause(d time.Duration) {
	w.mu.Lock()
	requested, wanted := w.next != nil, w.requested.Next()
	w.mu.Unlock()
	if requested {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-wanted:
	case <-timer.C:
	case <-w.ctx.Done():
	}
}

// open connects, for follow.
func (w *Watcher) open() (*client, error) {
	c, err := subscribe(w.ctx, w.address, w.dial)
	if err != nil {
		return nil, fmt.Errorf("dial the window at %s: %w", w.address, err)
	}
	w.set(c, func(s *Snapshot) { s.Connected, s.Hello, s.Err = true, c.hello, nil })
	return c, nil
}

// follow keeps the snapshot up to date until the connection ends.
func (w *Watcher) follow(c *client) {
	for {
		select {
		case e, ok := <-c.events:
			if !ok {
				return
			}
			if err := w.note(c, e); err != nil {
				// A kept state could allow what the user no longer allows.
				c.fail(err)
				return
			}
		case <-w.ctx.Done():
			return
		}
	}
}

func (w *Watcher) note(c *client, e event) error {
	if e.kind != "state" {
		return nil // unknown to this version (spec 4)
	}
	var state State
	err := decodeStrict(e.payload, &state)
	if err == nil {
		err = state.accept()
	}
	if err != nil {
		return fmt.Errorf("read the state of event %d: %w", e.seq, err)
	}
	w.set(c, func(s *Snapshot) { s.State = state })
	return nil
}
