//go:build !noeventloop

package eventloop

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// What follows is for the tests of packages that use a loop.

// Linger has loops that start from now on wait so many milliseconds for more before
// they wait as other goroutines do, and returns what that was before.
func Linger(milliseconds int) (before int) {
	before, lingering = lingering, milliseconds
	return before
}

// Lingering is how many loops do that now.
func Lingering() int { return int(holders.Load()) }

// Stale has the loop get events over and over, from its own epoll, of every
// descriptor up to n, as if pairs had had them just before. stop ends that.
func (l *loop) Stale(n int) (stop func(), err error) {
	l.set(n, nil) // as if pairs had had them all
	var ready []int
	stop = func() {
		for _, fd := range ready {
			unix.Close(fd)
		}
	}
	for fd := range n {
		if fd == l.poller.wake {
			continue // no pair ever has it
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

// Watched is how many descriptors the loop gets events of, and of how many it knows
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
	return strings.Count(string(info), "tfd:") - 1, known, err // but for the one that wakes it
}

// Late is what the loop does when it has found a descriptor's pair and comes to it
// only now, for each that it knows.
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
