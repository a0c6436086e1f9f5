package cdpproxy

import (
	"net"
	"net/http"
	"sync"

	"browser-coordinator/cdpproxy/peer"
)

// arriving are the connections of which little is known yet.
type arriving struct {
	mu     sync.Mutex // guards the fields that follow
	ending bool
	// silent are the connections without a request: browsers open some in advance.
	// http.Server would wait 5 s for them.
	silent map[net.Conn]struct{}
	// unauthenticated are the connections that have not been admitted: all of their
	// responses are refusals.
	unauthenticated map[net.Conn]struct{}
}

// maxUnauthenticated bounds the unauthenticated connections, where the system can
// prove the owner of a connection. Beyond it only connections of the same user are
// accepted: another user could use up all descriptors.
const maxUnauthenticated = 256

func (a *arriving) init() {
	a.silent, a.unauthenticated = map[net.Conn]struct{}{}, map[net.Conn]struct{}{}
}

// watch follows the state of each connection. It handles a new one before anything
// else does.
func (a *arriving) watch(conn net.Conn, state http.ConnState) {
	if state == http.StateNew && PeerProof && a.isFull() && peer.CheckClient(conn) != nil {
		conn.Close()
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch state {
	case http.StateNew:
		a.unauthenticated[conn] = struct{}{}
	case http.StateActive: // a request has begun
	default:
		delete(a.unauthenticated, conn) // a refusal ends the connection
	}
	switch {
	case state != http.StateNew:
		delete(a.silent, conn)
	case a.ending:
		conn.Close()
	default:
		a.silent[conn] = struct{}{}
	}
}

func (a *arriving) isFull() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.unauthenticated) >= maxUnauthenticated
}

// stop closes the silent connections, from now on too.
func (a *arriving) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ending = true
	for conn := range a.silent {
		conn.Close()
	}
}
