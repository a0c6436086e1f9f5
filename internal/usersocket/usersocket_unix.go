//go:build unix

package usersocket

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"browser-coordinator/internal/trusted"
)

// listener removes the name of its socket before it stops listening.
type listener struct {
	*net.UnixListener
	path string
}

// Listen listens at path, whose folder must be the user's alone. It replaces the socket
// of a process that has ended, so its caller excludes other processes. The name appears
// with a socket behind it that listens already.
func Listen(path string) (net.Listener, error) {
	temporary := filepath.Join(filepath.Dir(path), "."+filepath.Base(path))
	_ = os.Remove(temporary) // of a process that was killed just here
	var ln *net.UnixListener
	err := shortened(temporary, func(short string) (err error) {
		ln, err = net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
		return err
	})
	if err != nil {
		return nil, err
	}
	ln.SetUnlinkOnClose(false)
	err = os.Chmod(temporary, 0o600)
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(temporary), ln.Close())
	}
	return &listener{ln, path}, nil
}

func (l *listener) Close() error {
	_ = os.Remove(l.path) // doctor may have done it
	return l.UnixListener.Close()
}

// Accept skips processes of other users.
func (l *listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.UnixListener.Accept()
		if err != nil || CheckPeer(conn) == nil {
			return conn, err
		}
		conn.Close()
	}
}

// Dial connects to the process that listens at path, if it is the user's.
func Dial(ctx context.Context, path string) (conn net.Conn, err error) {
	err = shortened(path, func(short string) (err error) {
		conn, err = (&net.Dialer{}).DialContext(ctx, "unix", short)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := CheckPeer(conn); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// ServerPID is the process that listens at path, also if it is stopped.
func ServerPID(ctx context.Context, path string) (pid int, err error) {
	conn, err := Dial(ctx, path)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	err = raw.Control(func(fd uintptr) { pid, failed = serverPID(int(fd)) })
	return pid, errors.Join(err, failed)
}

// IsDead reports whether an error of Dial proves that no process listens. A name appears
// with its listener, so this holds from its first moment on.
func IsDead(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

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
	case !trusted.IsOwn(uid):
		return fmt.Errorf("refuse the peer: it runs as uid %d, not as uid %d: %w", uid, os.Getuid(), ErrForeign)
	}
	return nil
}
