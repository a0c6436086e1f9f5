package cdpproxy

import (
	"net"
	"net/http"
	"sync"

	"browser-coordinator/cdpproxy/peer"
)

// arriving are the connections of the HTTP server. Those that have not been admitted get
// refusals only.
type arriving struct {
	mu     sync.Mutex // guards the fields that follow
	ending bool
	open   int // connections, also those that have been admitted
	// silent: the connection has sent no request. Browsers open some in advance, and
	// http.Server would wait 5 s for them.
	silent map[net.Conn]bool
}

// maxUnauthenticated bounds the unauthenticated connections, where the system can
// prove the owner of a connection. Beyond it only connections of the same user are
// accepted: another user could use up all descriptors.
const maxUnauthenticated = 256

// watch follows the state of each connection. It handles a new one before anything
// else does.
func (a *arriving) watch(conn net.Conn, state http.ConnState) {
	if state == http.StateNew && PeerProof && a.isFull() && peer.CheckClient(conn) != nil {
		conn.Close() // http.Server reports that too
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch state {
	case http.StateNew:
		a.open++
		a.silent[conn] = true
		if a.ending || a.open > maxClients+maxUnauthenticated {
			conn.Close()
		}
	case http.StateActive: // a request has begun
		if _, unauthenticated := a.silent[conn]; unauthenticated {
			a.silent[conn] = false
		}
	default:
		delete(a.silent, conn) // a refusal ends the connection
	}
	if state == http.StateHijacked || state == http.StateClosed {
		a.open--
	}
}

func (a *arriving) isFull() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.silent) >= maxUnauthenticated
}

// stop closes the silent connections, from now on too.
func (a *arriving) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ending = true
	for conn, silent := range a.silent {
		if silent {
			conn.Close()
		}
	}
}
