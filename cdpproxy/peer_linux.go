package cdpproxy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"golang.org/x/sys/unix"
)

// PeerProof tells whether the system can prove that a client belongs to the
// same user. Where it cannot, every client needs the token.
const PeerProof = true

// Sizes and offsets of linux/inet_diag.h and linux/netlink.h.
const (
	diagRequestSize = unix.SizeofNlMsghdr + 56 // inet_diag_req_v2
	diagReplySize   = unix.SizeofNlMsghdr + 72 // inet_diag_msg
	sockDiagFamily  = 20                       // SOCK_DIAG_BY_FAMILY

	tcpEstablished = 1
)

// peerUID asks the kernel who owns the other end of conn, a TCP connection
// within this machine. It asks for that very connection (sock_diag), so its
// cost does not grow with the number of sockets, as /proc/net/tcp's does.
func peerUID(conn net.Conn) (int, error) {
	client, err1 := netip.ParseAddrPort(conn.RemoteAddr().String())
	server, err2 := netip.ParseAddrPort(conn.LocalAddr().String())
	if err := errors.Join(err1, err2); err != nil {
		return 0, fmt.Errorf("not a TCP connection: %w", err)
	}
	reply, err := diagExchange(diagRequest(client, server))
	if err != nil {
		return 0, fmt.Errorf("sock_diag: %w", err)
	}
	return parseDiag(reply, client, server)
}

func diagExchange(request []byte) ([]byte, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_INET_DIAG)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 1}); err != nil {
		return nil, err
	}
	kernel := &unix.SockaddrNetlink{Family: unix.AF_NETLINK}
	if err := unix.Sendto(fd, request, 0, kernel); err != nil {
		return nil, err
	}
	reply := make([]byte, 4096)
	for {
		n, from, err := unix.Recvfrom(fd, reply, 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, err
		}
		// Only the kernel's own word counts.
		if sa, ok := from.(*unix.SockaddrNetlink); !ok || sa.Pid != 0 {
			continue
		}
		return reply[:n], nil
	}
}

// diagRequest asks for the socket whose local end is client and whose remote
// end is server.
func diagRequest(client, server netip.AddrPort) []byte {
	b := make([]byte, diagRequestSize)
	native := binary.NativeEndian
	native.PutUint32(b[0:], diagRequestSize)
	native.PutUint16(b[4:], sockDiagFamily)
	native.PutUint16(b[6:], unix.NLM_F_REQUEST)
	native.PutUint32(b[8:], 1) // sequence

	req := b[unix.SizeofNlMsghdr:]
	src, dst := client.Addr().Unmap(), server.Addr().Unmap()
	req[0] = unix.AF_INET6
	if src.Is4() {
		req[0] = unix.AF_INET
	}
	req[1] = unix.IPPROTO_TCP
	native.PutUint32(req[4:], ^uint32(0)) // states: any
	id := req[8:]
	binary.BigEndian.PutUint16(id[0:], client.Port())
	binary.BigEndian.PutUint16(id[2:], server.Port())
	copy(id[4:20], src.AsSlice())
	copy(id[20:36], dst.AsSlice())
	native.PutUint64(id[40:], ^uint64(0)) // no cookie
	return b
}

func parseDiag(b []byte, client, server netip.AddrPort) (int, error) {
	native := binary.NativeEndian
	if len(b) >= unix.SizeofNlMsghdr+4 && native.Uint16(b[4:]) == unix.NLMSG_ERROR {
		return 0, fmt.Errorf("sock_diag: %w", unix.Errno(-int32(native.Uint32(b[unix.SizeofNlMsghdr:]))))
	}
	if len(b) < diagReplySize || native.Uint16(b[4:]) != sockDiagFamily {
		return 0, errors.New("sock_diag: malformed answer")
	}
	msg := b[unix.SizeofNlMsghdr:]
	id := msg[4:]
	// When the client is gone the kernel may answer with a listener or with a
	// socket in TIME_WAIT, whose user is 0: neither proves anything.
	if msg[1] != tcpEstablished ||
		binary.BigEndian.Uint16(id[0:]) != client.Port() ||
		binary.BigEndian.Uint16(id[2:]) != server.Port() ||
		native.Uint32(msg[68:]) == 0 { // inode
		return 0, errors.New("the client has closed its end")
	}
	return int(native.Uint32(msg[64:])), nil
}
