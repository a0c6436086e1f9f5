//go:build unix

package socket

import (
	"context"
	"fmt"
	"net"
	"path/filepath"

	"browser-coordinator/internal/usersocket"
)

// Connect dials a window's socket after the checks of spec 9, and then checks the peer.
func Connect(ctx context.Context, a Address) (net.Conn, error) {
	path := string(a)
	if len(path) > usersocket.MaxPath {
		return nil, fmt.Errorf("the path %s has %d bytes, a socket's has %d at most", path, len(path),
			usersocket.MaxPath)
	}
	if err := checkDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	if _, err := usersocket.Check(path); err != nil {
		return nil, err
	}
	return usersocket.Dial(ctx, path)
}
