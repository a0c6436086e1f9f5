package cdp

import (
	"fmt"
	"slices"

	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/target"
)

// Event is one event as the browser sent it.
type Event struct {
	SessionID target.SessionID // empty: browser level
	Method    string
	Params    jsonv2.Value    // shared by all subscribers: must not be changed
	Mark      chan<- struct{} // set on a mark of the subscription's own, see Subscription.Mark
}

// Decode reads the parameters into v, tolerating page text that is not valid
// UTF-8.
func (e Event) Decode(v any) error {
	if err := jsonv2.Unmarshal(e.Params, v, lenient); err != nil {
		return fmt.Errorf("decode %s: %w", e.Method, err)
	}
	return nil
}

// Subscription is a bounded queue of events. Its channel is closed when the
// owner closes it, the session or connection ends, or the queue overflows.
type Subscription struct {
	conn    *Conn
	session *target.SessionID // nil: every session
	methods []string          // empty: every method
	events  chan Event
	err     error // guarded by conn.mu
	stopped bool  // guarded by conn.mu
}

// C returns the events in the order in which they came.
func (s *Subscription) C() <-chan Event { return s.events }

// Err returns why the channel was closed; nil while it is open and after Close.
func (s *Subscription) Err() error {
	s.conn.mu.Lock()
	defer s.conn.mu.Unlock()
	return s.err
}

// Close ends the subscription; queued events can still be read.
func (s *Subscription) Close() {
	s.conn.mu.Lock()
	defer s.conn.mu.Unlock()
	delete(s.conn.subs, s)
	s.stop(nil)
}

// Mark queues an event that carries the channel, after all events so far. The reader
// closes the channel when it has handled those. Mark returns false when the subscription
// has ended or is full.
func (s *Subscription) Mark(done chan<- struct{}) bool {
	s.conn.mu.Lock()
	defer s.conn.mu.Unlock()
	return !s.stopped && s.offer(Event{Mark: done})
}

// stop closes the channel once; conn.mu is held.
func (s *Subscription) stop(reason error) {
	if s.stopped {
		return
	}
	s.stopped, s.err = true, reason
	close(s.events)
}

// offer queues an event without waiting; false when the queue is full.
func (s *Subscription) offer(e Event) bool {
	select {
	case s.events <- e:
		return true
	default:
		return false
	}
}

func (s *Subscription) matches(e Event) bool {
	return (s.session == nil || *s.session == e.SessionID) &&
		(len(s.methods) == 0 || slices.Contains(s.methods, e.Method))
}

func (c *Conn) listen(session *target.SessionID, methods []string) *Subscription {
	s := &Subscription{conn: c, session: session, methods: methods, events: make(chan Event, c.opts.QueueSize)}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.err != nil:
		s.stop(c.err)
	case s.session != nil && *s.session != "" && c.sessions[*s.session] == nil:
		s.stop(ErrSessionGone)
	default:
		c.subs[s] = struct{}{}
	}
	return s
}

// event queues an event for every subscription to it. It registers a session before, and ends one
// after that.
func (c *Conn) event(e Event) {
	if e.Method == "Target.attachedToTarget" {
		var attached target.EventAttachedToTarget
		if err := e.Decode(&attached); err != nil {
			c.opts.Logger.Error("cdp: unreadable event", "err", err)
		}
		c.beginSession(attached.SessionID)
	}
	c.mu.Lock()
	for s := range c.subs {
		if s.matches(e) && !s.offer(e) {
			delete(c.subs, s)
			s.stop(fmt.Errorf("%w at %s, %d events unread", ErrOverflow, e.Method, c.opts.QueueSize))
			c.opts.Logger.Error("cdp: a subscription was ended: its events were not read in time",
				"method", e.Method, "session", e.SessionID, "unread", c.opts.QueueSize)
		}
	}
	// In the same step: a call that a reader of the event begins must not end with this
	// crash.
	if e.Method == "Inspector.targetCrashed" {
		c.failLocked(e.SessionID, ErrTargetCrashed)
	}
	c.mu.Unlock()
	if e.Method != "Target.detachedFromTarget" {
		return
	}
	var detached target.EventDetachedFromTarget
	if err := e.Decode(&detached); err != nil {
		c.opts.Logger.Error("cdp: unreadable event", "err", err)
		return
	}
	c.endSession(detached.SessionID)
}
