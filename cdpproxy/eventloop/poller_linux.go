//go:build !noeventloop

package eventloop

import (
	"encoding/binary"
	"errors"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// lingering is how long a poller that has just had something to read waits in the
// kernel for more, in milliseconds. Tests change it.
var lingering = 10

// unnotified is for how long a conversation may go on before the scheduler is
// notified. Its own thread may be asleep; a system call that it sees wakes it. From
// then on it takes the processor away from time to time, should others need it.
const unnotified = 100 * time.Millisecond

// poller is an epoll set for one goroutine, in which a conversation costs what it
// costs in C: one system call to wait, and no other thread wakes.
//
// A system call that waits gives up its processor to Go's scheduler, and taking one
// again wakes the scheduler's own thread, which then looks after it every 20 µs: a
// tenth of an evaluate. Waiting by Go's poller wakes a thread that looks for other
// work, at each message. So while messages follow one another the poller waits in a
// system call that the scheduler does not see, for a moment at a time; when none
// comes it waits as any other goroutine does (ADR 22).
type poller struct {
	set, wake int
	linger    int // milliseconds

	// What Go's poller watches: a set whose only member is set. It gets that event
	// while the goroutine is parked, and of nothing in a conversation.
	outer  *os.File
	parked syscall.RawConn // outer's

	resumed bool // there was something to read just now, after a time without
	holds   bool // a processor, while it lingers

	since time.Time // it holds one, or the scheduler was notified
}

// holders is how many pollers linger; one processor is always left to all others.
var holders atomic.Int32

func openPoller() (p *poller, err error) {
	p = &poller{set: -1, wake: -1, linger: lingering}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	if p.set, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return p, os.NewSyscallError("epoll_create1", err)
	}
	if p.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return p, os.NewSyscallError("eventfd", err)
	}
	if err = p.add(p.wake); err != nil {
		return p, err
	}
	outer, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return p, os.NewSyscallError("epoll_create1", err)
	}
	unix.SetNonblock(outer, true) // else os would not have Go's poller watch it
	p.outer = os.NewFile(uintptr(outer), "epoll")
	if err = p.outer.SetReadDeadline(time.Time{}); err != nil {
		return p, err // Go's poller does not watch it
	}
	if err = unix.EpollCtl(outer, unix.EPOLL_CTL_ADD, p.set, new(unix.EpollEvent)); err != nil {
		return p, os.NewSyscallError("epoll_ctl", err)
	}
	p.parked, err = p.outer.SyscallConn()
	return p, err
}

// close gives back the descriptors; nobody may wait any more.
func (p *poller) close() {
	for _, fd := range []int{p.set, p.wake} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
	if p.outer != nil {
		p.outer.Close()
	}
}

func (p *poller) add(fd int) error {
	event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}
	return os.NewSyscallError("epoll_ctl", unix.EpollCtl(p.set, unix.EPOLL_CTL_ADD, fd, &event))
}

func (p *poller) remove(fd int) {
	unix.EpollCtl(p.set, unix.EPOLL_CTL_DEL, fd, nil)
}

// interrupt has the descriptor wake ready for good.
func (p *poller) interrupt() {
	var one [8]byte
	binary.NativeEndian.PutUint64(one[:], 1)
	unix.Write(p.wake, one[:])
}

// wait returns how many descriptors of the set have something to read, the
// beginning of events being these. It may return early, with none.
func (p *poller) wait(events []unix.EpollEvent) (int, error) {
	if p.resumed {
		p.resumed = false
		p.hold()
	}
	p.notify()
	if p.holds {
		n, err := epollWait(p.set, events, p.linger)
		if n > 0 || err != nil && err != unix.EINTR {
			return n, err
		}
		p.release() // nothing came, or somebody wants the processor
	}
	return p.park(events)
}

// hold has the poller linger, if there are processors enough.
func (p *poller) hold() {
	if holders.Add(1) >= int32(runtime.GOMAXPROCS(0)) {
		holders.Add(-1)
		return
	}
	p.holds, p.since = true, time.Now()
	// It may have been this thread that waited for all of the program's
	// connections. That is another's from here on: the scheduler's own looks for
	// them every 10 ms only.
	runtime.Gosched()
}

// notify shows the scheduler, now and then, that the goroutine runs. It may run for
// long without a processor of its own too: where there is always something to read.
func (p *poller) notify() {
	if now := time.Now(); now.Sub(p.since) > unnotified {
		p.since = now
		unix.EpollWait(p.set, make([]unix.EpollEvent, 1), 0)
	}
}

// release ends that; the goroutine's last call too.
func (p *poller) release() {
	if p.holds {
		holders.Add(-1)
		p.holds = false
	}
}

// park waits as any other goroutine does.
func (p *poller) park(events []unix.EpollEvent) (n int, err error) {
	failed := p.parked.Read(func(outer uintptr) bool {
		if err = p.heed(outer, unix.EPOLLIN); err == nil {
			n, err = epollWait(p.set, events, 0)
		}
		return n > 0 || err != nil
	})
	p.parked.Control(func(outer uintptr) { p.heed(outer, 0) })
	p.resumed = true
	return n, errors.Join(err, failed)
}

// heed says which events of set Go's poller is to hear of.
func (p *poller) heed(outer uintptr, which uint32) error {
	event := unix.EpollEvent{Events: which}
	return os.NewSyscallError("epoll_ctl", unix.EpollCtl(int(outer), unix.EPOLL_CTL_MOD, p.set, &event))
}

// The scheduler does not see the system calls that follow: they take no longer
// than it takes to copy the bytes, or than a poller lingers.

// epollWait is epoll_wait(2). A signal, by which the scheduler and the collector
// stop a thread, ends it early.
func epollWait(set int, events []unix.EpollEvent, milliseconds int) (int, error) {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(set), uintptr(unsafe.Pointer(unsafe.SliceData(events))), uintptr(len(events)), uintptr(milliseconds), 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// read is read(2), of a descriptor that does not wait.
func read(fd int, b []byte) (int, error) { return transfer(unix.SYS_READ, fd, b) }

// write is write(2), to a descriptor that does not wait.
func write(fd int, b []byte) (int, error) { return transfer(unix.SYS_WRITE, fd, b) }

func transfer(call uintptr, fd int, b []byte) (int, error) {
	n, _, errno := unix.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
