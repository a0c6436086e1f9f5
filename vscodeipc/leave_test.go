//go:build unix

package vscodeipc

import (
	"fmt"
	"net"
	"testing"
	"time"
)

// TestSubscriptionsEndWithTheirConnections subscribes many clients, more than once each.
// They leave in every way, and no subscription remains.
func TestSubscriptionsEndWithTheirConnections(t *testing.T) {
	const clients = 60
	dataHome(t)
	s := serveHere(t)
	ways := map[string]func(*net.UnixConn) error{
		"closes":             (*net.UnixConn).Close,
		"ends its side":      (*net.UnixConn).CloseWrite,
		"in mid-line":        func(c *net.UnixConn) error { fmt.Fprint(c, `{"id":9,`); return c.Close() },
		"with unread events": func(c *net.UnixConn) error { c.CloseRead(); return c.Close() },
	}
	for way, leave := range ways {
		var conns []*net.UnixConn
		for range clients {
			conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: string(s.Address()), Net: "unix"})
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			conn.SetDeadline(time.Now().Add(10 * time.Second))
			for id := range 3 {
				fmt.Fprintf(conn, `{"id":%d,"type":"listen","version":2,"payload":{"events":["state"]}}`+"\n", id)
			}
			lines := newLineReader(conn)
			for range 3 {
				if _, err := lines.next(); err != nil {
					t.Fatal(err)
				}
			}
			conns = append(conns, conn)
		}
		s.mu.Lock()
		var served []*serverConn
		for c := range s.conns {
			served = append(served, c)
			if len(c.listening) != 1 {
				t.Errorf("a client that asked three times has the subscriptions %v", c.listening)
			}
		}
		s.mu.Unlock()
		if len(served) != clients {
			t.Fatalf("%s: %d clients are there, want %d", way, len(served), clients)
		}
		if err := s.SetState(State{Browser: &Browser{URL: "ws://127.0.0.1:1/", Product: way, Via: "launched"}}); err != nil {
			t.Fatal(err)
		}
		for _, conn := range conns {
			if err := leave(conn); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range served {
			<-c.ctx.Done() // the last thing that the read loop does
		}
		s.mu.Lock()
		if len(s.conns) != 0 {
			t.Errorf("%s: %d connections stay", way, len(s.conns))
		}
		s.mu.Unlock()
	}
}
