//go:build !linux

package cdpproxy

import "net"

func uncontrolled(*net.TCPConn) {}

func (*reader) wake(int) {}
