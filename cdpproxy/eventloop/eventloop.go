// Package eventloop moves the bytes of many pairs of connections, each a client's
// and its upstream's, with one goroutine. With two goroutines for a pair and Go's own
// poller a message costs twice as much, and an idle pair three times the memory
// (specs/benchmarks.md).
//
// A program works the same without it, only slower: Start returns nil on systems
// without epoll and with the build tag noeventloop. A pair whose side does not take
// at once what is written to it must be unparked, and goes on with goroutines of the
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
	// Park takes over a pair's connections. Where it fails nothing has changed. The
	// handler may be called before Park returns.
	Park(client, upstream *net.TCPConn, h Handler) (Pair, error)
	// Close ends the loop and waits for it. No pair may be parked.
	Close()
}

// Pair is a parked pair of connections. Its owner serialises the calls of its methods
// with Take, after which it is of no use.
type Pair interface {
	// Write returns how much of b the side took at once.
	Write(to Side, b []byte) (int, error)
	// Unpark has the loop call Unparked soon, and Received no more. It does not block.
	Unpark()
	// Take gives the connections back. Unparked calls it. Where open is false or there
	// is an error they are closed.
	Take(open bool) (client, upstream *net.TCPConn, err error)
}

// Handler owns a parked pair.
type Handler interface {
	// Received handles what one side has sent, or its end. data is the loop's again
	// when it returns. It must not block. It returns how many bytes of that side it is
	// to be called for from now on, or 0 for no change.
	Received(from Side, data []byte, err error) (lowWater int)
	// Unparked is the loop's last call. It must not block.
	Unparked()
}
