//go:build !linux || noeventloop

package eventloop

import (
	"bytes"
	"net"
	"sync"
)

// Loop is a number of goroutines: one that reads each connection, and one for each
// write under way.
type Loop struct{ running sync.WaitGroup }

// Start starts a loop, which its caller must close.
func Start() (*Loop, error) { return new(Loop), nil }

// Close waits for the loop's goroutines. All connections must be closed.
func (l *Loop) Close() { l.running.Wait() }

// Add takes over a connection, unless it fails.
func (l *Loop) Add(tcp *net.TCPConn, h Handler) (Conn, error) {
	c := &conn{loop: l, tcp: tcp, handler: h, stopped: true}
	c.changed.L = &c.mu
	l.running.Add(1)
	go c.read()
	return c, nil
}

type conn struct {
	loop    *Loop
	tcp     *net.TCPConn
	handler Handler

	mu       sync.Mutex // guards the fields that follow
	changed  sync.Cond  // stopped or closed has changed
	stopped  bool
	closed   bool
	writing  bool // a write is under way
	refused  bool // Write has accepted less than it was given
	shutdown bool // CloseWrite was called during a write
	failed   error
}

// buffers are for connections with much data. Others have a small buffer of their
// own.
var buffers = sync.Pool{New: func() any { return new([BufferSize]byte) }}

const smallBuffer = 4 << 10

func (c *conn) read() {
	defer c.loop.running.Done()
	small := make([]byte, smallBuffer)
	large := false
	for c.awaitRead() {
		n, err := 0, error(nil)
		if large {
			buffer := buffers.Get().(*[BufferSize]byte)
			if n, err = c.tcp.Read(buffer[:]); n > 0 {
				c.handler.Received(buffer[:n], nil)
			}
			buffers.Put(buffer)
		} else if n, err = c.tcp.Read(small); n > 0 {
			c.handler.Received(small[:n], nil)
		}
		large = n >= smallBuffer
		if err != nil {
			c.handler.Received(nil, err)
			return
		}
	}
}

// awaitRead reports whether the connection is still open.
func (c *conn) awaitRead() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.stopped && !c.closed {
		c.changed.Wait()
	}
	return !c.closed
}

func (c *conn) Read(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = !on
	c.changed.Signal()
}

func (c *conn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.failed != nil:
		return 0, c.failed
	case len(b) == 0:
		return 0, nil
	case c.writing:
		c.refused = true
		return 0, nil
	}
	c.writing = true
	c.loop.running.Add(1)
	go c.write(bytes.Clone(b))
	return len(b), nil
}

func (c *conn) write(b []byte) {
	defer c.loop.running.Done()
	_, err := c.tcp.Write(b)
	c.mu.Lock()
	notify := c.refused || err != nil
	c.writing, c.refused, c.failed = false, false, err
	if c.shutdown {
		c.tcp.CloseWrite()
	}
	c.mu.Unlock()
	if notify {
		c.handler.Writable()
	}
}

func (c *conn) CloseWrite() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shutdown = c.writing; !c.writing {
		c.tcp.CloseWrite()
	}
}

func (c *conn) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.changed.Signal()
	c.tcp.Close()
}
