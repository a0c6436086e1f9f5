package vscodeipc

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"browser-coordinator/internal/notify"
)

// WatchOptions are the options of Watch; nil means the defaults.
type WatchOptions struct {
	Dial DialOptions
}

// Snapshot is what a watcher knows of its window.
type Snapshot struct {
	Connected bool
	Hello     Hello // of the last connection; zero before the first
	State     State // the last one received
	Err       error // why it is not connected; nil until the first attempt has ended
}

// Watcher stays connected to one window (spec 9). When the connection ends it dials
// again, with growing pauses, or at once if a caller needs the window. It resumes its
// subscription after the last event. A closed watcher no longer dials.
type Watcher struct {
	address Address
	dial    DialOptions
	log     *slog.Logger
	needs   chan chan<- reply // a call that needs the window now
	wake    chan struct{}     // holds one token when the pause must end
	ctx     context.Context
	cancel  context.CancelFunc
	ended   chan struct{}

	last Resume // the event seen last; used by run only

	// mu guards the fields that follow.
	mu       sync.Mutex
	snapshot Snapshot
	changed  notify.Broadcast // of snapshot
	attempt  *attempt         // in progress or next; nil while connected, and in a pause
	again    *attempt         // requested during attempt; follows it if that fails
}

// attempt is one dial, from the moment of the request.
type attempt struct {
	began   time.Time
	dialing bool
	ended   chan struct{}
}

func newAttempt() *attempt { return &attempt{began: time.Now(), ended: make(chan struct{})} }

type reply struct {
	client *Client
	err    error
}

// Watch begins to watch the window at an address. The window need not exist yet.
func Watch(a Address, o *WatchOptions) *Watcher {
	w := &Watcher{
		address: a, needs: make(chan chan<- reply), wake: make(chan struct{}, 1),
		ended: make(chan struct{}), attempt: newAttempt(),
	}
	if o != nil {
		w.dial = o.Dial
	}
	if w.log = w.dial.Logger; w.log == nil {
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

// Client returns the live connection, which belongs to the watcher. Without one it dials
// at once, without the pause; the error is why that failed.
func (w *Watcher) Client(ctx context.Context) (*Client, error) {
	answer := make(chan reply, 1)
	select {
	case w.needs <- answer:
	case <-w.ctx.Done():
		return nil, fmt.Errorf("reach the window at %s: %w", w.address, ErrClosed)
	case <-ctx.Done():
		return nil, fmt.Errorf("reach the window at %s: %w", w.address, ctx.Err())
	}
	select {
	case r := <-answer:
		return r.client, r.err
	case <-w.ended:
		return nil, fmt.Errorf("reach the window at %s: %w", w.address, ErrClosed)
	case <-ctx.Done():
		return nil, fmt.Errorf("reach the window at %s: %w", w.address, ctx.Err())
	}
}

// Retry dials a window that is not connected at once, without the pause, and does not
// wait for the result. The channel is closed when the attempt has ended and its result
// is in the snapshot.
//
// An attempt in progress may have found an outdated state, so another follows if it
// fails; began is when the first of them began. For a connected or closed watcher the
// channel is already closed.
func (w *Watcher) Retry() (ended <-chan struct{}, began time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.attempt == nil {
		a := newAttempt()
		if w.snapshot.Connected || w.ctx.Err() != nil {
			close(a.ended)
			return a.ended, a.began
		}
		w.want(a)
	}
	a := w.attempt
	if a.dialing {
		if w.again == nil {
			w.again = newAttempt()
		}
		a = w.again
	}
	return a.ended, w.attempt.began
}

// want makes a the next attempt, without a pause. The caller holds w.mu.
func (w *Watcher) want(a *attempt) {
	w.attempt = a
	select {
	case w.wake <- struct{}{}:
	default: // it already has a token
	}
}

// begin begins the requested attempt, or a new one.
func (w *Watcher) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.attempt == nil {
		w.attempt = newAttempt()
	}
	w.attempt.dialing = true
}

// end ends the current attempt, if any. Its result is in the snapshot.
func (w *Watcher) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.attempt == nil {
		return
	}
	close(w.attempt.ended)
	next := w.again
	w.attempt, w.again = nil, nil
	switch {
	case next == nil:
	case w.snapshot.Connected, w.ctx.Err() != nil:
		close(next.ended)
	default:
		w.want(next)
	}
}

// Close ends the watcher and its connection, and waits for both.
func (w *Watcher) Close() error {
	w.cancel()
	<-w.ended
	return nil
}

// run is owned by the watcher and ends with its context.
func (w *Watcher) run() {
	defer close(w.ended)
	defer w.end()
	pauses := newBackoff()
	var waiting []chan<- reply
	for w.ctx.Err() == nil {
		w.begin()
		c, events, err := w.open()
		for _, answer := range waiting {
			answer <- reply{c, err}
		}
		waiting = nil
		if err == nil {
			w.end()
			pauses.Reset()
			w.follow(c, events)
			c.Close()
			err = c.Err()
		}
		w.change(func(s *Snapshot) { s.Connected, s.Err = false, err })
		w.end()
		w.log.Debug("window is not connected", "address", w.address, "error", err)
		waiting = w.pause(pauses.Next())
	}
}

// pause waits until the next attempt is due or a caller needs the window. It returns all
// such callers.
func (w *Watcher) pause(d time.Duration) (waiting []chan<- reply) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case answer := <-w.needs:
		waiting = append(waiting, answer)
	case <-w.wake:
	case <-timer.C:
	case <-w.ctx.Done():
	}
	for {
		select {
		case answer := <-w.needs:
			waiting = append(waiting, answer)
		default:
			return waiting
		}
	}
}

// open dials and subscribes, resuming after the last event.
func (w *Watcher) open() (*Client, <-chan Event, error) {
	c, err := Dial(w.ctx, w.address, &w.dial)
	if err != nil {
		return nil, nil, err
	}
	var resume *Resume
	if w.last.Session == c.Hello().Session {
		resume = &w.last
	}
	first, events, err := c.Listen(w.ctx, resume)
	if err != nil {
		c.Close()
		return nil, nil, err
	}
	if !first.Resumed {
		w.last = Resume{first.Session, first.Seq}
	}
	w.change(func(s *Snapshot) {
		s.Connected, s.Hello, s.Err = true, c.Hello(), nil
		if first.State != nil {
			s.State = *first.State
		}
	})
	return c, events, nil
}

// follow keeps the snapshot up to date until the connection ends.
func (w *Watcher) follow(c *Client, events <-chan Event) {
	for {
		select {
		case e, ok := <-events:
			if !ok {
				return
			}
			if err := w.note(e); err != nil {
				// A kept state could allow what the user no longer allows.
				c.fail(err)
				return
			}
		case answer := <-w.needs:
			answer <- reply{client: c}
		case <-w.ctx.Done():
			return
		}
	}
}

func (w *Watcher) note(e Event) error {
	if e.Type != "state" {
		return nil // unknown to this version (spec 4)
	}
	var state State
	err := decodeStrict(e.Payload, &state)
	if err == nil {
		err = state.accept()
	}
	if err != nil {
		return fmt.Errorf("read the state of event %d: %w", e.Seq, err)
	}
	w.last.Seq = e.Seq
	w.change(func(s *Snapshot) { s.State = state })
	return nil
}

func (w *Watcher) change(update func(*Snapshot)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	update(&w.snapshot)
	w.changed.Notify()
}
