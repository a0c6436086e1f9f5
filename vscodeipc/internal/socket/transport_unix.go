//go:build unix

package socket

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"syscall"

	"browser-coordinator/internal/usersocket"
)

// Connect dials a window's socket after the checks of spec 9, and then checks the peer.
func Connect(ctx context.Context, a Address) (net.Conn, error) {
	path := string(a)
	if len(path) > usersocket.MaxPath {
		return nil, fmt.Errorf("the path %s has %d bytes, a socket's has %d at most", path, len(path), usersocket.MaxPath)
	}
	if err := checkDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	if _, err := checkSocket(path); err != nil {
		return nil, err
	}
	return usersocket.Dial(ctx, path)
}

// TryWriter returns a function that writes what the system accepts at once, without
// waiting, and returns the number of bytes. The next write reports an error. Calls must
// not overlap.
func TryWriter(conn net.Conn) func([]byte) int {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return func([]byte) int { return 0 }
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return func([]byte) int { return 0 }
	}
	var line []byte
	var n int
	once := func(fd uintptr) bool {
		n, _ = syscall.Write(int(fd), line)
		return true // do not wait
	}
	return func(b []byte) int {
		line, n = b, 0
		raw.Write(once)
		line = nil
		return max(0, n)
	}
}
