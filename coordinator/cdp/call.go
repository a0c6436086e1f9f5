package cdp

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/target"
)

// Pending is a command that was sent and whose reply has not been awaited yet. The next
// command can be sent at once; the browser keeps the order.
type Pending struct {
	conn    *Conn
	id      int64
	method  string
	session target.SessionID
	done    chan reply // holds at most the one reply
}

type reply struct {
	result jsonv2.Value
	err    error
}

// finish is called once, by the function that removed the call from Conn.pending.
func (p *Pending) finish(r reply) { p.done <- r }

// start registers and queues a command.
func (c *Conn) start(ctx context.Context, session *Session, method string, params any) (*Pending, error) {
	p := &Pending{conn: c, id: c.lastID.Add(1), method: method, session: session.id, done: make(chan reply, 1)}
	message, err := jsonv2.Marshal(command{p.id, method, session.id, params}, lenient)
	if err != nil {
		return nil, fmt.Errorf("%s: encode the parameters: %w", method, err)
	}
	c.mu.Lock()
	err = cmp.Or(c.err, session.err)
	if err == nil {
		c.pending[p.id] = p
	}
	c.mu.Unlock()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	select {
	case c.out <- message:
		return p, nil
	case r := <-p.done: // the connection or session ended meanwhile
		return nil, fmt.Errorf("%s: %w", method, r.err)
	case <-ctx.Done():
		p.abandon()
		return nil, fmt.Errorf("%s: %w", method, context.Cause(ctx))
	}
}

// command is a message to the browser. Chromium refuses other keys at the top level.
type command struct {
	ID        int64            `json:"id"`
	Method    string           `json:"method"`
	SessionID target.SessionID `json:"sessionId,omitempty"`
	Params    any              `json:"params,omitzero"`
}

// Wait waits for the reply and decodes its result, unless result is nil. It may
// be called once.
func (p *Pending) Wait(ctx context.Context, result any) error {
	var r reply
	select {
	case r = <-p.done:
	default:
		if _, bounded := ctx.Deadline(); !bounded {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeoutCause(ctx, p.conn.opts.CallTimeout, ErrTimeout)
			defer cancel()
		}
		select {
		case r = <-p.done:
		case <-ctx.Done():
			p.abandon()
			return fmt.Errorf("%s: %w", p.method, context.Cause(ctx))
		}
	}
	if r.err != nil {
		if e, ok := r.err.(*Error); ok {
			e.Method = p.method
			return e
		}
		return fmt.Errorf("%s: %w", p.method, r.err)
	}
	if result == nil || len(r.result) == 0 {
		return nil
	}
	if err := jsonv2.Unmarshal(r.result, result, lenient); err != nil {
		return fmt.Errorf("%s: decode the result: %w", p.method, err)
	}
	return nil
}

// abandon forgets a call; a late reply is then dropped.
func (p *Pending) abandon() {
	p.conn.mu.Lock()
	delete(p.conn.pending, p.id)
	p.conn.mu.Unlock()
}

// answer hands a reply to its call.
func (c *Conn) answer(m *envelope) {
	c.mu.Lock()
	p := c.pending[m.ID]
	delete(c.pending, m.ID)
	c.mu.Unlock()
	if p == nil {
		c.opts.Logger.Debug("cdp: late reply dropped", "id", m.ID)
		return
	}
	if m.Error != nil {
		data := strings.Trim(string(m.Error.Data), `"`)
		p.finish(reply{err: &Error{Code: m.Error.Code, Message: m.Error.Message, Data: data}})
		return
	}
	if p.method == target.CommandAttachToTarget {
		var attached target.AttachToTargetResult
		if err := jsonv2.Unmarshal(m.Result, &attached, lenient); err == nil {
			c.beginSession(attached.SessionID)
		}
	}
	p.finish(reply{result: m.Result})
}
