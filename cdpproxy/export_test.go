package cdpproxy

import "time"

// Limits replace bounds whose real size makes a test slow. Zero keeps the real one.
type Limits struct {
	Memory                      int // of all that is kept for clients, with the timeouts below
	StallTimeout, MemoryTimeout time.Duration
	WaitingBytes, Headers       int
	TapMessages, TapBytes       int
}

// SetLimits is called before Serve.
func (p *Proxy) SetLimits(l Limits) {
	if l.Memory > 0 {
		p.limits.memory = newBudget(l.Memory, l.StallTimeout, l.MemoryTimeout)
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
