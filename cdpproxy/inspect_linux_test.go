//go:build !noeventloop

package cdpproxy

// inspected are the methods of a loop for tests.
type inspected interface {
	Stale(n int) (stop func(), err error)
	Watched() (watched, known int, err error)
	Late() (looks []func())
}

func (p *Proxy) inspected() inspected {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.loop.(inspected)
}

// Stale makes the proxy's loop get events again and again for every descriptor up
// to n, like late events of earlier relays. stop ends that.
func (p *Proxy) Stale(n int) (stop func(), err error) { return p.inspected().Stale(n) }

// Watched returns how many descriptors the loop watches, and for how many it knows
// the relay.
func (p *Proxy) Watched() (watched, known int, err error) { return p.inspected().Watched() }

// Late returns a function for each descriptor with a relay. It is what the loop
// runs when it handles an event late.
func (p *Proxy) Late() (looks []func()) { return p.inspected().Late() }
