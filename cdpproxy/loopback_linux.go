package cdpproxy

import (
	"net"

	"golang.org/x/sys/unix"
)

// uncontrolled has conn, if its bytes never leave the machine, send them by the
// oldest of Linux's ways, tcp(7) TCP_CONGESTION: one that sends what there is as
// long as the peer has room for it. A way that measures the network and paces
// what it sends, as BBR does, has nothing to measure here: it costs a timer for
// each segment, and a fifth of the throughput.
func uncontrolled(conn *net.TCPConn) {
	peer, ok := conn.RemoteAddr().(*net.TCPAddr)
	if !ok || !peer.IP.IsLoopback() {
		return
	}
	if raw, err := conn.SyscallConn(); err == nil {
		raw.Control(func(fd uintptr) { unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, "reno") })
	}
}

// wake has the kernel call a socket readable when so many bytes are there, or its
// end, or no more would find room: socket(7) SO_RCVLOWAT.
func wake(fd, bytes int) {
	if bytes > 1 {
		// The kernel makes room for what it is to wait for, and leaves it so. By
		// SO_RCVBUF there would be less than it gives by itself in many systems.
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVLOWAT, room)
	}
	unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVLOWAT, bytes)
}

func (r *reader) wake(bytes int) {
	r.raw.Control(func(fd uintptr) { wake(int(fd), bytes) })
}
