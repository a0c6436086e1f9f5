package cdpproxy

import (
	"net"
	"time"
)

// Limits replace bounds whose real size would make a test slow. Zero keeps the real
// one.
type Limits struct {
	Memory                      int // of everything kept for clients, with the timeouts below
	StallTimeout, MemoryTimeout time.Duration
	WaitingBytes, Headers       int
	TapMessages, TapBytes       int
	CloseTimeout                time.Duration
}

// SetLimits must be called before Serve.
func (p *Proxy) SetLimits(l Limits) {
	if l.Memory > 0 {
		p.limits.memory = newBudget(l.Memory, l.StallTimeout, l.MemoryTimeout)
	}
	if l.CloseTimeout > 0 {
		p.limits.closeTimeout = l.CloseTimeout
	}
	for _, set := range []struct {
		limit *int
		to    int
	}{
		{&p.limits.waitingBytes, l.WaitingBytes}, {&p.limits.headers, l.Headers},
		{&p.limits.tapMessages, l.TapMessages}, {&p.limits.tapBytes, l.TapBytes},
	} {
		if set.to > 0 {
			*set.limit = set.to
		}
	}
}

// LowWater is lowWater.
const LowWater = lowWater

// Only returns how many bytes the only relay has read from its client and from its
// browser, and whether the loop has it.
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

// EndLoop makes relays that begin from now on run without the loop.
func (p *Proxy) EndLoop() { p.endLoop() }

// KeepAlive changes the TCP keep-alive of connections from now on, and returns the
// old configuration.
func KeepAlive(now net.KeepAliveConfig) (before net.KeepAliveConfig) {
	before, keepAlive = keepAlive, now
	return before
}
