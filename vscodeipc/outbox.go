package vscodeipc

import (
	"net"
	"sync"
	"time"

	"browser-coordinator/internal/queue"
)

// goodbyeTime is the time to send the last lines of a connection that ends.
const goodbyeTime = time.Second

// outbox sends lines to a peer. A sender never waits for the peer: too many waiting lines
// end the connection. A line that is begun is sent whole, since the peer would read the
// next one as its rest.
type outbox struct {
	conn    net.Conn
	goodbye []byte // the last line for a peer that does not read, or nil

	// mu guards the fields that follow.
	mu    sync.Mutex
	lines queue.Queue[[]byte]
	last  bool // no line may be added
}

func newOutbox(conn net.Conn, slow []byte) *outbox {
	lines := queue.New(maxWaiting, nil, func(line []byte) int { return len(line) })
	return &outbox{conn: conn, goodbye: slow, lines: lines}
}

func (o *outbox) send(line []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.last:
	case o.lines.Fits(len(line)):
		o.lines.Push(line)
	default:
		o.lines.Clear()
		o.finishLocked(o.goodbye)
	}
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
	if line != nil {
		o.lines.Push(line)
	}
	o.lines.Wake()
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
		lines, ended := o.next()
		switch {
		case len(lines) > 0:
			if _, err := o.conn.Write(lines[0]); err != nil {
				return err
			}
		case ended:
			return nil
		default:
			<-o.lines.Ready()
		}
	}
}

// next returns the next line, if one waits, and whether none will be added.
func (o *outbox) next() (lines [][]byte, ended bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.lines.Take(1), o.last
}
