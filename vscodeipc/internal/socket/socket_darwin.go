package socket

import (
	"fmt"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxSocketPath is what sun_path holds, without its NUL.
const maxSocketPath = 103

// peerUID returns the user at the other end, as the kernel reports it.
func peerUID(conn net.Conn) (uid int, known bool, err error) {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return 0, false, nil
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, false, fmt.Errorf("ask who the peer is: %w", err)
	}
	var cred *unix.Xucred
	var sockErr error
	if err := raw.Control(func(fd uintptr) {
		cred, sockErr = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	}); err != nil {
		return 0, false, fmt.Errorf("ask who the peer is: %w", err)
	}
	if sockErr != nil {
		return 0, false, fmt.Errorf("ask who the peer is: %w", sockErr)
	}
	return int(cred.Uid), true, nil
}
