//go:build !noeventloop

package eventloop

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// The rest of this file is for the tests of packages that use a loop.

// Linger sets for how many milliseconds loops started from now on wait for more
// data before they block like other goroutines. It returns the old value.
func Linger(milliseconds int) (before int) {
	before, lingering = lingering, milliseconds
	return before
}

// Lingering returns how many loops do that now.
func Lingering() int { return int(holders.Load()) }

// Stale makes the loop's epoll return an event for every descriptor up to n again
// and again, like late events of earlier pairs. stop ends that.
func (l *loop) Stale(n int) (stop func(), err error) {
	l.set(n, nil) // as if pairs had used them all
	var ready []int
	stop = func() {
		for _, fd := range ready {
			unix.Close(fd)
		}
	}
	for fd := range n {
		if fd == l.poller.wake {
			continue // no pair ever uses it
		}
		always, err := unix.Eventfd(1, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
		if err != nil {
			stop()
			return nil, err
		}
		ready = append(ready, always)
		event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}
		if err := unix.EpollCtl(l.poller.set, unix.EPOLL_CTL_ADD, always, &event); err != nil {
			stop()
			return nil, err
		}
	}
	return stop, nil
}

// Watched returns how many descriptors the loop watches, and for how many it knows
// the pair.
func (l *loop) Watched() (watched, known int, err error) {
	info, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", l.poller.set))
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.pairs {
		if p != nil {
			known++
		}
	}
	return strings.Count(string(info), "tfd:") - 1, known, err // without the one that wakes it
}

// Late returns a function for each descriptor with a pair. It is what the loop runs
// when it handles an event late.
func (l *loop) Late() (looks []func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for fd, p := range l.pairs {
		if p != nil {
			looks = append(looks, func() { p.move(fd) })
		}
	}
	return looks
}
