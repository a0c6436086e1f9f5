package cdp

import (
	"cmp"
	"context"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/target"
)

var (
	_ protocol.Session = (*Conn)(nil)
	_ protocol.Session = (*Session)(nil)
)

// Session is one flat session of a connection. It ends with its target or with
// the connection.
type Session struct {
	conn *Conn
	id   target.SessionID
	done chan struct{}
	err  error // guarded by conn.mu
}

// Session returns the session with that id, from a Target.attachedToTarget event or a reply of
// Target.attachToTarget. The same id gives the same Session, until that has ended: then it gives
// one that has ended.
func (c *Conn) Session(id target.SessionID) *Session {
	if id == "" {
		return c.root
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.sessions[id]; s != nil {
		return s
	}
	s := &Session{conn: c, id: id, done: make(chan struct{})}
	s.stop(cmp.Or(c.err, ErrSessionGone))
	return s
}

// beginSession registers a session. The reader of the connection calls it in the order in which
// the browser sent that the session has begun and ended.
func (c *Conn) beginSession(id target.SessionID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if id != "" && c.err == nil && c.sessions[id] == nil {
		c.sessions[id] = &Session{conn: c, id: id, done: make(chan struct{})}
	}
}

// Attach opens a flat session to a target.
func (c *Conn) Attach(ctx context.Context, id target.ID) (*Session, error) {
	params := target.AttachToTargetParams{TargetID: id, Flatten: new(true)}
	r, err := protocol.Call(ctx, c, target.AttachToTarget, params)
	if err != nil {
		return nil, err
	}
	return c.Session(r.SessionID), nil
}

// ID returns the session's id; empty for the browser-level session.
func (s *Session) ID() target.SessionID { return s.id }

// Done is closed when the session or the connection has ended.
func (s *Session) Done() <-chan struct{} { return s.done }

// Err returns why the session ended; nil while it lives.
func (s *Session) Err() error {
	s.conn.mu.Lock()
	defer s.conn.mu.Unlock()
	return s.err
}

// stop ends the session once; conn.mu is held.
func (s *Session) stop(reason error) {
	if s.err == nil {
		s.err = reason
		close(s.done)
	}
}

// Call runs a command and decodes its result, unless result is nil.
func (s *Session) Call(ctx context.Context, method string, params, result any) error {
	p, err := s.conn.start(ctx, s, method, params)
	if err != nil {
		return err
	}
	return p.Wait(ctx, result)
}

// Start sends a command without waiting for its reply.
func (s *Session) Start(ctx context.Context, method string, params any) (*Pending, error) {
	return s.conn.start(ctx, s, method, params)
}

// Subscribe completes the Session interface of cdproto. Its channel is closed and has no
// events: use Listen, which reports why a subscription has ended.
func (s *Session) Subscribe(string) (events <-chan jsonv2.Value, cancel func()) {
	none := make(chan jsonv2.Value)
	close(none)
	return none, func() {}
}

// Listen subscribes to the session's events of these methods; none means all.
func (s *Session) Listen(methods ...string) *Subscription {
	return s.conn.listen(&s.id, methods)
}

// Call runs a browser-level command.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	return c.root.Call(ctx, method, params, result)
}

// Start sends a browser-level command without waiting for its reply.
func (c *Conn) Start(ctx context.Context, method string, params any) (*Pending, error) {
	return c.root.Start(ctx, method, params)
}

// Subscribe completes the Session interface of cdproto, see Session.Subscribe.
func (c *Conn) Subscribe(method string) (events <-chan jsonv2.Value, cancel func()) {
	return c.root.Subscribe(method)
}

// Listen subscribes to browser-level events of these methods; none means all.
func (c *Conn) Listen(methods ...string) *Subscription { return c.root.Listen(methods...) }

// ListenAll subscribes to the events of every session, in the order in which
// the browser sent them; no methods means all.
func (c *Conn) ListenAll(methods ...string) *Subscription { return c.listen(nil, methods) }

// endSession fails the open calls of a session that was detached.
func (c *Conn) endSession(id target.SessionID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sessions[id]
	delete(c.sessions, id)
	if s != nil {
		s.stop(ErrSessionGone)
	}
	c.failLocked(id, ErrSessionGone)
	for sub := range c.subs {
		if sub.session != nil && *sub.session == id {
			delete(c.subs, sub)
			sub.stop(ErrSessionGone)
		}
	}
}

// failLocked fails the open calls of a session whose target is gone or has crashed. After
// a crash the session stays, since a reload revives the target in it. mu is held.
func (c *Conn) failLocked(id target.SessionID, reason error) {
	for n, p := range c.pending {
		if p.session == id {
			delete(c.pending, n)
			p.finish(reply{err: reason})
		}
	}
}
