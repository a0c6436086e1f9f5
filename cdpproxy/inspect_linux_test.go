//go:build !noeventloop

package cdpproxy

// inspected is what a loop has for tests.
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

// Stale has the proxy's loop get events over and over of every descriptor up to n,
// as if relays had had them just before. stop ends that.
func (p *Proxy) Stale(n int) (stop func(), err error) { return p.inspected().Stale(n) }

// Watched is how many descriptors the loop gets events of, and of how many it knows
// the relay.
func (p *Proxy) Watched() (watched, known int, err error) { return p.inspected().Watched() }

// Late is what the loop does when it has found a descriptor's relay and comes to
// it only now, for each that it knows.
func (p *Proxy) Late() (looks []func()) { return p.inspected().Late() }
