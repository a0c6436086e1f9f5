package cdpproxy

import (
	"net"
	"time"
)

// Limits replace bounds whose real size would make a test slow. Zero keeps the real
// one.
type Limits struct {
	Memory       int // of everything kept for clients
	Headers      int // of one message's frames
	TapBytes     int
	CloseTimeout time.Duration
	HTTPTimeout  time.Duration // for a header, for a body and for a response
}

// SetLimits must be called before Serve.
func (p *Proxy) SetLimits(l Limits) {
	if l.Memory > 0 {
		p.limits.memory = &budget{limit: l.Memory}
	}
	if l.CloseTimeout > 0 {
		p.limits.closeTimeout = l.CloseTimeout
	}
	if l.HTTPTimeout > 0 {
		p.server.ReadHeaderTimeout, p.limits.bodyTimeout, p.limits.responseTimeout = l.HTTPTimeout, l.HTTPTimeout, l.HTTPTimeout
	}
	for _, set := range []struct {
		limit *int
		to    int
	}{
		{&p.limits.headers, l.Headers},
		{&p.limits.tapBytes, l.TapBytes},
	} {
		if set.to > 0 {
			*set.limit = set.to
		}
	}
}

// LowWater is lowWater.
const LowWater = lowWater

// KeepAlive changes the TCP keep-alive of connections from now on, and returns the
// old configuration.
func KeepAlive(now net.KeepAliveConfig) (before net.KeepAliveConfig) {
	before, keepAlive = keepAlive, now
	return before
}
