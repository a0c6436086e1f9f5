// Package peer checks who owns the process at the other end of a TCP connection
// within this machine, and bounds the connections of others. Linux reports the user of each
// socket; other systems do not (see [Proof]).
package peer

import (
	"errors"
	"fmt"
	"net"
	"os"

	"browser-coordinator/internal/trusted"
)

// errClosed: the socket exists, but its process has closed the connection.
var errClosed = errors.New("the other end has closed the connection")

// OtherUserError reports that the connection comes from another user, or from one that is
// unknown in this namespace.
type OtherUserError struct{ UID, OwnUID int }

func (e *OtherUserError) Error() string {
	return fmt.Sprintf("the connection comes from user %d, the coordinator runs as user %d", e.UID, e.OwnUID)
}

// CheckClient returns nil if the process that dialed conn belongs to the user of
// this process.
func CheckClient(conn net.Conn) error {
	uid, err := clientUID(conn)
	switch {
	case err != nil:
		return fmt.Errorf("cannot find out which user connects (%w)", err)
	case !trusted.IsOwn(uid):
		return &OtherUserError{uid, os.Getuid()}
	}
	return nil
}

// Listener closes the connections of other users, where the system reports them.
type Listener struct{ net.Listener }

// Accept returns the next connection that is not another user's.
func (l Listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil || !errors.As(CheckClient(conn), new(*OtherUserError)) {
			return conn, err
		}
		conn.Close()
	}
}

// A ForeignError reports that a port which should be the browser's belongs to
// another user, or that its owner cannot be determined.
type ForeignError struct {
	Address string // that was dialed
	UID     int    // of the process that listens; -1: unknown
	Cause   error  // why it is unknown
}

func (e *ForeignError) Error() string {
	if e.UID < 0 {
		return fmt.Sprintf("cannot find out which user's program listens at %s (%v), so nothing was sent to it. The "+
			"browser must run on this system, outside of other containers, as the user who runs the "+
			"coordinator", e.Address, e.Cause)
	}
	return fmt.Sprintf("a program of user %d listens at %s, not your browser, so nothing was sent to it. The "+
		"browser has probably ended and its port was taken: start the browser again, with a free "+
		"port", e.UID, e.Address)
}

func (e *ForeignError) Unwrap() error { return e.Cause }

// CheckServer returns nil if the process that serves conn, which this process has
// dialed, belongs to the user of this process or to root. Root can read everything
// of this user anyway, and a container's published port belongs to root. Otherwise
// it returns a *ForeignError. Call it before any write to conn: a port outlives its
// browser, and any user may take it.
//
// Where Proof is false, or conn leads to another machine, it returns nil.
func CheckServer(conn net.Conn) error {
	far, ok := conn.RemoteAddr().(*net.TCPAddr)
	if !Proof || !ok || !far.IP.IsLoopback() {
		return nil
	}
	uid, err := serverUID(conn)
	switch {
	case err != nil:
		return &ForeignError{Address: far.String(), UID: -1, Cause: err}
	case !trusted.IsOwn(uid) && uid != 0:
		return &ForeignError{Address: far.String(), UID: uid}
	}
	return nil
}
