package cdpproxy

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// downstream is the stream to the client: the browser's bytes and, between two of
// their frames, messages of the endpoint itself.
type downstream struct {
	messages *atomic.Uint64 // the browser's so far

	mu        sync.Mutex // guards the fields that follow
	out       *sender
	frames    frameScanner
	pending   [][]byte // our own frames, until the browser's frame ends
	waiting   int      // bytes in pending
	failed    bool     // the client's stream is broken
	noClose   bool     // the client cannot read close frames
	tapReader tapReader
	// attached knows the targets of sessions; nil without a rule.
	attached *attached
}

// relay forwards the browser's bytes; with last set, only to the end of the current
// frame. drained reports that nothing more could be read from the browser. On
// errTooSlow only whole frames have been forwarded, if data reaches the end of the
// last one.
func (d *downstream) relay(data []byte, drained, last bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if drained {
		d.out.waited = 0
	} else {
		d.out.keptUp = 0 // more is to be read
	}
	d.tapReader.observe(d.frames, data)
	if d.attached != nil {
		d.attached.follow(d.frames, data)
	}
	if last || len(d.pending) > 0 {
		n := d.frames.finish(data)
		d.messages.Store(d.frames.messages)
		if err := d.send(data[:n]); err != nil {
			return err
		}
		data = data[n:]
		if err := d.flushPending(); err != nil || last {
			return err
		}
	}
	before := d.frames
	d.frames.scan(data)
	d.messages.Store(d.frames.messages)
	err := d.send(data)
	if errors.Is(err, errTooSlow) {
		d.frames = before
		d.out.last(data[:d.frames.finish(data)])
	}
	return err
}

// withoutClose returns the part of data, the browser's next bytes, before a close
// frame, and whether there is one. It is for a client that cannot read close
// frames.
func (d *downstream) withoutClose(data []byte) (before []byte, closes bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.noClose {
		return data, false
	}
	frames := d.frames
	n := frames.beforeClose(data)
	return data[:n], n < len(data)
}

// resume continues with conn, which the loop had; d.mu is held.
func (d *downstream) resume(conn *net.TCPConn) error {
	err := d.out.use(conn)
	d.failed = err != nil
	return err
}

// catchUp sends what the loop has left over, and resets keptUp. It may wait for the
// client.
func (d *downstream) catchUp() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.send(nil)
	d.out.keptUp = 0
	return err
}

// keptUp returns how many pieces in a row the client took at once.
func (d *downstream) keptUp() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.out.keptUp
}

func (d *downstream) send(data []byte) error {
	if d.failed {
		return errEnded
	}
	err := d.out.send(data)
	if err != nil && !errors.Is(err, errTooSlow) {
		d.failed = true
	}
	return err
}

// insert sends a message of the endpoint's own: now if the browser's stream is
// between two frames, else after the current frame. Pending messages count toward
// the client's bounds.
func (d *downstream) insert(text []byte) error {
	frame := textFrame(text)
	d.mu.Lock()
	defer d.mu.Unlock()
	waits := !d.frames.between()
	if waits && (d.waiting+len(frame) > d.out.limit || !d.out.claim.take(len(frame))) {
		return errTooSlow
	}
	if d.tapReader.taps.open() {
		d.tapReader.taps.record(d.tapReader.client, FromEndpoint, text)
	}
	if !waits {
		return d.sendOwn(frame)
	}
	d.pending = append(d.pending, frame)
	d.waiting += len(frame)
	return nil
}

// flushPending sends the pending frames, if the stream is between two frames.
func (d *downstream) flushPending() error {
	for len(d.pending) > 0 && d.frames.between() {
		if err := d.sendOwn(d.pending[0]); err != nil {
			return err
		}
		d.waiting -= len(d.pending[0])
		d.out.claim.give(len(d.pending[0]))
		d.pending = d.pending[1:]
	}
	return nil
}

// sendOwn sends a frame of our own between two of the browser's. Nothing may follow
// a close frame.
func (d *downstream) sendOwn(frame []byte) error {
	if d.frames.closing {
		return nil
	}
	return d.send(frame)
}

// between reports whether a close frame could be sent now.
func (d *downstream) between() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.frames.between()
}

// close waits until deadline for the queue, and sends a close frame if none was
// sent and the stream is between two frames. In the middle of a frame it sends
// none, and the client sees a broken connection. It reports whether the stream is
// whole.
func (d *downstream) close(e ending, deadline time.Time) bool {
	err := d.out.wait(deadline)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err == nil && !d.failed && !d.noClose && d.frames.between() && !d.frames.closing {
		d.frames.closing = true
		d.out.conn.SetWriteDeadline(deadline)
		_, err = d.out.conn.Write(closeFrame(e.code, e.reason))
	}
	return err == nil && !d.failed
}
