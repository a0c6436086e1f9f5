package vscodeipc

import (
	"fmt"
	"net"
	"sync"
	"time"

	"browser-coordinator/vscodeipc/internal/socket"
)

const (
	// batchBytes is how much is passed to the system in one write.
	batchBytes = 64 << 10
	// goodbyeTime is the time to send the last line of a connection that ends.
	goodbyeTime = time.Second
)

// outbox buffers the lines for one client. A sender never waits for the client: too many
// buffered lines end the connection (spec 7, bye).
type outbox struct {
	conn net.Conn
	try  func([]byte) int // writes what can be written at once
	wake chan struct{}    // holds one token when there may be work

	// mu guards the fields that follow.
	mu    sync.Mutex
	lines [][]byte
	bytes int  // in lines and in the batch that is being written
	begun bool // the first of lines is the rest of one that is partly sent
	busy  bool // the writer is writing a batch
	last  bool // no line may be added
}

func newOutbox(conn net.Conn) *outbox {
	return &outbox{conn: conn, try: socket.TryWriter(conn), wake: make(chan struct{}, 1)}
}

func (o *outbox) send(line []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.last {
		return
	}
	if len(o.lines) == 0 && !o.busy {
		// Usually the line fits the system's buffer, and the write loop need not wake up.
		n := o.try(line)
		if n == len(line) {
			return
		}
		line, o.begun = line[n:], n > 0
	}
	if o.bytes+len(line) > maxWaiting {
		o.drop()
		o.finishLocked("slow_reader", fmt.Sprintf("more than %d bytes wait for this client", maxWaiting))
		return
	}
	o.lines = append(o.lines, line)
	o.bytes += len(line)
	o.wakeWriter()
}

// drop discards the buffered lines, but not the rest of one that is partly sent.
func (o *outbox) drop() {
	keep := 0
	if o.begun {
		keep = 1
	}
	for _, l := range o.lines[keep:] {
		o.bytes -= len(l)
	}
	o.lines = o.lines[:keep]
}

// finish makes bye the last line and then ends the connection, both within goodbyeTime.
func (o *outbox) finish(reason, message string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.finishLocked(reason, message)
}

// end ends the connection after the buffered lines, within goodbyeTime.
func (o *outbox) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.last {
		o.closeLocked()
	}
}

// ending reports whether the outbox accepts no further line.
func (o *outbox) ending() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.last
}

func (o *outbox) closeLocked() {
	o.last = true
	o.conn.SetWriteDeadline(time.Now().Add(goodbyeTime))
	o.wakeWriter()
}

func (o *outbox) finishLocked(reason, message string) {
	if o.last {
		return
	}
	if line, err := encodeEvent("bye", 0, bye{reason, message}); err == nil {
		o.lines = append(o.lines, line)
		o.bytes += len(line)
	}
	o.closeLocked()
}

func (o *outbox) wakeWriter() {
	select {
	case o.wake <- struct{}{}:
	default: // the writer already has a token
	}
}

// take returns the next batch; end reports that it is the last.
func (o *outbox) take() (batch net.Buffers, size int, end bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := 0
	for n < len(o.lines) && (n == 0 || size+len(o.lines[n]) <= batchBytes) {
		size += len(o.lines[n])
		n++
	}
	batch = append(batch, o.lines[:n]...)
	if n == len(o.lines) {
		o.lines = nil
	} else {
		o.lines = o.lines[n:]
	}
	o.busy, o.begun = n > 0, false
	return batch, size, n == 0 && o.last
}

func (o *outbox) written(size int) {
	o.mu.Lock()
	o.bytes -= size
	o.mu.Unlock()
}

// drain writes until the outbox is closed, the connection fails, or done ends.
func (o *outbox) drain(done <-chan struct{}) {
	for {
		batch, size, end := o.take()
		switch {
		case end:
			return
		case size > 0:
			if _, err := batch.WriteTo(o.conn); err != nil {
				return
			}
			o.written(size)
			continue
		}
		select {
		case <-o.wake:
		case <-done:
			return
		}
	}
}
