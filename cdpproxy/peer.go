package cdpproxy

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"

	"browser-coordinator/cdpproxy/peer"
)

// PeerProof reports whether the system can prove that a client belongs to the same
// user. Where it cannot, every client needs the token.
const PeerProof = peer.Proof

// clientPeer is the other end of one TCP connection. The kernel is asked at most once for
// each, before a byte is forwarded.
type clientPeer struct {
	check   func() error  // why the peer is not proven to be the same user; nil if it is
	program func() string // empty: unknown
}

type peerKey struct{}

func withPeer(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, peerKey{}, &clientPeer{
		sync.OnceValue(func() error { return peer.CheckClient(conn) }),
		sync.OnceValue(func() string { return identify(conn) }),
	})
}

// identify is another function in tests whose clients are in one process.
var identify = peer.Program

// samePeer returns nil if the client's process belongs to the user of this one.
func samePeer(r *http.Request) error {
	p, ok := r.Context().Value(peerKey{}).(*clientPeer)
	if !ok {
		return errors.New("the connection is unknown")
	}
	return p.check()
}
