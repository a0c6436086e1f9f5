//go:build !linux

package cdpproxy

import "net"

// loop is for systems with epoll; elsewhere every relay keeps its goroutines.
type loop struct{}

type eased struct{}

func startLoop() (*loop, error)                                      { return nil, nil }
func (*loop) close()                                                 {}
func (*loop) ease(*relay) bool                                       { return false }
func (*eased) leaveSoon()                                            {}
func (*eased) write([]byte) (int, error)                             { return 0, nil }
func (*eased) tell([]byte) (int, error)                              { return 0, nil }
func (*eased) conns(bool) (client, upstream *net.TCPConn, err error) { return nil, nil, nil }
