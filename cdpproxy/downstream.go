package cdpproxy

import (
	"errors"
	"net"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"
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
// accept is queued, up to a bound, and a goroutine sends it: flush. It exists only while
// something is queued.
type downstream struct {
	limit  int // of size
	memory *budget
	direct bool   // bytes are sent at once if the client accepts them
	failed func() // called when the client has gone

	mu       sync.Mutex   // guards the fields that follow. If direct is set, it is held during a write of about clientGrace at most
	conn     *net.TCPConn // nil: the client has no response yet
	mid      bool         // a frame of the browser is incomplete
	over     bool         // nothing may follow: a close frame was sent, or the client has gone
	own      [][]byte     // our own frames, until the browser's frame ends
	queue    [][]byte     // what the client has not accepted
	size     int          // cost of own and queue, and of a write of flush
	flushing bool
	flushed  sync.WaitGroup // flush
	waited   time.Duration  // of clientGrace
	deadline time.Time      // of a write to conn; zero: none
	ending   bool           // flush closes the stream at its end
}

// start gives the stream its connection.
func (d *downstream) start(conn *net.TCPConn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.conn = conn
	if len(d.queue) > 0 {
		d.startFlush()
	}
}

// room reports whether n bytes more can be queued, if that is necessary. The first entry
// of a queue always has room: no frame is sent only in part.
func (d *downstream) room(n int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.size == 0 || d.fits(n)
}

func (d *downstream) fits(n int) bool { return d.size+n <= d.limit && d.memory.has(n) }

// forward sends bytes of the browser, beyond the bound too; the caller may reuse them
// when it returns. before and after are the states of the stream. drained: the browser
// has nothing more to send at the moment.
func (d *downstream) forward(data []byte, before, after frameScanner, drained bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over {
		return nil
	}
	if drained {
		d.waited = 0
	}
	if len(d.own) > 0 { // they must not wait until a chunk ends with a frame
		n := before.finish(data)
		if err := d.write(data[:n]); err != nil {
			return err
		}
		if data = data[n:]; before.between() {
			if err := d.sendOwn(); err != nil {
				return err
			}
		}
	}
	if err := d.write(data); err != nil {
		return err
	}
	d.mid, d.over = !after.between(), after.closing
	if d.mid || d.over {
		return nil
	}
	return d.sendOwn()
}

// sendOwn sends the frames that have waited.
func (d *downstream) sendOwn() error {
	for _, frame := range d.own {
		d.count(-cost(frame))
		if err := d.write(frame); err != nil {
			return err
		}
	}
	d.own = nil
	return nil
}

// insert sends a whole frame: now if the browser's stream is between two frames, else
// after the current one. It reports false if there is no room for it.
func (d *downstream) insert(op byte, payload []byte) (room bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	size := len(payload) + maxFrameHeader
	switch {
	case d.over:
		return true, nil
	case d.size > 0 && !d.fits(size):
		return false, nil
	case !d.mid && !d.direct && size > smallMessage: // it need not be copied
		d.push(newFrame(op, 0, len(payload), 0))
		d.push(payload)
		d.startFlush()
		return true, nil
	}
	frame := append(newFrame(op, 0, len(payload), len(payload)), payload...)
	if d.mid {
		d.own = append(d.own, frame)
		d.count(cost(frame))
		return true, nil
	}
	return true, d.write(frame)
}

// write sends b, and queues what the client does not accept in time.
func (d *downstream) write(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if d.direct && !d.flushing {
		start := time.Now()
		d.bound(start)
		n, err := d.conn.Write(b)
		d.waited += time.Since(start)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		b = b[n:]
	}
	d.push(slices.Clone(b))
	d.startFlush()
	return nil
}

// bound ends the next write when the grace period is over, or up to a half later: to set
// a deadline anew for each write would take as long as all else here.
func (d *downstream) bound(now time.Time) {
	left := clientGrace - d.waited
	if rest := d.deadline.Sub(now); rest < left || rest > 2*left {
		d.deadline = now.Add(left + left/2)
		d.conn.SetWriteDeadline(d.deadline)
	}
}

func (d *downstream) push(b []byte) {
	d.queue = append(d.queue, b)
	d.count(cost(b))
}

// count adds n bytes to those that are kept.
func (d *downstream) count(n int) {
	d.size += n
	if n < 0 {
		d.memory.give(-n)
	} else {
		d.memory.takeAnyway(n)
	}
}

func (d *downstream) startFlush() {
	if d.flushing || d.conn == nil {
		return
	}
	d.flushing = true
	if !d.ending {
		d.deadline = time.Time{}
		d.conn.SetWriteDeadline(d.deadline)
	}
	d.flushed.Go(d.flush)
}

// flush sends the queue until it is empty.
func (d *downstream) flush() {
	for {
		batch, size := d.next()
		if size == 0 {
			return
		}
		_, err := batch.WriteTo(d.conn)
		d.mu.Lock()
		d.count(-size)
		d.mu.Unlock()
		if err != nil {
			d.drop()
			d.failed()
		}
	}
}

// next takes the beginning of the queue. If it is empty, the flush ends.
func (d *downstream) next() (batch net.Buffers, size int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for n < len(d.queue) && (n == 0 || size+cost(d.queue[n]) <= flushSize) {
		size += cost(d.queue[n])
		n++
	}
	if batch = d.queue[:n:n]; n == len(d.queue) {
		d.queue = nil
	} else {
		d.queue = d.queue[n:]
	}
	if n == 0 {
		d.flushing = false
		if d.ending {
			d.conn.CloseWrite()
		}
	}
	return batch, size
}

// abort breaks the connection.
func (d *downstream) abort() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.conn != nil {
		d.conn.Close()
	}
}

// drop forgets what is queued: the client has gone.
func (d *downstream) drop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, b := range slices.Concat(d.own, d.queue) {
		d.count(-cost(b))
	}
	d.over, d.own, d.queue = true, nil, nil
}

// close ends the stream behind what is queued, with that close frame. In the middle of a
// frame no close frame can be sent, and the client sees a broken connection. From then on
// reading and writing end at the deadline.
func (d *downstream) close(frame []byte, deadline time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ending = true
	d.conn.SetDeadline(deadline)
	if !d.mid && !d.over && frame != nil {
		d.push(frame)
	}
	d.over = true
	d.startFlush()
}
