package endpoint

import (
	"errors"
	"net"
	"os"
	"strconv"
)

// listen opens port on both loopback addresses, since "localhost" may mean either. A
// machine without IPv6 has only one.
func listen(port int) ([]net.Listener, error) {
	v4, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, err
	}
	v6, err := net.Listen("tcp6", net.JoinHostPort("::1", strconv.Itoa(port)))
	if err == nil {
		return []net.Listener{v4, v6}, nil
	}
	if isTaken(err) {
		v4.Close()
		return nil, err
	}
	return []net.Listener{v4}, nil
}

// isTaken reports whether err means that the port is in use: on Windows a port with an
// exclusive listener gives "access denied".
func isTaken(err error) bool {
	return errors.Is(err, ErrAddrInUse) || errors.Is(err, os.ErrPermission)
}
