package cdpproxy

import (
	"errors"
	"math"
	"net"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"browser-coordinator/internal/queue"
)

const (
	// clientGrace is how long the browser waits for a client that does not keep up,
	// until it has been drained again. That costs no memory, as long as the
	// browser's output meanwhile stays far below the 256 MiB at which Chromium drops
	// messages without an error. See specs/platform-notes.md, "Chromium's DevTools
	// server".
	clientGrace = 250 * time.Millisecond
	// flushSize is how much of a queue is written at once.
	flushSize = 1 << 20
	// entryOverhead is what a frame needs in a queue besides its bytes.
	entryOverhead = 64
)

// cost is what a queued entry counts: pongs, for example, have two bytes each.
func cost(b []byte) int { return len(b) + entryOverhead }

// canEndWrites: a deadline ends a write of which a part was sent, and reports how much. On
// Windows nothing reports that, so everything is queued there.
var canEndWrites = runtime.GOOS != "windows"

// downstream is the stream to the client: the bytes or messages of the browser and,
// between two of its frames, messages of the endpoint itself. What the client does not
// accept is queued, up to a bound, and flush sends it.
type downstream struct {
	memory *queue.Budget
	grace  time.Duration // how long a write may wait for the client; zero: everything is queued
	failed func()        // called when the client has gone
	byRun  bool          // the relay's run calls flush when out is ready; else a goroutine is started for that

	mu        sync.Mutex // guards the fields that follow. It is held during a write of about grace at most
	conn      *net.TCPConn
	frames    frameScanner        // of the browser's bytes; only the relay's run changes it
	closed    bool                // nothing may follow: a close frame was sent, or the client has gone
	ownFrames queue.Queue[[]byte] // our own frames, until the browser's frame ends
	out       queue.Queue[[]byte] // what the client has not accepted. Flush is under way or due while it has a size
	flushing  sync.WaitGroup      // the goroutine of flush
	graceUsed time.Duration       // of grace
	deadline  time.Time           // of a write to conn; zero: none
}

// check has an [ending] if n bytes more cannot be queued. An empty queue takes a message of
// any size for which the process has memory, and in any case a chunk of a browser's bytes:
// no frame is sent only in part.
func (d *downstream) check(n int) error {
	empty := d.ownFrames.Size()+d.out.Size() == 0
	switch {
	case empty && n <= largeBuffer, d.ownFrames.Fits(n) && d.out.Fits(n):
		return nil
	case empty:
		return exhausted(d.memory)
	}
	return ending{closePolicy, "this client reads too slowly: the endpoint keeps no more for it, and drops nothing " +
		"silently"}
}

// room is check before the bytes of a browser are forwarded.
func (d *downstream) room(n int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.check(n)
}

// forward sends bytes of the browser, beyond the bound too; the caller may reuse them
// when it returns. drained: the browser has nothing more to send at the moment.
func (d *downstream) forward(data []byte, drained bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if drained {
		d.graceUsed = 0
	}
	if d.ownFrames.Size() > 0 { // they must not wait until a chunk ends with a frame
		n := d.frames.rest(data)
		if err := d.send(data[:n]); err != nil {
			return err
		}
		data = data[n:]
	}
	return d.send(data)
}

// send sends bytes of the browser, and the frames that have waited for the end of these.
func (d *downstream) send(data []byte) error {
	if d.closed {
		return nil
	}
	d.frames.scan(data)
	if err := d.write(data); err != nil || !d.frames.atBoundary() {
		return err
	}
	if d.frames.closing {
		d.discard()
		return nil
	}
	defer d.ownFrames.Clear()
	for _, frame := range d.ownFrames.Take(math.MaxInt) {
		if err := d.write(frame); err != nil {
			return err
		}
	}
	return nil
}

// insert sends a whole frame: now if the browser's stream is between two frames, else
// after the current one. Its error is an [ending] if there is no room for the frame.
func (d *downstream) insert(op byte, payload []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	size := len(payload) + maxFrameHeader
	if d.closed || d.frames.closing {
		return nil
	}
	if err := d.check(size); err != nil {
		return err
	}
	if d.grace == 0 && d.frames.atBoundary() && size > smallMessage { // it need not be copied
		d.push(newFrame(op, 0, len(payload), 0))
		d.push(payload)
		return nil
	}
	frame := append(newFrame(op, 0, len(payload), len(payload)), payload...)
	if !d.frames.atBoundary() {
		d.ownFrames.Push(frame)
		return nil
	}
	return d.write(frame)
}

// write sends b, and queues what the client does not accept in time.
func (d *downstream) write(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if d.grace > 0 && d.out.Size() == 0 {
		start := time.Now()
		d.extendDeadline(start)
		n, err := d.conn.Write(b)
		d.graceUsed += time.Since(start)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		b = b[n:]
	}
	d.push(slices.Clone(b))
	return nil
}

// extendDeadline ends the next write when the grace period is over, or up to a half later: to set
// another deadline for each write would take as long as all else here.
func (d *downstream) extendDeadline(now time.Time) {
	grace := d.grace - d.graceUsed
	if rest := d.deadline.Sub(now); rest < grace || rest > 2*grace {
		d.deadline = now.Add(grace + grace/2)
		d.conn.SetWriteDeadline(d.deadline)
	}
}

// push appends b to the queue, and begins to flush it if it was empty.
func (d *downstream) push(b []byte) {
	empty := d.out.Size() == 0
	d.out.Push(b)
	if empty && !d.byRun {
		d.deadline = time.Time{}
		d.conn.SetWriteDeadline(d.deadline)
		d.flushing.Go(d.flush)
	}
}

// flush sends the queue until it is empty.
func (d *downstream) flush() {
	for batch := d.next(); len(batch) > 0; batch = d.next() {
		if _, err := batch.WriteTo(d.conn); err != nil {
			d.drop()
			d.failed()
			return
		}
	}
}

// next returns what is sent next.
func (d *downstream) next() net.Buffers {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.out.Take(flushSize)
}

// discard ends the stream: what waits for the end of a frame is not sent.
func (d *downstream) discard() {
	d.closed = true
	d.ownFrames.Clear()
}

// drop forgets what is queued: the client has gone.
func (d *downstream) drop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.discard()
	d.out.Clear()
}

// close ends the stream behind what is queued, with that close frame. In the middle of a
// frame no close frame can be sent, and the client sees a broken connection. From then on
// reading and writing end at the deadline, and run does not flush.
func (d *downstream) close(frame []byte, deadline time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed && d.frames.atBoundary() && frame != nil {
		d.push(frame)
	}
	d.discard()
	d.conn.SetDeadline(deadline)
	if d.byRun {
		d.flushing.Go(d.flush)
	}
}

// finish returns when what was queued has been sent.
func (d *downstream) finish() {
	d.flushing.Wait()
	d.conn.CloseWrite()
}
