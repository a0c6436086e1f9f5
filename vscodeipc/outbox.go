package vscodeipc

import (
	"net"
	"sync"
	"time"
)

// goodbyeTime is the time to send the last lines of a connection that ends.
const goodbyeTime = time.Second

// outbox sends lines to a peer. A sender never waits for the peer: too many waiting lines
// end the connection. A line that is begun is sent whole, since the peer would read the
// next one as its rest.
type outbox struct {
	conn net.Conn
	slow []byte        // the last line for a peer that does not read, or nil
	wake chan struct{} // holds one token when there may be work

	// mu guards the fields that follow.
	mu    sync.Mutex
	lines [][]byte // the first may be partly sent
	bytes int      // in lines
	last  bool     // no line may be added
}

func newOutbox(conn net.Conn, slow []byte) *outbox {
	return &outbox{conn: conn, slow: slow, wake: make(chan struct{}, 1)}
}

func (o *outbox) send(line []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.last {
		return
	}
	if o.bytes+len(line) > maxWaiting {
		o.lines = o.lines[:min(1, len(o.lines))] // the first is begun
		o.finishLocked(o.slow)
		return
	}
	o.add(line)
}

// finish ends the connection after the waiting lines and this last one, unless it is
// nil, within goodbyeTime.
func (o *outbox) finish(line []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.finishLocked(line)
}

func (o *outbox) finishLocked(line []byte) {
	if o.last {
		return
	}
	o.last = true
	o.conn.SetWriteDeadline(time.Now().Add(goodbyeTime))
	o.add(line)
}

// add queues a line, unless it is nil, and wakes the write loop.
func (o *outbox) add(line []byte) {
	if line != nil {
		o.lines = append(o.lines, line)
		o.bytes += len(line)
	}
	select {
	case o.wake <- struct{}{}:
	default: // it already has a token
	}
}

// ending reports whether the outbox accepts no further line.
func (o *outbox) ending() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.last
}

// drain writes until the last line is sent. The error is why it cannot write.
func (o *outbox) drain() error {
	for {
		line, ended := o.first()
		switch {
		case line != nil:
			if _, err := o.conn.Write(line); err != nil {
				return err
			}
			o.drop(line)
		case ended:
			return nil
		default:
			<-o.wake
		}
	}
}

// first returns the first line, nil if none waits, and whether none will be added.
func (o *outbox) first() (line []byte, ended bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.lines) > 0 {
		line = o.lines[0]
	}
	return line, o.last
}

// drop removes the first line, which is sent.
func (o *outbox) drop(line []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lines[0] = nil // releases its memory
	o.lines = o.lines[1:]
	o.bytes -= len(line)
}
