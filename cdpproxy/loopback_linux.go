package cdpproxy

import (
	"net"

	"golang.org/x/sys/unix"

	"browser-coordinator/cdpproxy/eventloop"
)

// uncontrolled selects the oldest congestion control of Linux for conn, if its
// bytes never leave the machine: tcp(7) TCP_CONGESTION. It sends as long as the
// peer has room. An algorithm that measures the network and paces, as BBR does, has
// nothing to measure here. It costs a timer for each segment, and a fifth of the
// throughput.
func uncontrolled(conn *net.TCPConn) {
	peer, ok := conn.RemoteAddr().(*net.TCPAddr)
	if !ok || !peer.IP.IsLoopback() {
		return
	}
	if raw, err := conn.SyscallConn(); err == nil {
		raw.Control(func(fd uintptr) { unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, "reno") })
	}
}

func (r *reader) wake(bytes int) {
	r.raw.Control(func(fd uintptr) { eventloop.SetLowWater(int(fd), bytes) })
}
