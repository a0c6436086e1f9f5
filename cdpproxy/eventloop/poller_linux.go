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

// lingering is for how many milliseconds a poller that has just had something to
// read waits in the kernel for more. Tests change it.
var lingering = 10

// unnotified is how long messages may follow one another before the scheduler is
// notified. The scheduler's own thread may be asleep; a system call that it sees
// wakes it. From then on it takes the processor away from time to time, if other
// goroutines need it.
const unnotified = 100 * time.Millisecond

// poller is an epoll set for one goroutine. While messages follow one another it
// costs what it costs in C: one system call for each wait, and no other thread
// wakes.
//
// A system call that waits hands its processor to Go's scheduler. Taking one again
// wakes the scheduler's own thread, which then checks it every 20 µs: a tenth of
// the cost of an evaluate. A wait in Go's poller wakes a thread that searches for
// other work, at each message. So while messages follow one another the poller
// waits in a system call that the scheduler does not see, for a moment at a time.
// When no message comes, it waits like any other goroutine (ADR 22).
type poller struct {
	set, wake int
	linger    int // milliseconds

	// Go's poller watches outer, a set whose only member is set. outer gets events
	// while the goroutine is parked, and none while messages follow one another.
	outer   *os.File
	outerFD int
	parked  syscall.RawConn // outer's
	attends uint32          // the events of set that outer gets

	resumed bool // after a pause there was something to read again
	holds   bool // a processor, while it lingers

	since time.Time // when it took the processor, or last notified the scheduler
}

// holders is how many pollers linger; one processor always stays free for all
// others.
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
	p.watch(p.wake, 0, unix.EPOLLIN)
	outer, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return p, os.NewSyscallError("epoll_create1", err)
	}
	unix.SetNonblock(outer, true) // else os would not have Go's poller watch it
	p.outerFD = outer
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

// close closes the descriptors; nobody may be waiting.
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

// watch makes wait report the events of a descriptor in place of those before. The
// descriptor is valid, so it can fail only for lack of memory, which Go does not
// survive either.
func (p *poller) watch(fd int, before, events uint32) {
	call := unix.EPOLL_CTL_MOD
	switch {
	case events == 0: // else the end of both streams would be reported
		call = unix.EPOLL_CTL_DEL
	case before == 0:
		call = unix.EPOLL_CTL_ADD
	}
	event := unix.EpollEvent{Events: events, Fd: int32(fd)}
	if err := unix.EpollCtl(p.set, call, fd, &event); err != nil {
		panic(os.NewSyscallError("epoll_ctl", err))
	}
}

// interrupt makes the descriptor wake ready for good.
func (p *poller) interrupt() {
	var one [8]byte
	binary.NativeEndian.PutUint64(one[:], 1)
	unix.Write(p.wake, one[:])
}

// wait returns how many descriptors of the set have something to read, and fills
// the beginning of events with them. It may return early, with none.
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
		p.release() // no event came, or the runtime wants the processor
	}
	return p.park(events)
}

// hold makes the poller linger, if there are enough processors.
func (p *poller) hold() {
	if holders.Add(1) >= int32(runtime.GOMAXPROCS(0)) {
		holders.Add(-1)
		return
	}
	if p.attend(0) != nil {
		holders.Add(-1)
		return // park will return the error
	}
	p.holds, p.since = true, time.Now()
	// This thread may have been the one that polls all of the program's
	// connections. Another one must take over: the scheduler's own thread polls
	// them only every 10 ms.
	runtime.Gosched()
}

// notify shows the scheduler, now and then, that the goroutine runs. Without a held
// processor it may also run for long, when there is always something to read.
func (p *poller) notify() {
	if now := time.Now(); now.Sub(p.since) > unnotified {
		p.since = now
		unix.EpollWait(p.set, make([]unix.EpollEvent, 1), 0)
	}
}

// release ends the lingering. It is also the goroutine's last call.
func (p *poller) release() {
	if p.holds {
		holders.Add(-1)
		p.holds = false
	}
}

// park waits like any other goroutine. Go's poller stays attentive when it returns:
// what came is forwarded first.
func (p *poller) park(events []unix.EpollEvent) (n int, err error) {
	if err := p.attend(unix.EPOLLIN); err != nil {
		return 0, err
	}
	failed := p.parked.Read(func(uintptr) bool {
		n, err = epollWait(p.set, events, 0)
		return n > 0 || err != nil
	})
	p.resumed = true
	return n, errors.Join(err, failed)
}

// attend sets which events of set reach Go's poller.
func (p *poller) attend(which uint32) error {
	if p.attends == which {
		return nil
	}
	p.attends = which
	event := unix.EpollEvent{Events: which}
	return os.NewSyscallError("epoll_ctl", unix.EpollCtl(p.outerFD, unix.EPOLL_CTL_MOD, p.set, &event))
}

// The scheduler does not see the system calls that follow. They take at most as
// long as copying the bytes, or as a poller lingers.

// epollWait is epoll_wait(2). A signal ends it early: the scheduler and the
// collector stop a thread with one.
func epollWait(set int, events []unix.EpollEvent, milliseconds int) (int, error) {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(set), uintptr(unsafe.Pointer(unsafe.SliceData(events))), uintptr(len(events)), uintptr(milliseconds), 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// read is read(2) of a non-blocking descriptor.
func read(fd int, b []byte) (int, error) { return transfer(unix.SYS_READ, fd, b) }

// write is write(2) to a non-blocking descriptor.
func write(fd int, b []byte) (int, error) { return transfer(unix.SYS_WRITE, fd, b) }

func transfer(call uintptr, fd int, b []byte) (int, error) {
	n, _, errno := unix.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
