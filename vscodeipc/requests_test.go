//go:build unix

package vscodeipc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"browser-coordinator/vscodeipc"
)

func TestAnswersOutOfOrder(t *testing.T) {
	folder := home(t)
	release := make(chan struct{})
	s := serve(t, vscodeipc.ServerOptions{Workspace: folder, Commands: map[string]vscodeipc.Handler{
		"hold": func(ctx context.Context, c vscodeipc.Call) (any, error) {
			select {
			case <-release:
				return c.Arg, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		},
	}})
	c := dial(t, s.Address())
	const n = 200
	var calls sync.WaitGroup
	for i := range n {
		calls.Go(func() {
			var back int
			if err := c.Call(t.Context(), "hold", i, &back); err != nil || back != i {
				t.Errorf("call %d gives %d, %v", i, back, err)
			}
		})
	}
	for range 20 {
		if err := c.Ping(t.Context()); err != nil { // the window responds while all the calls wait
			t.Fatal(err)
		}
	}
	close(release)
	calls.Wait()
}

func TestCallErrors(t *testing.T) {
	folder := home(t)
	s := serve(t, vscodeipc.ServerOptions{Workspace: folder, Commands: map[string]vscodeipc.Handler{
		"refuse": func(context.Context, vscodeipc.Call) (any, error) {
			return nil, &vscodeipc.Error{Code: vscodeipc.CodeRefused, Message: "the user said no", Data: json.RawMessage(`{"rule":"ask"}`)}
		},
		"fail":    func(context.Context, vscodeipc.Call) (any, error) { return nil, errors.New("it broke") },
		"panic":   func(context.Context, vscodeipc.Call) (any, error) { panic("at the disco") },
		"late":    func(context.Context, vscodeipc.Call) (any, error) { return nil, context.DeadlineExceeded },
		"channel": func(context.Context, vscodeipc.Call) (any, error) { return make(chan int), nil },
		"huge":    func(context.Context, vscodeipc.Call) (any, error) { return strings.Repeat("x", 8<<20), nil },
		"who":     func(_ context.Context, c vscodeipc.Call) (any, error) { return c.Client, nil },
	}})
	c, err := vscodeipc.Dial(t.Context(), s.Address(), &vscodeipc.DialOptions{Client: vscodeipc.Peer{Name: "agent", Version: "7"}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for command, code := range map[string]string{
		"refuse": vscodeipc.CodeRefused, "fail": vscodeipc.CodeInternal, "panic": vscodeipc.CodeInternal,
		"late": vscodeipc.CodeDeadline, "channel": vscodeipc.CodeInternal, "huge": vscodeipc.CodeInternal,
		"missing": vscodeipc.CodeUnknownCommand,
	} {
		var fault *vscodeipc.Error
		if err := c.Call(t.Context(), command, nil, nil); !errors.As(err, &fault) || fault.Code != code {
			t.Errorf("%s gives %v, want %s", command, err, code)
		} else if strings.Contains(fault.Message, "disco") {
			t.Errorf("the panic's text went to the client: %v", fault)
		}
	}
	if err := c.Call(t.Context(), "fail", strings.Repeat("x", 8<<20), nil); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("an argument over the limit gives %v", err)
	}
	var who vscodeipc.Peer
	if err := c.Call(t.Context(), "who", nil, &who); err != nil || who.Name != "agent" {
		t.Errorf("the handler sees the client %+v, %v", who, err)
	}
}

func TestCancelReachesTheHandler(t *testing.T) {
	folder := home(t)
	began, ended := make(chan struct{}), make(chan struct{})
	s := serve(t, vscodeipc.ServerOptions{Workspace: folder, Commands: map[string]vscodeipc.Handler{
		"wait": func(ctx context.Context, _ vscodeipc.Call) (any, error) {
			close(began)
			<-ctx.Done()
			close(ended)
			return nil, ctx.Err()
		},
	}})
	c := dial(t, s.Address())
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-began
		cancel()
	}()
	if err := c.Call(ctx, "wait", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Call gives %v", err)
	}
	<-ended
	if err := c.Ping(t.Context()); err != nil {
		t.Errorf("the connection did not go on: %v", err)
	}
}

func TestCallsEndWithTheirConnection(t *testing.T) {
	folder := home(t)
	began, ended := make(chan struct{}), make(chan struct{})
	s := serve(t, vscodeipc.ServerOptions{Workspace: folder, Commands: map[string]vscodeipc.Handler{
		"wait": func(ctx context.Context, _ vscodeipc.Call) (any, error) {
			close(began)
			<-ctx.Done()
			close(ended)
			return nil, ctx.Err()
		},
	}})
	c := dial(t, s.Address())
	result := make(chan error, 1)
	go func() { result <- c.Call(t.Context(), "wait", nil, nil) }()
	<-began
	c.Close()
	<-ended
	if err := <-result; !errors.Is(err, vscodeipc.ErrClosed) {
		t.Errorf("the call gives %v", err)
	}
	if err := c.Ping(t.Context()); !errors.Is(err, vscodeipc.ErrClosed) {
		t.Errorf("after Close, Ping gives %v", err)
	}
}

// TestOneShot sends what nc and socat send: one line, end of stream, then it reads the
// response.
func TestOneShot(t *testing.T) {
	s := vectorWindow(t)
	c := dialRaw(t, s.Address())
	c.say(`{"id":1,"type":"ping","version":1}`)
	c.say(`{"id":2,"type":"call","version":1,"payload":{"command":"echo","arg":[1]}}`)
	if err := c.Conn.(*net.UnixConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if m := c.hear(); m["id"] != 1.0 || m["success"] != true {
		t.Errorf("ping: %v", m)
	}
	if m := c.hear(); m["id"] != 2.0 || fmt.Sprint(m["payload"]) != "map[result:[1]]" {
		t.Errorf("echo: %v", m)
	}
	if m := c.hear(); m != nil {
		t.Errorf("then came %v", m)
	}
}

func TestHalfLineThenSilence(t *testing.T) {
	s := vectorWindow(t)
	silent := dialRaw(t, s.Address())
	if _, err := silent.Write([]byte(`{"id":1,"type":"pi`)); err != nil {
		t.Fatal(err)
	}
	if err := dial(t, s.Address()).Ping(t.Context()); err != nil {
		t.Errorf("another client: %v", err)
	}
	silent.say(`ng","version":1}`)
	if m := silent.hear(); m["success"] != true {
		t.Errorf("the line's end brings %v", m)
	}
}

func TestOneByteAtATime(t *testing.T) {
	s := vectorWindow(t)
	c := dialRaw(t, s.Address())
	line := "\r\n" + `{"id":"ü","type":"call","version":1,"payload":{"command":"echo","arg":"é"}}` + "\r\n"
	for i := range len(line) {
		if _, err := c.Write([]byte{line[i]}); err != nil {
			t.Fatal(err)
		}
	}
	if m := c.hear(); m["id"] != "ü" || fmt.Sprint(m["payload"]) != "map[result:é]" {
		t.Errorf("got %v", m)
	}
}

func TestTenThousandInOneWrite(t *testing.T) {
	s := vectorWindow(t)
	c := dialRaw(t, s.Address())
	const n = 10_000
	var all strings.Builder
	for i := range n {
		fmt.Fprintf(&all, `{"id":%d,"type":"ping","version":1}`+"\n", i)
	}
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		c.Write([]byte(all.String()))
	}()
	for i := range n {
		if m := c.hear(); m["id"] != float64(i) || m["success"] != true {
			t.Fatalf("answer %d is %v", i, m)
		}
	}
	<-sent
}

func TestHelloChoosesTheHighestCommonVersion(t *testing.T) {
	s := vectorWindow(t)
	c := dialRaw(t, s.Address())
	c.say(`{"id":1,"type":"hello","version":1,"payload":{"client":{"name":"x","version":""},"versions":[9,1,2,8]}}`)
	if m := c.hear(); m["payload"].(map[string]any)["version"] != float64(vscodeipc.Version) {
		t.Errorf("got %v", m)
	}
}

func TestTooManyConnections(t *testing.T) {
	s := vectorWindow(t)
	for range 256 {
		if m := pinged(dialRaw(t, s.Address())); m["success"] != true {
			t.Fatalf("a client within the limit gets %v", m)
		}
	}
	c := dialRaw(t, s.Address())
	if m := c.hear(); m["type"] != "bye" || m["payload"].(map[string]any)["reason"] != "too_many_connections" {
		t.Errorf("the 257th client gets %v", m)
	}
	if m := c.hear(); m != nil {
		t.Errorf("then came %v", m)
	}
	_, err := vscodeipc.Dial(t.Context(), s.Address(), nil)
	var goodbye *vscodeipc.ByeError
	if !errors.As(err, &goodbye) {
		t.Errorf("Dial gives %v", err)
	}
}

// TestNothingIsDoneAfterTheGoodbye: the window runs no request of a client that it does
// not admit.
func TestNothingIsDoneAfterTheGoodbye(t *testing.T) {
	folder := home(t)
	var called atomic.Int32
	s := serve(t, vscodeipc.ServerOptions{Workspace: folder, Commands: map[string]vscodeipc.Handler{
		"act": func(context.Context, vscodeipc.Call) (any, error) { called.Add(1); return nil, nil },
	}})
	for range 256 {
		if m := pinged(dialRaw(t, s.Address())); m["success"] != true {
			t.Fatalf("a client within the limit gets %v", m)
		}
	}
	for range 20 {
		c := dialRaw(t, s.Address())
		io.WriteString(c, `{"id":1,"type":"call","version":1,"payload":{"command":"act"}}`+"\n") // fails if the window has disconnected by then
		if m := c.hear(); m["type"] != "bye" {
			t.Errorf("it gets %v", m)
		}
		if m := c.hear(); m != nil {
			t.Errorf("then came %v", m)
		}
	}
	closeServer(t, s) // waits for running calls
	if n := called.Load(); n > 0 {
		t.Errorf("%d calls were carried out", n)
	}
}

// TestWindowsTellNothingOfEachOther: no response of a window, not even to an invalid
// request, mentions another window beside it.
func TestWindowsTellNothingOfEachOther(t *testing.T) {
	const secret = "5ec7e7"
	folder := home(t)
	other := t.TempDir() + "/" + secret
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	echo := func(_ context.Context, c vscodeipc.Call) (any, error) { return c.Arg, nil }
	s := serve(t, vscodeipc.ServerOptions{Workspace: folder, Folders: []string{folder}, Commands: map[string]vscodeipc.Handler{"echo": echo}})
	beside := serve(t, vscodeipc.ServerOptions{
		Workspace: other, Folders: []string{other}, Commands: map[string]vscodeipc.Handler{"echo-" + secret: echo}, Events: []string{secret},
	})
	setState(t, beside, vscodeipc.State{Browser: &vscodeipc.Browser{URL: "ws://127.0.0.1:1/devtools/browser/" + secret, Product: "Chrome/1", Via: "launched"}})
	if _, err := dial(t, beside.Address()).State(t.Context()); err != nil {
		t.Fatal(err)
	}

	conn := dialRaw(t, s.Address())
	for _, line := range []string{
		`{"id":1,"type":"hello","version":1,"payload":{"client":{"name":"x","version":""},"versions":[2,1]}}`,
		`{"id":2,"type":"listen","version":2,"payload":{"events":["state"],"resume":{"session":"` + beside.Session() + `","seq":0}}}`,
		`{"id":3,"type":"listen","version":2,"payload":{"events":["nothing"]}}`,
		`{"id":4,"type":"state","version":2}`,
		`{"id":5,"type":"call","version":2,"payload":{"command":"nothing"}}`,
		`{"id":6,"type":"nothing","version":2}`,
		`{"id":7,"type":"ping","version":99}`,
		`nothing`,
	} {
		conn.say("%s", line)
	}
	setState(t, s, numbered(2))
	setState(t, beside, numbered(3))
	conn.say(`{"id":"last","type":"ping","version":2}`)
	for {
		line, err := conn.lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(line, secret) || strings.Contains(line, beside.Session()) || strings.Contains(line, string(beside.Address())) {
			t.Errorf("it tells of the other: %s", line)
		}
		if strings.Contains(line, `"id":"last"`) {
			return
		}
	}
}

func pinged(c *rawConn) map[string]any {
	c.say(`{"id":1,"type":"ping","version":1}`)
	return c.hear()
}

// TestMisbehavingWindows presents a client each fault of a peer.
func TestMisbehavingWindows(t *testing.T) {
	hello := `{"id":1,"success":true,"payload":{"version":1,"server":{"name":"x","version":"","kind":"vscode"},"session":"s","pid":1,"workspace":null,"folders":[],"commands":[],"events":["state"],"seq":0,"state":{"revision":0,"debugSessions":[],"browser":null,"pages":[]}}}` + "\n"
	for name, test := range map[string]struct {
		says string
		is   error // nil: some other error
	}{
		"garbage":           {"hello\n", vscodeipc.ErrIncompatible},
		"http":              {"HTTP/1.1 400 Bad Request\r\n\r\n", vscodeipc.ErrIncompatible},
		"neither":           {"{}\n", vscodeipc.ErrIncompatible},
		"no id":             {`{"success":true,"payload":{}}` + "\n", vscodeipc.ErrIncompatible},
		"success a string":  {`{"id":1,"success":"yes","payload":{}}` + "\n", vscodeipc.ErrIncompatible},
		"failure unsaid":    {`{"id":1,"success":false}` + "\n", vscodeipc.ErrIncompatible},
		"seq a string":      {`{"type":"state","seq":"1","payload":{}}` + "\n", vscodeipc.ErrIncompatible},
		"empty hello":       {`{"id":1,"success":true,"payload":{}}` + "\n", vscodeipc.ErrIncompatible},
		"hello of a string": {`{"id":1,"success":true,"payload":"hi"}` + "\n", vscodeipc.ErrIncompatible},
		"other version":     {strings.Replace(hello, `"version":1,"server"`, `"version":9,"server"`, 1), vscodeipc.ErrIncompatible},
		"unsupported":       {`{"id":1,"success":false,"error":{"code":"unsupported_version","message":"no","data":{"supported":[3]}}}` + "\n", vscodeipc.ErrIncompatible},
		"endless line":      {strings.Repeat("x", 9<<20), vscodeipc.ErrIncompatible},
		"hangs up":          {"", nil},
		"half a line":       {`{"id":1,`, nil},
		"bye":               {`{"type":"bye","payload":{"reason":"shutdown","message":"x"}}` + "\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := vscodeipc.Dial(t.Context(), fakeWindow(t, test.says), nil)
			if err == nil || (test.is != nil) != errors.Is(err, vscodeipc.ErrIncompatible) {
				t.Errorf("Dial gives %v", err)
			}
		})
	}
	t.Run("tolerated", func(t *testing.T) {
		c, err := vscodeipc.Dial(t.Context(), fakeWindow(t,
			`{"type":"weather","seq":4,"payload":{}}`+"\n"+`{"id":77,"success":true,"payload":{}}`+"\n\n\r\n"+hello), nil)
		if err != nil {
			t.Fatalf("Dial: %v", err)
		}
		c.Close()
	})
}

// fakeWindow listens where a window would. It sends the same text to every client as
// soon as it has read a line.
func fakeWindow(t *testing.T, says string) vscodeipc.Address {
	t.Helper()
	home(t)
	l, address := listenAs(t)
	ended := make(chan struct{})
	t.Cleanup(func() {
		l.Close()
		<-ended
	})
	go func() {
		defer close(ended)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.SetDeadline(time.Now().Add(5 * time.Second))
			conn.Read(make([]byte, 1<<10))
			conn.Write([]byte(says))
			conn.Close()
		}
	}()
	return address
}
