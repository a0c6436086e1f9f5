package cdpproxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
)

// peer remembers who is at the other end of one TCP connection. The kernel is
// asked at most once for each connection, before a byte is forwarded.
type peer struct {
	conn net.Conn
	once sync.Once
	err  error // why the peer is not proven to be the same user; nil if it is
}

type peerKey struct{}

func withPeer(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, peerKey{}, &peer{conn: conn})
}

// samePeer returns nil if the client's process belongs to the user of this one.
func samePeer(r *http.Request) error {
	p, ok := r.Context().Value(peerKey{}).(*peer)
	if !ok {
		return errors.New("the connection is unknown")
	}
	p.once.Do(p.check)
	return p.err
}

func (p *peer) check() { p.err = ownPeer(p.conn) }

// ownPeer asks the kernel whether the other end of conn belongs to the user of this
// process; nil if it does.
func ownPeer(conn net.Conn) error {
	uid, err := peerUID(conn)
	switch own := os.Getuid(); {
	case err != nil:
		return fmt.Errorf("cannot tell which user connects (%w)", err)
	case uid == overflowUID:
		// What a user namespace shows for every user it does not know.
		return errors.New("cannot tell which user connects (the user is unknown in this namespace)")
	case uid != own:
		return fmt.Errorf("the connection comes from user %d, the coordinator runs as user %d", uid, own)
	}
	return nil
}

const overflowUID = 65534
