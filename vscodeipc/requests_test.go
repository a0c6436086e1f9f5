//go:build unix

package vscodeipc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"browser-coordinator/internal/must"
)

// vectorWindow is the window for the vectors.
func vectorWindow(t testing.TB) *Server {
	folder := home(t)
	return serve(t, ServerOptions{
		Workspace: folder, Folders: []string{folder}, NoDeadline: []string{"wait"},
		Commands: map[string]Handler{"echo": echo, "wait": waitForCancel},
	})
}

func TestInvalidVectors(t *testing.T) {
	s := vectorWindow(t)
	for _, v := range readVectors[invalidVector](t, "invalid") {
		t.Run(v.Name, func(t *testing.T) {
			checkInvalid(t, dialRaw(t, s.Address()), v)
		})
	}
}

func checkInvalid(t *testing.T, c *rawConn, v invalidVector) {
	input := v.input(t)
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		c.Write(input) // may fail: the window may disconnect
	}()
	defer func() { <-sent }()

	answer := c.receive()
	for answer != nil && answer["success"] != false {
		answer = c.receive()
	}
	if answer == nil {
		t.Fatal("the connection ended without an error")
	}
	var wantID any
	must.Do(t, json.Unmarshal(v.Expect.ID, &wantID))
	fault := answer["error"].(map[string]any)
	if fault["code"] != v.Expect.Code || !cmp.Equal(answer["id"], wantID) {
		t.Fatalf("got %v for id %v, want %s for id %v", fault, answer["id"], v.Expect.Code, wantID)
	}
	if fault["message"] == "" {
		t.Error("the error has no text for people")
	}
	data, _ := fault["data"].(map[string]any)
	for name, want := range v.Expect.Data {
		if diff := cmp.Diff(want, data[name]); diff != "" {
			t.Errorf("data.%s: %s", name, diff)
		}
	}
	if v.Expect.Closes {
		expectBye(t, c, v.Expect.Code)
		return
	}
	c.send(`{"id":"still-there","type":"ping","version":2}`)
	for {
		m := c.receive()
		if m == nil {
			t.Fatal("the connection ended")
		}
		if m["id"] == "still-there" {
			return
		}
	}
}

// expectBye checks that the connection ends with a bye.
func expectBye(t *testing.T, c *rawConn, reason string) {
	t.Helper()
	last := c.receive()
	payload, _ := last["payload"].(map[string]any)
	if last["type"] != "bye" || payload["reason"] != reason {
		t.Errorf("the last line is %v, not a bye for %s", last, reason)
	}
	if extra := c.receive(); extra != nil {
		t.Errorf("after bye came %v", extra)
	}
}

func TestOneWindowOneClient(t *testing.T) {
	folder := home(t)
	s := serve(t, ServerOptions{Workspace: folder, Folders: []string{folder},
		Commands: map[string]Handler{"echo": echo}})
	found := find(Hash(folder))
	if diff := cmp.Diff([]Address{s.Address()}, found); diff != "" {
		t.Fatalf("the addresses: %s", diff)
	}
	c := connect(t, found[0])
	if h := c.hello; h.Workspace != folder || h.Session != s.hello.Session {
		t.Errorf("hello is %+v", h)
	}
	var back map[string]int
	if err := c.call(t.Context(), "echo", map[string]int{"a": 1}, &back); err != nil || back["a"] != 1 {
		t.Errorf("echo gives %v, %v", back, err)
	}
	if first := listen(t, c); first.Seq != 0 || first.Session != s.hello.Session {
		t.Fatalf("listen gives %+v", first)
	}
	want := State{
		DebugSessions: []DebugSession{},
		Browser:       &Browser{URL: "ws://127.0.0.1:1/x", Via: "launched"},
		Pages:         []PageEndpoint{},
		Access:        Access{Mode: AccessAsk, Stopped: []string{}},
		Editor:        &Editor{Path: folder + "/a.ts", Line: 1, Column: 2, EndLine: 3, EndColumn: 4, Dirty: true},
	}
	setState(t, s, want)
	want.Revision = 1
	setState(t, s, want) // no change
	e := <-c.events
	if diff := cmp.Diff(want, stateOf(t, e)); diff != "" || e.kind != "state" || e.seq != 1 {
		t.Errorf("the event is %+v: %s", e, diff)
	}
	setState(t, s, numbered(2))
	var a stateAnswer
	if err := c.request(t.Context(), "state", nil, &a); err != nil || a.Seq != 2 || a.State.Revision != 2 {
		t.Errorf("the state is %+v, %v", a, err)
	}
	if e := <-c.events; e.seq != 2 {
		t.Errorf("then came %+v", e)
	}
	closeServer(t, s)
	c.loops.Wait()
	if found := find(Hash(folder)); len(found) != 0 {
		t.Errorf("after Close there is %v", found)
	}
	if h := connect(t, serve(t, ServerOptions{}).Address()).hello; h.Workspace != "" || h.Folders == nil {
		t.Errorf("without a folder the hello is %+v", h)
	}
}

