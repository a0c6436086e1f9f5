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

// clientPeer remembers who owns the other end of one TCP connection. The kernel is
// asked at most once for each connection, before a byte is forwarded.
type clientPeer struct {
	conn net.Conn
	once sync.Once
	err  error // why the peer is not proven to be the same user; nil if it is

	identify   sync.Once
	identified string // empty: unknown
}

type peerKey struct{}

func withPeer(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, peerKey{}, &clientPeer{conn: conn})
}

// program identifies the client's program; empty: unknown.
func (p *clientPeer) program() string {
	p.identify.Do(func() { p.identified = peer.Program(p.conn) })
	return p.identified
}

// samePeer returns nil if the client's process belongs to the user of this one.
func samePeer(r *http.Request) error {
	p, ok := r.Context().Value(peerKey{}).(*clientPeer)
	if !ok {
		return errors.New("the connection is unknown")
	}
	p.once.Do(func() { p.err = peer.CheckClient(p.conn) })
	return p.err
}
