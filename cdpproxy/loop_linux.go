package cdpproxy

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

// loop relays for all connections that keep up: one goroutine that waits for
// any of them, reads what there is and writes it. That halves what a message
// costs with two goroutines and Go's own poller, and an idle connection holds
// nothing but its two descriptors (specs/benchmarks.md).
//
// A connection keeps up as long as each side takes at once what the other
// says. When one does not, and at the end, the relay leaves the loop and goes on
// with its own goroutines, which can wait; it may come back.
type loop struct {
	poller  *poller
	running sync.WaitGroup // run, and release while it has something to do
	buffer  []byte         // run's

	mu        sync.Mutex // guards the fields that follow
	parked    []*parked  // by descriptor
	leaving   []*parked  // that release has not come to
	releasing bool       // release runs
}

// parked is a relay in the loop.
type parked struct {
	relay            *relay
	loop             *loop
	client, upstream int // descriptors that Go's poller does not know

	leaving atomic.Bool // leave was called or is about to be

	mu sync.Mutex // held while run moves bytes of this relay, and while it leaves
}

func startLoop() (*loop, error) {
	poller, err := openPoller()
	if err != nil {
		return nil, err
	}
	l := &loop{poller: poller, buffer: make([]byte, bufferSizes[1])}
	l.running.Add(1)
	go l.run()
	return l, nil
}

// close ends the loop, which no relay may be in any more, and waits for it.
func (l *loop) close() {
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
			panic(err) // the loop's own descriptors are wrong
		}
		for _, event := range events[:n] {
			fd := int(event.Fd)
			if fd == l.poller.wake {
				l.poller.release()
				return
			}
			// A descriptor may be another relay's since the event came: then
			// there is nothing to read, or it is read a little early.
			if e := l.get(fd); e != nil {
				e.move(fd)
			}
		}
	}
}

func (l *loop) get(fd int) *parked {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.parked[fd]
}

func (l *loop) set(fd int, e *parked) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if more := fd + 1 - len(l.parked); more > 0 {
		l.parked = append(l.parked, make([]*parked, more)...)
	}
	l.parked[fd] = e
}

// move reads from one side and writes to the other.
func (e *parked) move(fd int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.leaving.Load() {
		return
	}
	n, err := readDescriptor(fd, e.loop.buffer)
	if err == syscall.EAGAIN {
		return
	}
	data := e.loop.buffer[:max(n, 0)]
	switch {
	case fd == e.client && err != nil:
		e.relay.end(ending{})
	case fd == e.client:
		e.relay.heard(data)
	case err != nil:
		e.relay.end(e.relay.lost())
	default:
		e.relay.told(data, true, false)
		if bytes, other := e.relay.waterline(); other {
			wake(fd, bytes)
		}
	}
}

// readDescriptor returns io.EOF where read(2) returns nothing.
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

// write is for what the client says, tell for what it is told.
func (e *parked) write(b []byte) (int, error) { return writeDescriptor(e.upstream, b) }
func (e *parked) tell(b []byte) (int, error)  { return writeDescriptor(e.client, b) }

// ease hands the relay to the loop and reports whether it took it; then none of
// the relay's goroutines runs. Otherwise nothing has changed.
func (l *loop) park(r *relay) bool {
	r.upMu.Lock()
	defer r.upMu.Unlock()
	r.down.mu.Lock()
	defer r.down.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.why != nil || !r.down.out.idle() {
		return false
	}
	e := &parked{relay: r, loop: l}
	var err error
	if e.client, err = own(r.client); err != nil {
		return false
	}
	if e.upstream, err = own(r.upstream); err != nil {
		unix.Close(e.client)
		return false
	}
	n, err := e.write(r.unsent)
	if r.unsent = r.unsent[n:]; err != nil || len(r.unsent) > 0 {
		unix.Close(e.client)
		unix.Close(e.upstream)
		return false
	}
	r.client.Close()
	r.upstream.Close()
	r.client, r.upstream, r.parked = nil, nil, e
	r.down.out.direct(e)
	l.set(e.client, e)
	l.set(e.upstream, e)
	if l.poller.add(e.client) != nil || l.poller.add(e.upstream) != nil {
		e.leaveSoon()
	}
	return true
}

// leaveSoon has the relay go on with its own goroutines, or end. One of upMu,
// down's lock and the relay's is held, so the descriptors are still its own.
func (e *parked) leaveSoon() {
	if !e.leaving.CompareAndSwap(false, true) {
		return
	}
	l := e.loop
	// Now, and not only in leave: what is ready stays ready, and run would turn
	// round and round until leave comes, on the processor that leave may need.
	l.poller.remove(e.client)
	l.poller.remove(e.upstream)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leaving = append(l.leaving, e)
	if !l.releasing {
		l.releasing = true
		l.running.Add(1)
		go l.release()
	}
}

// release lets go of the relays that leave, one after the other: Go keeps some
// memory for each goroutine that ever ran at the same time, and of thousands that
// end together each would be one.
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
		for _, e := range batch {
			e.leave()
		}
	}
}

// leave lets go of the relay, for which the proxy waits until it has ended.
func (e *parked) leave() {
	r := e.relay
	e.mu.Lock() // run is done with it
	e.loop.set(e.client, nil)
	e.loop.set(e.upstream, nil)
	e.mu.Unlock()

	if r.resume(e) {
		go r.run()
	} else {
		r.finish()
	}
}

// conns makes the descriptors connections again, closed ones if they are of no
// use any more or there is an error.
func (e *parked) conns(gone bool) (client, upstream *net.TCPConn, err error) {
	if gone {
		unix.Close(e.client)
		unix.Close(e.upstream)
		return closedConn, closedConn, nil
	}
	client, err = connOf(e.client)
	upstream, upErr := connOf(e.upstream)
	return client, upstream, errors.Join(err, upErr)
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

// connOf makes fd a connection again. It is closed in any case.
func connOf(fd int) (*net.TCPConn, error) {
	file := os.NewFile(uintptr(fd), "relay")
	defer file.Close()
	conn, err := net.FileConn(file)
	if err != nil {
		return closedConn, err
	}
	tcp := conn.(*net.TCPConn)
	tcp.SetKeepAliveConfig(keepAlive)
	return tcp, nil
}
