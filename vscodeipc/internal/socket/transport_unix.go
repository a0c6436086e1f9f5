//go:build unix

package socket

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
)

// Connect dials a window's socket after the checks of spec 9, and then checks the peer.
func Connect(ctx context.Context, a Address) (net.Conn, error) {
	path := string(a)
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf("the path %s has %d bytes, a socket's has %d at most", path, len(path), maxSocketPath)
	}
	if err := checkDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	if _, err := checkSocket(path); err != nil {
		return nil, err
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if err := CheckPeer(conn); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// CheckPeer refuses a peer that runs as another user, where the system reports it.
func CheckPeer(conn net.Conn) error {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return nil // not a socket: a test's
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return fmt.Errorf("ask who the peer is: %w", err)
	}
	var uid int
	var failed error
	err = raw.Control(func(fd uintptr) { uid, failed = peerUID(int(fd)) })
	switch {
	case err != nil || failed != nil:
		return fmt.Errorf("ask who the peer is: %w", errors.Join(err, failed))
	case uid != os.Getuid():
		return fmt.Errorf("refuse the peer: it runs as uid %d, not as uid %d: %w", uid, os.Getuid(), ErrForeign)
	}
	return nil
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
