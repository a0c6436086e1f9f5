package peer

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// look is find by /proc/net/tcp and tcp6, for systems without sock_diag, such as
// some sandboxes.
func look(local, remote netip.AddrPort) (socket, error) {
	match, unread := socket{}, []error{}
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(name)
		if err != nil {
			unread = append(unread, err)
			continue
		}
		s, ok, err := lookIn(f, local, remote)
		f.Close()
		switch {
		case err != nil:
			return socket{}, fmt.Errorf("%s: %w", name, err)
		case ok && match != socket{} && s != match:
			return socket{}, fmt.Errorf("several sockets at %v", local)
		case ok:
			match = s
		}
	}
	switch {
	case match != socket{}:
		return match, nil
	case len(unread) == 2:
		return socket{}, errors.Join(unread...)
	}
	return socket{}, errNoSocket
}

// lookIn reads a table. Without a remote port it finds the listener at local or at
// every address.
func lookIn(table io.Reader, local, remote netip.AddrPort) (socket, bool, error) {
	lines := bufio.NewScanner(table)
	lines.Scan() // the header
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 10 {
			return socket{}, false, errors.New("a line has too few fields")
		}
		localAddr, err1 := tableAddress(fields[1])
		remoteAddr, err2 := tableAddress(fields[2])
		state, err3 := strconv.ParseUint(fields[3], 16, 8)
		uid, err4 := strconv.ParseUint(fields[7], 10, 32)
		inode, err5 := strconv.ParseUint(fields[9], 10, 64)
		if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
			return socket{}, false, err
		}
		listens := remote.Port() == 0 && state == tcpListen && localAddr.Port() == local.Port() &&
			(localAddr.Addr() == local.Addr() || localAddr.Addr().IsUnspecified())
		if listens || remote.Port() != 0 && localAddr == local && remoteAddr == remote {
			return socket{byte(state), int(uid), inode}, true, nil
		}
	}
	return socket{}, false, lines.Err()
}

// tableAddress reads ADDRESS:PORT, in hexadecimal digits. ADDRESS is one or four
// 32-bit integers in the machine's byte order.
func tableAddress(s string) (netip.AddrPort, error) {
	address, port, _ := strings.Cut(s, ":")
	b, err := hex.DecodeString(address)
	if err != nil || len(b) != 4 && len(b) != 16 {
		return netip.AddrPort{}, fmt.Errorf("address %q", s)
	}
	for i := 0; i < len(b); i += 4 {
		binary.NativeEndian.PutUint32(b[i:], binary.BigEndian.Uint32(b[i:]))
	}
	addr, _ := netip.AddrFromSlice(b)
	n, err := strconv.ParseUint(port, 16, 16)
	return netip.AddrPortFrom(addr.Unmap(), uint16(n)), err
}
