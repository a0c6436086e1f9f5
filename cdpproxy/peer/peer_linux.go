package peer

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
)

// Proof reports whether the system can prove who owns the other end of a
// connection.
const Proof = true

// From net/tcp_states.h.
const (
	tcpEstablished = 1
	tcpSynReceived = 3
	tcpListen      = 10
)

// socket is what the kernel reports of one TCP socket.
type socket struct {
	state byte
	uid   int
	inode uint64 // 0: no process has it, since it is not accepted yet or is closed
}

// errNoSocket: this network namespace has no such socket.
var errNoSocket = errors.New("the system has no such socket")

func clientUID(conn net.Conn) (int, error) {
	remote, local, err := ends(conn)
	if err != nil {
		return 0, err
	}
	s, err := find(remote, local)
	switch {
	case err != nil:
		return 0, err
	case s.state != tcpEstablished || s.inode == 0:
		return 0, errClosed
	}
	return s.uid, nil
}

// serverUID returns the user who has accepted conn or, until then, the one who
// listens. A connection that waits for accept ends with its listener, and two users
// cannot listen at the same address. So if it still waits after the lookup of the
// listener, that listener will accept it.
func serverUID(conn net.Conn) (int, error) {
	remote, local, err := ends(conn)
	if err != nil {
		return 0, err
	}
	if uid, accepted, err := acceptedBy(remote, local); accepted || err != nil {
		return uid, err
	}
	listener, err := find(remote, netip.AddrPortFrom(unspecified(remote.Addr()), 0))
	if err == nil && listener.state != tcpListen {
		err = errNoSocket
	}
	if err != nil {
		return 0, fmt.Errorf("nothing listens there: %w", err)
	}
	if uid, accepted, err := acceptedBy(remote, local); accepted || err != nil {
		return uid, err
	}
	return listener.uid, nil
}

// acceptedBy returns the user of the socket from remote to local, if a process has
// accepted it.
func acceptedBy(remote, local netip.AddrPort) (uid int, accepted bool, err error) {
	s, err := find(remote, local)
	switch {
	case errors.Is(err, errNoSocket): // some systems list only accepted ones
		return 0, false, nil
	case err != nil:
		return 0, false, err
	case s.state == tcpListen, s.inode == 0 && (s.state == tcpEstablished || s.state == tcpSynReceived):
		return 0, false, nil
	case s.inode == 0 || s.state != tcpEstablished:
		return 0, false, errClosed
	}
	return s.uid, true, nil
}

func ends(conn net.Conn) (remote, local netip.AddrPort, err error) {
	remote, err1 := netip.ParseAddrPort(conn.RemoteAddr().String())
	local, err2 := netip.ParseAddrPort(conn.LocalAddr().String())
	if err := errors.Join(err1, err2); err != nil {
		return remote, local, fmt.Errorf("not a TCP connection: %w", err)
	}
	return netip.AddrPortFrom(remote.Addr().Unmap(), remote.Port()), netip.AddrPortFrom(local.Addr().Unmap(),
		local.Port()), nil
}

func unspecified(like netip.Addr) netip.Addr {
	if like.Is4() {
		return netip.IPv4Unspecified()
	}
	return netip.IPv6Unspecified()
}

// find asks the kernel for the socket whose own end is local and whose other end is
// remote; without a remote port, for the listener at local. If the kernel has no
// sock_diag, find reads the table that every system has.
func find(local, remote netip.AddrPort) (socket, error) {
	s, err := ask(local, remote)
	if err == nil || errors.Is(err, errNoSocket) {
		return s, err
	}
	listed, listErr := look(local, remote)
	if listErr != nil && !errors.Is(listErr, errNoSocket) {
		return socket{}, errors.Join(err, listErr)
	}
	return listed, listErr
}
