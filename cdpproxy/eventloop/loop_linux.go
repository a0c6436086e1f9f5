//go:build !noeventloop

package eventloop

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Loop is a goroutine that reads and writes connections which Go's own poller does
// not know.
type Loop struct {
	poller  *poller
	running sync.WaitGroup // run, and every receiveApart
	buffer  []byte         // run's

	mu    sync.Mutex // guards conns
	conns []*conn    // by descriptor
}

// Start starts a loop, which its caller must close.
func Start() (*Loop, error) {
	poller, err := openPoller()
	if err != nil {
		return nil, err
	}
	l := &Loop{poller: poller, buffer: make([]byte, BufferSize)}
	l.running.Add(1)
	go l.run()
	return l, nil
}

// Close waits for the loop's goroutines. All connections must be closed.
func (l *Loop) Close() {
	l.poller.interrupt()
	l.running.Wait()
	l.poller.close()
}

func (l *Loop) run() {
	defer l.running.Done()
	var events [64]unix.EpollEvent
	for {
		n, err := l.poller.wait(events[:])
		if err != nil {
			panic(err) // the loop's own descriptors are invalid
		}
		for _, event := range events[:n] {
			fd := int(event.Fd)
			if fd == l.poller.wake {
				l.poller.release()
				return
			}
			// The descriptor may belong to another connection since the event. Then
			// there is nothing to do, or it is a little early.
			if c := l.get(fd); c != nil {
				c.move(event.Events)
			}
		}
	}
}

func (l *Loop) get(fd int) *conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.conns[fd]
}

func (l *Loop) set(fd int, c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if more := fd + 1 - len(l.conns); more > 0 {
		l.conns = append(l.conns, make([]*conn, more)...)
	}
	l.conns[fd] = c
}

// unpaced is the oldest congestion control of Linux: tcp(7) TCP_CONGESTION. It sends
// as long as the peer has room. An algorithm that measures the network and paces, as
// BBR does, has nothing to measure where the bytes never leave the machine. It costs
// a timer for each segment, and a fifth of the throughput.
const unpaced = "reno"

// Add takes over a connection, unless it fails.
func (l *Loop) Add(tcp *net.TCPConn, h Handler) (Conn, error) {
	fd, err := duplicate(tcp)
	if err != nil {
		return nil, err
	}
	if peer, ok := tcp.RemoteAddr().(*net.TCPAddr); ok && peer.IP.IsLoopback() {
		unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, unpaced)
	}
	tcp.Close() // Go's poller no longer knows the connection
	c := &conn{loop: l, handler: h, fd: fd, stopped: true}
	l.set(fd, c)
	return c, nil
}

func duplicate(tcp *net.TCPConn) (fd int, err error) {
	raw, err := tcp.SyscallConn()
	if err != nil {
		return -1, err
	}
	controlErr := raw.Control(func(known uintptr) {
		fd, err = unix.FcntlInt(known, unix.F_DUPFD_CLOEXEC, 0)
	})
	return fd, errors.Join(controlErr, err)
}

type conn struct {
	loop     *Loop
	handler  Handler
	fd       int
	lowWater int // as the kernel has it; only for receive

	mu      sync.Mutex // guards the fields that follow
	watched uint32     // the events that the poller reports
	stopped bool       // by Read
	full    bool       // the last write was incomplete
	reading bool       // receive runs
	apart   bool       // the next receive has a goroutine of its own
	closed  bool
}

// watch makes the poller report the events that the connection needs. c.mu is held.
func (c *conn) watch() {
	var events uint32
	if !c.stopped && !(c.reading && c.apart) {
		events |= unix.EPOLLIN
	}
	if c.full {
		events |= unix.EPOLLOUT
	}
	if c.closed {
		events = 0
	}
	if events == c.watched {
		return
	}
	c.loop.poller.watch(c.fd, c.watched, events)
	c.watched = events
}

// move handles the events of the connection.
func (c *conn) move(events uint32) {
	c.mu.Lock()
	writable := c.full && events&^unix.EPOLLIN != 0
	if writable {
		c.full = false
	}
	readable := !c.stopped && !c.reading && !c.closed && events&^unix.EPOLLOUT != 0
	apart := c.apart
	if readable {
		c.reading = true
	}
	c.watch()
	c.mu.Unlock()
	if writable {
		c.handler.Writable()
	}
	switch {
	case readable && apart:
		c.loop.running.Add(1)
		go c.receiveApart()
	case readable:
		c.receive(c.loop.buffer)
	}
}

// buffers are for receiveApart.
var buffers = sync.Pool{New: func() any { return new([BufferSize]byte) }}

func (c *conn) receiveApart() {
	defer c.loop.running.Done()
	buffer := buffers.Get().(*[BufferSize]byte)
	defer buffers.Put(buffer)
	for c.receive(buffer[:]) {
	}
}

// receive reads for the handler. It reports whether its caller, in a goroutine of
// its own, is to go on.
func (c *conn) receive(buffer []byte) (goOn bool) {
	was := c.apart // only receive changes it
	n, err := readDescriptor(c.fd, buffer)
	next := Next{LowWater: c.lowWater, Apart: was}
	if err != syscall.EAGAIN {
		next = c.handler.Received(buffer[:n], err)
	}
	if next.LowWater != c.lowWater {
		c.lowWater = next.LowWater
		setLowWater(c.fd, max(next.LowWater, 1))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if was && next.Apart && n > 0 && !c.stopped && !c.closed {
		return true
	}
	c.reading, c.apart = false, next.Apart
	if c.closed {
		unix.Close(c.fd)
	} else {
		c.watch()
	}
	return false
}

// readDescriptor returns io.EOF at the end of the stream.
func readDescriptor(fd int, b []byte) (int, error) {
	for {
		n, err := read(fd, b)
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		}
		return n, nil
	}
}

// room is the kernel's buffer size for a socket that has received large frames.
const room = 4 << 20

// setLowWater makes the kernel report a socket readable when that many bytes are
// there, at the end of the stream, or when the buffer is full: socket(7)
// SO_RCVLOWAT.
func setLowWater(fd, bytes int) {
	if bytes > 1 {
		// The kernel enlarges the buffer for a higher SO_RCVLOWAT, and keeps it
		// large. SO_RCVBUF would set less than the default of many systems.
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVLOWAT, room)
	}
	unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVLOWAT, bytes)
}

func (c *conn) Write(b []byte) (int, error) {
	n := 0
	for n < len(b) {
		m, err := write(c.fd, b[n:])
		switch {
		case err == syscall.EINTR:
		case err == syscall.EAGAIN:
			c.mu.Lock()
			defer c.mu.Unlock()
			c.full = true
			c.watch()
			return n, nil
		case err != nil:
			return n, os.NewSyscallError("write", err)
		default:
			n += m
		}
	}
	return n, nil
}

func (c *conn) Read(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = !on
	c.watch()
}

func (c *conn) CloseWrite() { unix.Shutdown(c.fd, unix.SHUT_WR) }

func (c *conn) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	c.closed = true
	c.watch()
	c.loop.set(c.fd, nil)
	if !c.reading { // else receive closes it
		unix.Close(c.fd)
		return
	}
	unix.Shutdown(c.fd, unix.SHUT_RDWR)
}
