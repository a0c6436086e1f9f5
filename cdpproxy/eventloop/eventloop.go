// Package eventloop moves the bytes of many pairs of connections with one
// goroutine. A pair is a client's connection and its upstream's. With two
// goroutines for a pair and Go's own poller a message costs twice as much, and an
// idle pair needs three times the memory (specs/benchmarks.md).
//
// A program works the same without it, only slower: Start returns nil on systems
// without epoll and with the build tag noeventloop. A pair must be unparked when
// one side does not take a write at once. It continues with goroutines of the
// program's own, which can wait.
package eventloop

import "net"

// Side is one connection of a pair.
type Side int

const (
	Client Side = iota
	Upstream
)

// Loop has parked pairs. Its methods may be called from any goroutine.
type Loop interface {
	// Park takes over a pair's connections. When it fails, nothing has changed. The
	// handler may be called before Park returns.
	Park(client, upstream *net.TCPConn, h Handler) (Pair, error)
	// Close ends the loop and waits for it. No pair may be parked.
	Close()
}

// Pair is a parked pair of connections. Its owner serialises the calls of its
// methods with Take, and makes none after Take.
type Pair interface {
	// Write returns how much of b the side took at once.
	Write(to Side, b []byte) (int, error)
	// Unpark makes the loop call Unparked soon, and Received no longer. It does not
	// block.
	Unpark()
	// Take gives the connections back. Unparked calls it. With open false or on an
	// error they are closed.
	Take(open bool) (client, upstream *net.TCPConn, err error)
}

// Handler owns a parked pair.
type Handler interface {
	// Received handles the data or the end of one side. data is valid until it
	// returns. It must not block. It returns the number of bytes of that side to
	// wait for from now on, or 0 for no change.
	Received(from Side, data []byte, err error) (lowWater int)
	// Unparked is the loop's last call. It must not block.
	Unparked()
}
