package cdpproxy

import (
	"fmt"
	"net"
	"os"
	"strings"

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
		if fd == l.poller.wake {
			continue // no relay ever has it
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

// LowWater is lowWater.
const LowWater = lowWater

// Only tells of the only relay how many bytes it has taken from its client and
// from its browser, and whether the loop has it.
func (p *Proxy) Only() (up, down uint64, parked bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for r := range p.relays {
		r.mu.Lock()
		defer r.mu.Unlock()
		up, down, parked = r.bytesUp.Load(), r.bytesDown.Load(), r.parked != nil
	}
	return up, down, parked
}

// Watched is how many descriptors the loop hears of, and of how many it knows the
// relay.
func (p *Proxy) Watched() (heard, known int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	info, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", p.loop.poller.set))
	p.loop.mu.Lock()
	defer p.loop.mu.Unlock()
	for _, e := range p.loop.parked {
		if e != nil {
			known++
		}
	}
	return strings.Count(string(info), "tfd:") - 1, known, err // but for the one that wakes it
}

// Late is what the loop does when it has found a descriptor's relay and comes to
// it only now, for each that it knows.
func (p *Proxy) Late() (looks []func()) {
	p.loop.mu.Lock()
	defer p.loop.mu.Unlock()
	for fd, e := range p.loop.parked {
		if e != nil {
			looks = append(looks, func() { e.move(fd) })
		}
	}
	return looks
}

// EndLoop has relays that begin from now on do without.
func (p *Proxy) EndLoop() { p.endLoop() }

// Linger has the loops of proxies that begin to serve from now on wait so many
// milliseconds for more before they wait as other goroutines do, and returns what
// that was before.
func Linger(milliseconds int) (before int) {
	before, lingering = lingering, milliseconds
	return before
}

// KeepAlive changes how connections from now on are looked after, and returns how
// they were before.
func KeepAlive(now net.KeepAliveConfig) (before net.KeepAliveConfig) {
	before, keepAlive = keepAlive, now
	return before
}

// Lingering is how many loops do that now.
func Lingering() int { return int(holders.Load()) }
