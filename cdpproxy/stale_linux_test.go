package cdpproxy

import (
	"golang.org/x/sys/unix"
)

// Stale has the proxy's loop hear over and over, from its own epoll, of every
// descriptor up to n, as if relays had had them just before. stop ends that.
func (p *Proxy) Stale(n int) (stop func(), err error) {
	p.mu.Lock()
	l := p.loop
	p.mu.Unlock()
	l.set(n, nil) // as if it had had them all
	var ready []int
	stop = func() {
		for _, fd := range ready {
			unix.Close(fd)
		}
	}
	for fd := range n {
		if fd == l.wake {
			continue // no relay ever has it
		}
		always, err := unix.Eventfd(1, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
		if err != nil {
			stop()
			return nil, err
		}
		ready = append(ready, always)
		event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}
		if err := unix.EpollCtl(l.epoll, unix.EPOLL_CTL_ADD, always, &event); err != nil {
			stop()
			return nil, err
		}
	}
	return stop, nil
}
