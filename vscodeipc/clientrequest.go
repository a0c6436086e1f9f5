package vscodeipc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// request sends one request and waits for its response. Without a deadline in the
// context it waits for at most limit, if that is not 0.
func (c *Client) request(ctx context.Context, limit time.Duration, kind string, payload, result any) error {
	w := c.waiters.Get().(*waiter)
	n, err := c.expect(w)
	if err != nil {
		return err
	}
	var late <-chan time.Time
	if _, given := ctx.Deadline(); !given && limit > 0 {
		w.timer.Reset(limit)
		defer w.timer.Stop()
		late = w.timer.C
	}
	line, err := encodeRequest(w.line, n, kind, c.version, payload)
	if err == nil {
		err = c.write(ctx, limit, line)
	}
	if err != nil {
		c.forget(n)
		return err
	}
	select {
	case a := <-w.answer:
		if cap(line) <= keepLine {
			w.line = line
		}
		c.waiters.Put(w) // it has no other user
		return a.into(result)
	case <-late:
		err = context.DeadlineExceeded
	case <-ctx.Done():
		err = ctx.Err()
	}
	c.forget(n)
	c.sendCancel(n)
	return fmt.Errorf("wait for the window's answer to %s: %w", kind, err)
}

// waiter is where a request waits for its response, or for the end of the connection.
// Afterwards it may be used again.
type waiter struct {
	answer chan answer // with room for its only response
	timer  *time.Timer
	line   []byte // memory for the request
}

// keepLine limits the memory that a waiter keeps.
const keepLine = 4 << 10

func newWaiter() any {
	w := &waiter{make(chan answer, 1), time.NewTimer(time.Hour), make([]byte, 0, 128)}
	w.timer.Stop()
	return w
}

// expect assigns a request its number, and registers the waiter for its response.
func (c *Client) expect(w *waiter) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, fmt.Errorf("the connection ended: %w", c.err)
	}
	c.next++
	c.waiting[c.next] = w
	return c.next, nil
}

func (a answer) into(result any) error {
	if a.ended != nil {
		return fmt.Errorf("the connection ended: %w", a.ended)
	}
	if a.fault != nil {
		return a.fault
	}
	if result == nil {
		return nil
	}
	if err := decodeStrict(a.payload, result); err != nil {
		return fmt.Errorf("read the window's answer: %w", err)
	}
	return nil
}

func (c *Client) forget(n int64) {
	c.mu.Lock()
	delete(c.waiting, n)
	c.mu.Unlock()
}

// sendCancel cancels a request in the window. The client drops the response to that.
func (c *Client) sendCancel(n int64) {
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	c.mu.Lock()
	c.next++
	own := c.next
	c.mu.Unlock()
	if line, err := encodeRequest(nil, own, "cancel", c.version, cancelRequest{intID(n)}); err == nil {
		c.write(ctx, 0, line) // on failure the window does not read, or has gone
	}
}

// write sends one line whole. Before its first byte is sent, the write can be cancelled,
// also after limit (if that is not 0), and the connection stays usable. After the first
// byte the caller's context no longer counts: the window would read the next line as the
// rest of this one. The rest must be sent within requestTime, or the connection ends.
func (c *Client) write(ctx context.Context, limit time.Duration, line []byte) error {
	select {
	case c.turn <- struct{}{}:
	default:
		var cancel context.CancelFunc
		ctx, cancel = within(ctx, limit)
		defer cancel()
		select {
		case c.turn <- struct{}{}:
		case <-c.done:
			return fmt.Errorf("the connection ended: %w", c.Err())
		case <-ctx.Done():
			return fmt.Errorf("wait to write to the window: %w", ctx.Err())
		}
	}
	defer func() { <-c.turn }()
	sent := c.try(line)
	if sent == len(line) {
		return nil
	}
	ctx, cancel := within(ctx, limit)
	defer cancel()
	return c.finish(ctx, line, sent)
}

// within adds limit, if that is not 0, to a context that has no deadline.
func within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if _, given := ctx.Deadline(); given || limit == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, limit)
}

// finish writes a line of which some bytes, or none, are sent. The caller has the turn.
func (c *Client) finish(ctx context.Context, line []byte, sent int) error {
	limit := time.Now().Add(requestTime)
	c.conn.SetWriteDeadline(limit)
	defer c.conn.SetWriteDeadline(time.Time{}) // otherwise the next write would time out
	var err error
	if sent == 0 {
		sent, err = c.begin(ctx, line)
		if sent == 0 && isTimeout(err) {
			return fmt.Errorf("write to the window, which does not read: %w", cmp.Or(ctx.Err(), context.DeadlineExceeded))
		}
	}
	if sent > 0 && sent < len(line) {
		c.conn.SetWriteDeadline(limit)
		_, err = c.conn.Write(line[sent:])
	}
	switch {
	case err == nil:
		return nil
	case isTimeout(err):
		c.fail(fmt.Errorf("write to the window: %w", err))
	}
	// The window may have sent a reason before it closed: prefer that.
	return fmt.Errorf("write to the window: %w", c.reason(err))
}

// begin writes until the context ends.
func (c *Client) begin(ctx context.Context, line []byte) (int, error) {
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		c.conn.SetWriteDeadline(time.Unix(1, 0))
		close(stopped)
	})
	n, err := c.conn.Write(line)
	if !stop() {
		<-stopped // afterwards it sets no deadline
	}
	return n, err
}

// reason returns the window's reason for the end of the connection, which the read loop
// may still have to read. Without one it returns err.
func (c *Client) reason(err error) error {
	select {
	case <-c.done:
		return c.Err()
	case <-time.After(100 * time.Millisecond):
		c.fail(err)
		return err
	}
}

func isTimeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}
