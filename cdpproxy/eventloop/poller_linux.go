//go:build !noeventloop

package eventloop

import (
	"encoding/binary"
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// poller is an epoll set for one goroutine, which waits for it in Go's own poller.
type poller struct {
	set, wake int
	file      *os.File        // of set
	ready     syscall.RawConn // file's
}

func openPoller() (p *poller, err error) {
	p = &poller{set: -1, wake: -1}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	if p.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return p, os.NewSyscallError("eventfd", err)
	}
	if p.set, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return p, os.NewSyscallError("epoll_create1", err)
	}
	unix.SetNonblock(p.set, true) // else os would not have Go's poller watch it
	p.file = os.NewFile(uintptr(p.set), "epoll")
	if err = p.file.SetReadDeadline(time.Time{}); err != nil {
		return p, err // Go's poller does not watch it
	}
	p.watch(p.wake, 0, unix.EPOLLIN)
	p.ready, err = p.file.SyscallConn()
	return p, err
}

// close closes the descriptors; nobody may be waiting.
func (p *poller) close() {
	if p.file != nil {
		p.file.Close()
	}
	if p.wake >= 0 {
		unix.Close(p.wake)
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

// wait waits until descriptors of the set have something to read, or accept bytes again.
// It fills the beginning of events with them, and returns how many.
func (p *poller) wait(events []unix.EpollEvent) (n int, err error) {
	failed := p.ready.Read(func(uintptr) bool {
		n, err = unix.EpollWait(p.set, events, 0)
		return n > 0 || err != nil && err != unix.EINTR
	})
	return n, errors.Join(err, failed)
}
