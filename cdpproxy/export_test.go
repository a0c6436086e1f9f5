package cdpproxy

import (
	"cmp"
	"net"
	"time"

	"browser-coordinator/cdpproxy/peer"
	"browser-coordinator/internal/queue"
)

// Limits replace bounds whose real size would make a test slow. Zero keeps the real
// one.
type Limits struct {
	Memory       int // of everything kept for clients
	Buffered     int // for one client that does not read
	TapBytes     int
	CloseTimeout time.Duration
	HTTPTimeout  time.Duration // for a header, for a body and for a response
}

// SetLimits must be called before Serve.
func (p *Proxy) SetLimits(l Limits) {
	now := &p.limits
	if l.Memory > 0 {
		now.memory = queue.NewBudget(l.Memory)
	}
	now.buffered, now.tapBytes = cmp.Or(l.Buffered, now.buffered), cmp.Or(l.TapBytes, now.tapBytes)
	now.closeTimeout, now.bodyTimeout = cmp.Or(l.CloseTimeout, now.closeTimeout), cmp.Or(l.HTTPTimeout, now.bodyTimeout)
	now.responseTimeout, p.server.ReadHeaderTimeout = cmp.Or(l.HTTPTimeout, now.responseTimeout), cmp.Or(l.HTTPTimeout,
		p.server.ReadHeaderTimeout)
}

// KeepAlive changes the TCP keep-alive of connections from now on, and returns the
// old configuration.
func KeepAlive(now net.KeepAliveConfig) (before net.KeepAliveConfig) {
	before, keepAlive = keepAlive, now
	return before
}

// KnowPrograms makes the programs of clients known, as outside of these tests. Theirs are
// all in one process.
func KnowPrograms() (undo func()) {
	identify = peer.Program
	return KnowNoPrograms
}

// KnowNoPrograms makes the programs of all clients unknown, as on systems other than Linux.
func KnowNoPrograms() { identify = func(net.Conn) string { return "" } }

// QueueAll makes the relays from now on queue everything for their clients, as on Windows.
func QueueAll() (undo func()) {
	before := canEndWrites
	canEndWrites = false
	return func() { canEndWrites = before }
}