func TestAnswersOutOfOrder(t *testing.T) {
	release := make(chan struct{})
	s := serve(t, ServerOptions{Workspace: home(t), Commands: map[string]Handler{
		"hold": func(ctx context.Context, c Call) (any, error) {
			select {
			case <-release:
				return c.Arg, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		},
	}, NoDeadline: []string{"hold"}})
	c := connect(t, s.Address())
	var calls sync.WaitGroup
	for i := range 200 {
		calls.Go(func() {
			var back int
			if err := c.call(t.Context(), "hold", i, &back); err != nil || back != i {
				t.Errorf("call %d gives %d, %v", i, back, err)
			}
		})
	}
	for range 20 {
		if err := ping(c, t.Context()); err != nil { // the window responds while all the calls wait
			t.Fatal(err)
		}
	}
	close(release)
	calls.Wait()
}

func TestCallErrors(t *testing.T) {
	setLimit(t, &maxLine, 1<<20)
	fails := func(err error) Handler { return func(context.Context, Call) (any, error) { return nil, err } }
	gives := func(result any) Handler { return func(context.Context, Call) (any, error) { return result, nil } }
	s := serve(t, ServerOptions{Workspace: home(t), Commands: map[string]Handler{
		"refuse": fails(&Error{Code: CodeRefused, Message: "the user refuses",
			Data: json.RawMessage(`{"rule":"ask"}`)}),
		"fail":    fails(errors.New("it broke")),
		"late":    fails(context.DeadlineExceeded),
		"channel": gives(make(chan int)),
		"huge":    gives(strings.Repeat("x", maxLine)),
	}})
	c := connect(t, s.Address())
	for command, code := range map[string]string{
		"refuse": CodeRefused, "fail": codeInternal, "late": codeDeadline,
		"channel": codeInternal, "huge": codeInternal, "missing": CodeUnknownCommand,
	} {
		var fault *Error
		if err := c.call(t.Context(), command, nil, nil); !errors.As(err, &fault) || fault.Code != code {
			t.Errorf("%s gives %v, want %s", command, err, code)
		}
	}
	if err := c.call(t.Context(), "fail", strings.Repeat("x", maxLine), nil); err == nil ||
		!strings.Contains(err.Error(), "longer than") {
		t.Errorf("an argument over the limit gives %v", err)
	}
}

// TestAbandonedCalls: the handler's context ends with the caller's, and with the
// connection.
func TestAbandonedCalls(t *testing.T) {
	for name, test := range map[string]struct {
		abandon func(c *client, cancel func())
		want    error
	}{
		"cancelled":           {func(_ *client, cancel func()) { cancel() }, context.Canceled},
		"with its connection": {func(c *client, _ func()) { c.close() }, errClosed},
	} {
		t.Run(name, func(t *testing.T) {
			started, ended := make(chan struct{}), make(chan struct{})
			s := serve(t, ServerOptions{Workspace: home(t), NoDeadline: []string{"wait"}, Commands: map[string]Handler{
				"wait": func(ctx context.Context, c Call) (any, error) {
					defer close(ended)
					close(started)
					return waitForCancel(ctx, c)
				},
			}})
			c := connect(t, s.Address())
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			result := make(chan error, 1)
			go func() { result <- c.call(ctx, "wait", nil, nil) }()
			<-started
			test.abandon(c, cancel)
			<-ended
			if err := <-result; !errors.Is(err, test.want) {
				t.Errorf("the call gives %v", err)
			}
			if err := ping(c, t.Context()); (err != nil) != (test.want == errClosed) {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

// TestPieces sends lines as nc and socat do, and in every other way in which they may
// arrive.
func TestPieces(t *testing.T) {
	s := vectorWindow(t)
	t.Run("one shot", func(t *testing.T) {
		c := dialRaw(t, s.Address())
		c.send(`{"id":1,"type":"ping","version":2}`)
		c.send(`{"id":2,"type":"call","version":2,"payload":{"command":"echo","arg":[1]}}`)
		must.Do(t, c.Conn.(*net.UnixConn).CloseWrite())
		if m := c.receive(); m["id"] != 1.0 || m["success"] != true {
			t.Errorf("ping: %v", m)
		}
		if m := c.receive(); m["id"] != 2.0 || fmt.Sprint(m["payload"]) != "map[result:[1]]" {
			t.Errorf("echo: %v", m)
		}
		if m := c.receive(); m != nil {
			t.Errorf("then came %v", m)
		}
	})
	t.Run("a call that goes on after the last line", func(t *testing.T) {
		c := dialRaw(t, s.Address())
		c.send(`{"id":1,"type":"call","version":2,"payload":{"command":"wait"}}`)
		must.Do(t, c.Conn.(*net.UnixConn).CloseWrite())
		if m := c.receive(); m == nil || m["error"].(map[string]any)["code"] != codeCancelled {
			t.Errorf("it gets %v", m)
		}
		if m := c.receive(); m != nil {
			t.Errorf("then came %v", m)
		}
	})
	t.Run("half a line, and then silence", func(t *testing.T) {
		c := dialRaw(t, s.Address())
		if _, err := io.WriteString(c, `{"id":1,"type":"pi`); err != nil {
			t.Fatal(err)
		}
		if err := ping(connect(t, s.Address()), t.Context()); err != nil {
			t.Errorf("another client: %v", err)
		}
		c.send(`ng","version":2}`)
		if m := c.receive(); m["success"] != true {
			t.Errorf("the line's end brings %v", m)
		}
	})
	t.Run("byte by byte", func(t *testing.T) {
		c := dialRaw(t, s.Address())
		line := "\r\n" + `{"id":"ü","type":"call","version":2,"payload":{"command":"echo","arg":"é"}}` + "\r\n"
		for i := range len(line) {
			if _, err := c.Write([]byte{line[i]}); err != nil {
				t.Fatal(err)
			}
		}
		if m := c.receive(); m["id"] != "ü" || fmt.Sprint(m["payload"]) != "map[result:é]" {
			t.Errorf("got %v", m)
		}
	})
	t.Run("ten thousand at once", func(t *testing.T) {
		c := dialRaw(t, s.Address())
		const n = 10_000
		var all strings.Builder
		for i := range n {
			fmt.Fprintf(&all, `{"id":%d,"type":"ping","version":2}`+"\n", i)
		}
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			io.WriteString(c, all.String())
		}()
		for i := range n {
			if m := c.receive(); m["id"] != float64(i) || m["success"] != true {
				t.Fatalf("answer %d is %v", i, m)
			}
		}
		<-sent
	})
	t.Run("garbage without an end", func(t *testing.T) {
		c := connect(t, s.Address())
		bad := dialRaw(t, s.Address())
		bad.Write([]byte(strings.Repeat("\xff\x00{", 4<<20))) // the window disconnects before the end
		if err := ping(c, t.Context()); err != nil {
			t.Errorf("another client: %v", err)
		}
	})
}

// TestTooManyConnections: the window runs no request of a client that it does not admit.
func TestTooManyConnections(t *testing.T) {
	var called atomic.Int32
	s := serve(t, ServerOptions{Workspace: home(t), Commands: map[string]Handler{
		"act": func(context.Context, Call) (any, error) { called.Add(1); return nil, nil },
	}})
	for range 256 {
		if m := dialRaw(t, s.Address()).ping(); m["success"] != true {
			t.Fatalf("a client within the limit gets %v", m)
		}
	}
	for range 20 {
		c := dialRaw(t, s.Address())
		// fails if the window has disconnected by then
		io.WriteString(c, `{"id":1,"type":"call","version":2,"payload":{"command":"act"}}`+"\n")
		expectBye(t, c, "too_many_connections")
	}
	_, err := dial(t.Context(), s.Address(), DialOptions{})
	var bye *byeError
	if !errors.As(err, &bye) {
		t.Errorf("dial gives %v", err)
	}
	closeServer(t, s) // waits for running calls
	if n := called.Load(); n > 0 {
		t.Errorf("%d calls were carried out", n)
	}
}
