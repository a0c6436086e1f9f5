//go:build unix

package vscodeipc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"browser-coordinator/internal/must"
)

// TestEventAndCheckHasNoGap subscribes clients while the state changes continuously.
// Each gets every change after its snapshot, once and in order. VSCODEIPC_ROUNDS sets more
// of both.
func TestEventAndCheckHasNoGap(t *testing.T) {
	s := serve(t, ServerOptions{Workspace: home(t)})
	changes, clients := int64(min(5*roundsOr(t, 30), 400)), min(2*roundsOr(t, 30), 200)
	var work sync.WaitGroup
	for range clients {
		c := connect(t, s.Address())
		work.Go(func() {
			first, err := c.listen(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			if first.State.Revision != first.Seq {
				t.Errorf("the snapshot of event %d has revision %d", first.Seq, first.State.Revision)
			}
			for seq := first.Seq + 1; seq <= changes; seq++ {
				e, ok := <-c.events
				if !ok {
					t.Errorf("the connection ended before event %d: %v", seq, c.endError())
					return
				}
				if e.seq != seq {
					t.Errorf("event %d came where %d was due", e.seq, seq)
					return
				}
			}
		})
	}
	work.Go(func() {
		for n := range changes {
			if err := s.SetState(numbered(int(n) + 1)); err != nil {
				t.Error(err)
			}
		}
	})
	work.Wait()
}

// sized returns a state of a little more than that many bytes.
func sized(size int) State {
	state := numbered(1)
	state.DebugSessions[0].Name = strings.Repeat("x", size)
	return state
}

// TestReaderThatNeverReads: the window disconnects it with a reason, and it delays no
// other client.
func TestReaderThatNeverReads(t *testing.T) {
	setLimit(t, &maxWaiting, 512<<10)
	s := serve(t, ServerOptions{Workspace: home(t)})
	stuck := dialRaw(t, s.Address())
	stuck.send(`{"id":1,"type":"listen","version":2,"payload":{"events":["state"]}}`)
	if m := stuck.receive(); m["success"] != true {
		t.Fatalf("listen gives %v", m)
	}
	c := connect(t, s.Address())
	listen(t, c)
	const tooMany = 17
	for n := int64(1); n <= tooMany; n++ {
		setState(t, s, sized(64<<10))
		setState(t, s, numbered(int(n)))
		for _, want := range []int64{2*n - 1, 2 * n} {
			if n < tooMany {
				if e := <-c.events; e.seq != want {
					t.Fatalf("the reader that reads gets event %d for %d", e.seq, want)
				}
			}
		}
	}
	// Read at once: the window waits only a second for its last line to be sent.
	all := must.Get(io.ReadAll(stuck.lines))(t)
	lines := bytes.SplitAfter(all, []byte("\n"))
	if last := lines[len(lines)-2]; !bytes.Contains(last, []byte(`"type":"bye","payload":{"reason":"slow_reader"`)) {
		t.Errorf("the last line is %.80q", last)
	}
	for n, line := range lines[:len(lines)-1] { // the first was sent in part before
		if !json.Valid(line) {
			t.Errorf("line %d is cut short: %.80q", n, line)
		}
	}
}

func TestProgramThatLeavesEventsUnread(t *testing.T) {
	s := serve(t, ServerOptions{Workspace: home(t)})
	c := connect(t, s.Address())
	listen(t, c)
	for n := range 1000 {
		setState(t, s, numbered(n))
	}
	c.loops.Wait()
	if err := c.endError(); err == nil || !strings.Contains(err.Error(), "unread") {
		t.Errorf("it ended with %v", err)
	}
}

func TestStateTooLargeIsRefused(t *testing.T) {
	// An eighth of the line is for the other members of a message, as with the real
	// limits.
	setLimit(t, &maxLine, 8<<14)
	setLimit(t, &maxState, 7<<14)
	s := serve(t, ServerOptions{Workspace: home(t)})
	if err := s.SetState(sized(maxState)); err == nil {
		t.Error("a state over the limit was accepted")
	}
	// Every state that SetState accepts can be sent in every kind of message.
	setState(t, s, sized(maxState-500))
	c := connect(t, s.Address())
	if got := c.hello.State.Revision; got != 1 {
		t.Errorf("the hello has revision %d", got)
	}
	if first := listen(t, c); first.State.Revision != 1 {
		t.Errorf("listen gives revision %d", first.State.Revision)
	}
}

// TestSubscriptionsEndWithTheirConnections subscribes many clients, more than once each.
// They leave in every way, and no connection remains.
func TestSubscriptionsEndWithTheirConnections(t *testing.T) {
	const clients = 60
	s := serve(t, ServerOptions{Workspace: home(t)})
	for way, leave := range map[string]func(*net.UnixConn) error{
		"closes":             (*net.UnixConn).Close,
		"ends its side":      (*net.UnixConn).CloseWrite,
		"in mid-line":        func(c *net.UnixConn) error { fmt.Fprint(c, `{"id":9,`); return c.Close() },
		"with unread events": func(c *net.UnixConn) error { c.CloseRead(); return c.Close() },
	} {
		var conns []*net.UnixConn
		for range clients {
			c := dialRaw(t, s.Address())
			for id := range 3 {
				c.send(`{"id":%d,"type":"listen","version":2,"payload":{"events":["state"]}}`, id)
				c.receive()
			}
			conns = append(conns, c.Conn.(*net.UnixConn))
		}
		s.mu.Lock()
		var served []*serverConn
		for c := range s.conns {
			served = append(served, c)
		}
		s.mu.Unlock()
		if len(served) != clients {
			t.Fatalf("%s: %d clients are there, want %d", way, len(served), clients)
		}
		setState(t, s, State{Browser: &Browser{URL: "ws://127.0.0.1:1/", Product: way, Via: "launched"}})
		for _, conn := range conns {
			must.Do(t, leave(conn))
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
