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
	Hello     Hello // of the connection that there was last; zero before the first
	State     State // the last one received
	Err       error // why it is not connected; nil before the first attempt's end
}

// Watcher keeps up with one window: it dials again when the connection is lost,
// after growing delays or at once when a caller needs the window, and resumes
// its subscription where it was (spec 9). It stops when closed, so a program
// that no longer needs the window costs it nothing.
type Watcher struct {
	address Address
	dial    DialOptions
	log     *slog.Logger
	needs   chan chan<- reply // a call that needs the window now
	wake    chan struct{}     // holds one token when the pause is to end
	ctx     context.Context
	cancel  context.CancelFunc
	ended   chan struct{}

	last Resume // the event seen last; used by run only

	// mu guards what follows.
	mu       sync.Mutex
	snapshot Snapshot
	changed  notify.Broadcast // of snapshot
	attempt  *attempt         // that is under way or about to be; nil while connected, and in a pause
	again    *attempt         // that was wanted while the other was under way, and follows it if that fails
}

// attempt is one dial, from the moment when it is wanted.
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

// Watch begins to watch the window at an address, which need not be there yet.
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

// Snapshot gives what is known now, and a channel that is closed when that
// changes.
func (w *Watcher) Snapshot() (Snapshot, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.snapshot, w.changed.Next()
}

// Client gives the live connection, which belongs to the watcher. Where there is
// none it is dialed at once, without waiting for the delay; the error is why that
// failed.
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

// Retry has a window that is not connected dialed now, whatever pause is on, and
// does not wait for it. The channel is closed when that attempt has ended, and the
// snapshot has its result. Where one is under way, which may have found what
// is no longer there, another follows if it fails; began is when the first of them
// did. Of a window that is connected there is none to wait for: the channel is closed.
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

// want makes an attempt the next, without a pause. w.mu is held.
func (w *Watcher) want(a *attempt) {
	w.attempt = a
	select {
	case w.wake <- struct{}{}:
	default: // it has a token from before
	}
}

// begin begins the attempt that is wanted, or a new one.
func (w *Watcher) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.attempt == nil {
		w.attempt = newAttempt()
	}
	w.attempt.dialing = true
}

// end ends the attempt, if there is one, with the result in the snapshot.
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

// pause waits until it is time for the next attempt, or a caller needs the window:
// it returns all such callers.
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

// open dials and subscribes, resuming where the last connection was.
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
				// To keep the state from before could allow what is allowed no longer.
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
		return nil // not known to this version (spec 4)
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
