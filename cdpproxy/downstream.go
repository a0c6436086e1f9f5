package cdpproxy

import (
	"bytes"
	"errors"

	"browser-coordinator/cdpproxy/eventloop"
)

// errTooSlow: the bound on bytes buffered for a client is reached.
var errTooSlow = errors.New("the client reads too slowly")

// downstream is the stream to the client: the browser's bytes and, between two of
// their frames, messages of the endpoint itself. What the client does not accept at
// once is queued, up to a bound. The relay's lock guards it.
type downstream struct {
	client  eventloop.Conn
	left    bool // the client has closed its side
	frames  frameScanner
	noClose bool // the client cannot read close frames

	limit   int // of the bytes in queue, and of those in pending
	claim   claim
	queue   [][]byte // the client has not accepted it
	queued  int      // bytes in queue
	pending [][]byte // our own frames, until the browser's frame ends
	waiting int      // bytes in pending

	tapReader tapReader
}

func (d *downstream) init(r *relay) {
	d.limit = r.proxy.limits.buffered
	d.claim = claim{budget: r.proxy.limits.memory}
	d.tapReader = tapReader{taps: &r.proxy.taps, client: r.who, limits: &r.proxy.limits}
}

// drop releases the memory.
func (d *downstream) drop() {
	d.queue, d.pending = nil, nil
	d.tapReader.drop()
	d.claim.close()
}

// forward sends the browser's bytes; with last set, only to the end of the current
// frame. On errTooSlow only whole frames have been sent, if data reaches the end of
// the last one.
func (d *downstream) forward(data []byte, last bool) error {
	d.tapReader.observe(d.frames, data)
	if last || len(d.pending) > 0 {
		n := d.frames.finish(data)
		if err := d.send(data[:n]); err != nil {
			return err
		}
		data = data[n:]
		if err := d.sendPending(); err != nil || last {
			return err
		}
	}
	before := d.frames
	d.frames.scan(data)
	err := d.send(data)
	if errors.Is(err, errTooSlow) {
		d.frames = before
		d.enqueue(data[:d.frames.finish(data)])
	}
	return err
}

// send sends b or queues it; the caller may reuse b when it returns. The first
// entry of a queue always has room: no frame is sent only in part.
func (d *downstream) send(b []byte) error {
	if d.flushed() {
		n, err := d.client.Write(b)
		if err == nil {
			d.enqueue(b[n:])
		}
		return err
	}
	if d.queued+len(b) > d.limit || !d.claim.take(len(b)) {
		return errTooSlow
	}
	d.push(b)
	return nil
}

// enqueue queues b, even beyond the bound.
func (d *downstream) enqueue(b []byte) {
	if len(b) > 0 {
		d.claim.takeAnyway(len(b))
		d.push(b)
	}
}

func (d *downstream) push(b []byte) {
	d.queue = append(d.queue, bytes.Clone(b))
	d.queued += len(b)
}

// flush sends as much of the queue as the client accepts.
func (d *downstream) flush() error {
	for !d.flushed() {
		n, err := d.client.Write(d.queue[0])
		d.queued -= n
		d.claim.give(n)
		if err != nil || n < len(d.queue[0]) {
			d.queue[0] = d.queue[0][n:]
			return err
		}
		d.queue = d.queue[1:]
	}
	d.queue = nil
	return nil
}

// flushed reports whether nothing is queued.
func (d *downstream) flushed() bool { return len(d.queue) == 0 }

// insert sends a message of the endpoint's own: now if the browser's stream is
// between two frames, else after the current frame. Pending messages count toward
// the client's bounds.
func (d *downstream) insert(text []byte) error {
	frame := textFrame(text)
	waits := !d.frames.between()
	if waits && (d.waiting+len(frame) > d.limit || !d.claim.take(len(frame))) {
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

// sendPending sends the pending frames, if the stream is between two frames.
func (d *downstream) sendPending() error {
	for len(d.pending) > 0 && d.frames.between() {
		if err := d.sendOwn(d.pending[0]); err != nil {
			return err
		}
		d.waiting -= len(d.pending[0])
		d.claim.give(len(d.pending[0]))
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

// close queues a close frame, unless there was one. In the middle of a frame it
// queues none, and the client sees a broken connection.
func (d *downstream) close(e ending) {
	if d.frames.between() && !d.frames.closing && !d.noClose {
		d.frames.closing = true
		d.enqueue(closeFrame(e.code, e.reason))
	}
}
