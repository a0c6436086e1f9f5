// Package eventloop moves the bytes of many connections. On Linux one goroutine
// does it for all of them, by epoll. With two goroutines for each pair of
// connections and Go's own poller a message costs twice as much, and an idle pair
// needs three times the memory.
//
// On other systems, and with the build tag noeventloop, a loop has a goroutine for
// each connection. Its users see no difference.
package eventloop

// Conn is a connection in a loop. Its owner serialises the calls of its methods.
// None of them blocks.
type Conn interface {
	// Write returns how many bytes of b were accepted. If these are not all, the
	// loop calls Writable when there is room again.
	Write(b []byte) (int, error)
	// Read starts or stops the calls of Received; at first they are stopped. A call
	// may be under way when it returns.
	Read(on bool)
	// CloseWrite ends the stream to the peer, behind what was written.
	CloseWrite()
	// Close closes the connection. The handler may be called again if a call has begun.
	Close()
}

// Handler owns a connection. There is only one call of Received at a time. Neither
// method may block, except Received for data that was to be handled apart.
type Handler interface {
	// Received handles data, or with err the end of the stream. data is valid until
	// it returns.
	Received(data []byte, err error) Next
	// Writable is called when the connection accepts bytes again, or has failed.
	Writable()
}

// Next is how a loop reads on.
type Next struct {
	// LowWater is how many bytes are worth a call of Received, unless the stream
	// ends or the system's buffer is full. Zero: any.
	LowWater int
	// Apart: the next call of Received has a goroutine of its own, since it may take
	// long.
	Apart bool
}

// BufferSize bounds the data of one call of Received. A call with less data has
// emptied the system's buffer.
const BufferSize = 1 << 20
