package peer

import (
	"net"
	"net/http"
	"sync"
)

// Connections bounds the connections of an [http.Server], whose ConnState is Watch. The
// server closes each connection whose first request it refuses.
type Connections struct {
	Admitted int // bounds the admitted connections

	mu     sync.Mutex // guards the fields that follow
	ending bool
	open   int // connections, also those that have been admitted
	// unanswered are the connections without an answer to their first request; true: no request
	// yet. Browsers open some in advance, and http.Server would wait 5 s for them.
	unanswered map[net.Conn]bool
}

// maxUnauthenticated bounds the unauthenticated connections, where the system can
// prove the owner of a connection. Beyond it only connections of the same user are
// accepted: another user could use up all descriptors.
const maxUnauthenticated = 256

// Watch follows the state of each connection. It handles a new one before anything
// else does.
func (c *Connections) Watch(conn net.Conn, state http.ConnState) {
	if state == http.StateNew && Proof && c.isFull() && CheckClient(conn) != nil {
		conn.Close() // http.Server reports that too
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
		if c.unanswered == nil {
			c.unanswered = map[net.Conn]bool{}
		}
		c.open++
		c.unanswered[conn] = true
		if c.ending || c.open > c.Admitted+maxUnauthenticated {
			conn.Close()
		}
	case http.StateActive: // a request has begun
		if _, unauthenticated := c.unanswered[conn]; unauthenticated {
			c.unanswered[conn] = false
		}
	default:
		delete(c.unanswered, conn) // a refusal ends the connection
	}
	if state == http.StateHijacked || state == http.StateClosed {
		c.open--
	}
}

func (c *Connections) isFull() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.unanswered) >= maxUnauthenticated
}

// Stop closes the connections that have sent no request, from now on too.
func (c *Connections) Stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ending = true
	for conn, silent := range c.unanswered {
		if silent {
			conn.Close()
		}
	}
}
