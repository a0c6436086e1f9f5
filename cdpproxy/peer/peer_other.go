//go:build !linux

package peer

import (
	"errors"
	"net"
)

// Proof: only Linux reports which user owns the other end of a TCP connection.
const Proof = false

var errUnknown = errors.New("this system does not report it")

func clientUID(net.Conn) (int, error) { return 0, errUnknown }
func serverUID(net.Conn) (int, error) { return 0, errUnknown }

// Program would identify the program at the other end of conn: the system does not report
// it.
func Program(net.Conn) string { return "" }

// ServerProcess would return the process that serves conn: the system does not report it.
func ServerProcess(net.Conn) (int, string) { return 0, "" }
