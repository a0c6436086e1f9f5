//go:build !noeventloop

package eventloop

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// bufferSize bounds a single read.
const bufferSize = 1 << 20

type loop struct {
	poller  *poller
	running sync.WaitGroup // run, and release while it runs
	buffer  []byte         // run's

	mu        sync.Mutex // guards the fields that follow
	pairs     []*pair    // by descriptor
	leaving   []*pair    // that release has not reached
	releasing bool       // release is running
}

type pair struct {
	loop        *loop
	handler     Handler
	descriptors [2]int // by side; Go's poller does not know them

	leaving atomic.Bool // Unpark was called

	mu sync.Mutex // held while run moves bytes of this pair, and while the pair leaves
}

// Start starts a loop, which its caller must close.
func Start() (Loop, error) {
	poller, err := openPoller()
	if err != nil {
		return nil, err
	}
	l := &loop{poller: poller, buffer: make([]byte, bufferSize)}
	l.running.Add(1)
	go l.run()
	return l, nil
}

func (l *loop) Close() {
	l.poller.interrupt()
	l.running.Wait()
	l.poller.close()
}

func (l *loop) run() {
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
			// The descriptor may belong to another pair since the event. Then there
			// is nothing to read, or the read is a little early.
			if p := l.get(fd); p != nil {
				p.move(fd)
			}
		}
	}
}

func (l *loop) get(fd int) *pair {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pairs[fd]
}

func (l *loop) set(fd int, p *pair) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if more := fd + 1 - len(l.pairs); more > 0 {
		l.pairs = append(l.pairs, make([]*pair, more)...)
	}
	l.pairs[fd] = p
}

// move reads from one side for the handler.
func (p *pair) move(fd int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.leaving.Load() {
		return
	}
	n, err := readDescriptor(fd, p.loop.buffer)
	if err == syscall.EAGAIN {
		return
	}
	from := Client
	if fd == p.descriptors[Upstream] {
		from = Upstream
	}
	if bytes := p.handler.Received(from, p.loop.buffer[:max(n, 0)], err); bytes > 0 {
		SetLowWater(fd, bytes)
	}
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

// writeDescriptor returns how much of b the socket took at once.
func writeDescriptor(fd int, b []byte) (int, error) {
	n := 0
	for n < len(b) {
		m, err := write(fd, b[n:])
		switch {
		case err == syscall.EINTR:
		case err == syscall.EAGAIN:
			return n, nil
		case err != nil:
			return n, os.NewSyscallError("write", err)
		default:
			n += m
		}
	}
	return n, nil
}

func (p *pair) Write(to Side, b []byte) (int, error) { return writeDescriptor(p.descriptors[to], b) }

func (l *loop) Park(client, upstream *net.TCPConn, h Handler) (Pair, error) {
	p := &pair{loop: l, handler: h}
	var err error
	if p.descriptors[Client], err = own(client); err != nil {
		return nil, err
	}
	if p.descriptors[Upstream], err = own(upstream); err != nil {
		unix.Close(p.descriptors[Client])
		return nil, err
	}
	client.Close()
	upstream.Close()
	for _, fd := range p.descriptors {
		l.set(fd, p)
	}
	for _, fd := range p.descriptors {
		if l.poller.add(fd) != nil {
			p.Unpark()
		}
	}
	return p, nil
}

func (p *pair) Unpark() {
	if !p.leaving.CompareAndSwap(false, true) {
		return
	}
	l := p.loop
	// Now, and not only in leave: a ready descriptor stays ready, and run would
	// spin until leave runs, maybe on the processor that leave needs.
	for _, fd := range p.descriptors {
		l.poller.remove(fd)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leaving = append(l.leaving, p)
	if !l.releasing {
		l.releasing = true
		l.running.Add(1)
		go l.release()
	}
}

// release unparks leaving pairs one after the other. Go keeps some memory for each
// goroutine that ever ran at the same time, and thousands of pairs that end
// together would need one each.
func (l *loop) release() {
	defer l.running.Done()
	for {
		l.mu.Lock()
		batch := l.leaving
		if len(batch) == 0 {
			l.releasing = false
			l.mu.Unlock()
			return
		}
		l.leaving = nil
		l.mu.Unlock()
		for _, p := range batch {
			p.leave()
		}
	}
}

func (p *pair) leave() {
	p.mu.Lock() // run has finished with it
	for _, fd := range p.descriptors {
		p.loop.set(fd, nil)
	}
	p.mu.Unlock()
	p.handler.Unparked()
}

func (p *pair) Take(open bool) (client, upstream *net.TCPConn, err error) {
	if !open {
		for _, fd := range p.descriptors {
			unix.Close(fd)
		}
		return closedConn, closedConn, nil
	}
	client, err = connOf(p.descriptors[Client])
	upstream, upErr := connOf(p.descriptors[Upstream])
	if err = errors.Join(err, upErr); err != nil {
		client.Close()
		upstream.Close()
	}
	return client, upstream, err
}

// closedConn answers every call with an error.
var closedConn = new(net.TCPConn)

// own duplicates the connection's descriptor, without Go's poller.
func own(conn *net.TCPConn) (fd int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return -1, err
	}
	controlErr := raw.Control(func(known uintptr) {
		fd, err = unix.FcntlInt(known, unix.F_DUPFD_CLOEXEC, 0)
	})
	return fd, errors.Join(controlErr, err)
}

// connOf makes fd a connection again. It always closes fd.
func connOf(fd int) (*net.TCPConn, error) {
	file := os.NewFile(uintptr(fd), "relay")
	defer file.Close()
	conn, err := net.FileConn(file)
	if err != nil {
		return closedConn, err
	}
	return conn.(*net.TCPConn), nil
}
