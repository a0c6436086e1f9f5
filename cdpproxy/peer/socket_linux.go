package peer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"
)

// Sizes and offsets from linux/inet_diag.h and linux/netlink.h.
const (
	diagRequestSize = unix.SizeofNlMsghdr + 56 // inet_diag_req_v2
	diagReplySize   = unix.SizeofNlMsghdr + 72 // inet_diag_msg
	sockDiagFamily  = 20                       // SOCK_DIAG_BY_FAMILY
)

// ask is find by sock_diag. It asks the kernel for that one socket, so its cost
// does not grow with the number of sockets, as that of /proc/net/tcp does.
func ask(local, remote netip.AddrPort) (socket, error) {
	reply, err := diagExchange(diagRequest(local, remote))
	if err != nil {
		return socket{}, fmt.Errorf("sock_diag: %w", err)
	}
	return parseDiag(reply, local, remote)
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
		n, sender, err := unix.Recvfrom(fd, reply, 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, err
		}
		// Only what the kernel itself sends counts.
		if sa, ok := sender.(*unix.SockaddrNetlink); !ok || sa.Pid != 0 {
			continue
		}
		return reply[:n], nil
	}
}

func diagRequest(local, remote netip.AddrPort) []byte {
	b := make([]byte, diagRequestSize)
	native := binary.NativeEndian
	native.PutUint32(b[0:], diagRequestSize)
	native.PutUint16(b[4:], sockDiagFamily)
	native.PutUint16(b[6:], unix.NLM_F_REQUEST)
	native.PutUint32(b[8:], 1) // sequence

	req := b[unix.SizeofNlMsghdr:]
	req[0] = unix.AF_INET6
	if local.Addr().Is4() {
		req[0] = unix.AF_INET
	}
	req[1] = unix.IPPROTO_TCP
	native.PutUint32(req[4:], ^uint32(0)) // states: any
	id := req[8:]
	binary.BigEndian.PutUint16(id[0:], local.Port())
	binary.BigEndian.PutUint16(id[2:], remote.Port())
	copy(id[4:20], local.Addr().AsSlice())
	copy(id[20:36], remote.Addr().AsSlice())
	native.PutUint64(id[40:], ^uint64(0)) // no cookie
	return b
}

func parseDiag(b []byte, local, remote netip.AddrPort) (socket, error) {
	native := binary.NativeEndian
	if len(b) >= unix.SizeofNlMsghdr+4 && native.Uint16(b[4:]) == unix.NLMSG_ERROR {
		return socket{}, fmt.Errorf("sock_diag: %w", unix.Errno(-int32(native.Uint32(b[unix.SizeofNlMsghdr:]))))
	}
	if len(b) < diagReplySize || native.Uint16(b[4:]) != sockDiagFamily {
		return socket{}, errors.New("sock_diag: malformed answer")
	}
	msg := b[unix.SizeofNlMsghdr:]
	id := msg[4:]
	// If there is no such connection, the kernel reports the listener.
	if binary.BigEndian.Uint16(id[0:]) != local.Port() || binary.BigEndian.Uint16(id[2:]) != remote.Port() {
		return socket{}, errNoSocket
	}
	return socket{state: msg[1], uid: int(native.Uint32(msg[64:])), inode: uint64(native.Uint32(msg[68:]))}, nil
}
