//go:build !linux

package cdpproxy

import "net"

// loop is for systems with epoll; elsewhere every relay keeps its goroutines.
type loop struct{}

type parked struct{}

func startLoop() (*loop, error)                                       { return nil, nil }
func (*loop) close()                                                  {}
func (*loop) park(*relay) bool                                        { return false }
func (*parked) leaveSoon()                                            {}
func (*parked) write([]byte) (int, error)                             { return 0, nil }
func (*parked) tell([]byte) (int, error)                              { return 0, nil }
func (*parked) conns(bool) (client, upstream *net.TCPConn, err error) { return nil, nil, nil }
