package cdp

import (
	"context"
	"fmt"
	"strconv"
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
	encoded, err := encodeParams(params)
	if err != nil {
		return nil, fmt.Errorf("%s: encode the parameters: %w", method, err)
	}
	p := &Pending{conn: c, method: method, session: session.id, done: make(chan reply, 1)}
	c.mu.Lock()
	err = c.err
	if err == nil {
		err = session.err
	}
	if err == nil {
		c.nextID++
		p.id = c.nextID
		c.pending[p.id] = p
	}
	c.mu.Unlock()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	select {
	case c.out <- message(p, encoded):
		return p, nil
	case r := <-p.done: // the connection or session ended meanwhile
		return nil, fmt.Errorf("%s: %w", method, r.err)
	case <-ctx.Done():
		p.abandon()
		return nil, fmt.Errorf("%s: %w", method, context.Cause(ctx))
	}
}

func encodeParams(params any) ([]byte, error) {
	if params == nil {
		return nil, nil
	}
	return jsonv2.Marshal(params, lenient)
}

// message writes the command with the id first, as every client does; Chromium
// refuses unknown top-level keys.
func message(p *Pending, params []byte) []byte {
	b := make([]byte, 0, len(params)+len(p.method)+len(p.session)+64)
	b = append(b, `{"id":`...)
	b = strconv.AppendInt(b, p.id, 10)
	b = append(b, `,"method":`...)
	b = strconv.AppendQuote(b, p.method)
	if p.session != "" {
		b = append(b, `,"sessionId":`...)
		b = strconv.AppendQuote(b, string(p.session))
	}
	if len(params) > 0 {
		b = append(b, `,"params":`...)
		b = append(b, params...)
	}
	return append(b, '}')
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
		p.finish(reply{err: &Error{Code: m.Error.Code, Message: m.Error.Message, Data: strings.Trim(string(m.Error.Data), `"`)}})
		return
	}
	p.finish(reply{result: m.Result})
}
