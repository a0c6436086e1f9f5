//go:build unix

package vscodeipc

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"browser-coordinator/internal/must"
	"browser-coordinator/vscodeipc/internal/socket"
)

func TestMain(m *testing.M) {
	if role, arg, ok := strings.Cut(os.Getenv(roleEnv), " "); ok {
		if dir, ok := os.LookupEnv(parentEnv); ok {
			socket.SharedParent = dir
		}
		if err := roles[role](arg); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	dir, err := os.MkdirTemp("", "w")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	socket.SharedParent = dir
	os.Setenv(parentEnv, dir)
	os.Unsetenv("XDG_RUNTIME_DIR") // a test that needs it sets it
	code := m.Run()
	os.RemoveAll(dir)
	if left := leftGoroutines(); code == 0 && left != "" {
		fmt.Fprintf(os.Stderr, "goroutines outlived the tests:\n%s\n", left)
		code = 1
	}
	os.Exit(code)
}

// leftGoroutines returns the stacks of the package's goroutines that still run a little
// after the tests.
func leftGoroutines() string {
	var remaining []string
	for range 100 {
		buffer := make([]byte, 1<<20)
		remaining = nil
		for stack := range strings.SplitSeq(string(buffer[:runtime.Stack(buffer, true)]), "\n\n") {
			if strings.Contains(stack, "browser-coordinator/vscodeipc.") && !strings.Contains(stack, "leftGoroutines") {
				remaining = append(remaining, stack)
			}
		}
		if len(remaining) == 0 {
			return ""
		}
		time.Sleep(20 * time.Millisecond) // the runtime has no event for the end of a goroutine
	}
	return strings.Join(remaining, "\n\n")
}

func waitForCancel(ctx context.Context, _ Call) (any, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func echo(_ context.Context, c Call) (any, error) { return c.Arg, nil }

// shortDir returns a directory with a path that is short enough for sockets.
func shortDir(t testing.TB) string {
	t.Helper()
	dir := must.Get(os.MkdirTemp("", "w"))(t)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// home gives the test its own home and data directory, and returns the home as a
// workspace.
func home(t testing.TB) (folder string) {
	t.Helper()
	dir := shortDir(t)
	t.Setenv("HOME", dir)
	t.Setenv("XDG_DATA_HOME", filepath.Join(dir, "data"))
	canonical := must.Get(Canonical(dir))(t)
	return canonical
}

// socketPath returns the path of a window's socket, and makes its directory.
func socketPath(t testing.TB, key string) string {
	t.Helper()
	dir := filepath.Join(os.Getenv("XDG_DATA_HOME"), socket.DirName)
	must.Do(t, os.MkdirAll(dir, 0o700))
	return filepath.Join(dir, "ipc-"+key+".sock")
}

// name returns the path of the nth of many sockets.
func name(t testing.TB, n int) string { return socketPath(t, fmt.Sprintf("pid-%d", n+1)) }

// deadSocket leaves a socket without a listener.
func deadSocket(t testing.TB, path string) {
	t.Helper()
	l := must.Get(net.Listen("unix", path))(t)
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
}

func serve(t testing.TB, o ServerOptions) *Server {
	t.Helper()
	o.Server.Name, o.Server.Kind = "test", "terminal"
	s := must.Get(Serve(t.Context(), o))(t)
	t.Cleanup(func() { closeServer(t, s) })
	return s
}

func closeServer(t testing.TB, s *Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := s.Close(ctx); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func connect(t testing.TB, a Address) *client {
	t.Helper()
	c := must.Get(dial(t.Context(), a, DialOptions{}))(t)
	t.Cleanup(c.close)
	return c
}

// listen subscribes the client.
func listen(t testing.TB, c *client) stateAnswer {
	t.Helper()
	answer := must.Get(c.listen(t.Context()))(t)
	return answer
}

func watchDirs(t testing.TB) *DirWatcher {
	t.Helper()
	w := WatchDirs(nil)
	t.Cleanup(func() { w.Close() })
	<-w.Changes() // it watches now
	return w
}

// awaitFound waits until clients find the condition met.
func awaitFound(t testing.TB, dirs *DirWatcher, ok func() bool) {
	t.Helper()
	limit := time.After(30 * time.Second)
	for !ok() {
		select {
		case <-dirs.Changes():
		case <-limit:
			t.Fatal("the change is not reported")
		}
	}
}

// rawConn sends and reads single lines.
type rawConn struct {
	net.Conn
	t     testing.TB
	lines *bufio.Reader
}

func dialRaw(t testing.TB, a Address) *rawConn {
	t.Helper()
	conn := must.Get(net.Dial("unix", string(a)))(t)
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(time.Minute))
	return &rawConn{conn, t, bufio.NewReader(conn)}
}

func (c *rawConn) send(format string, args ...any) {
	c.t.Helper()
	if _, err := fmt.Fprintf(c, format+"\n", args...); err != nil {
		c.t.Fatal(err)
	}
}

// receive returns the next line, decoded; nil at the end of the connection.
func (c *rawConn) receive() map[string]any {
	c.t.Helper()
	line, err := c.lines.ReadBytes('\n')
	if err != nil {
		if len(line) > 0 {
			c.t.Fatalf("the connection ended in the middle of the line %.80q: %v", line, err)
		}
		return nil
	}
	var m map[string]any
	if err := json.Unmarshal(line, &m); err != nil {
		c.t.Fatalf("the window sent %.80q: %v", line, err)
	}
	return m
}

// ping sends a ping and returns its response.
func (c *rawConn) ping() map[string]any {
	c.t.Helper()
	c.send(`{"id":1,"type":"ping","version":2}`)
	return c.receive()
}

// setLimit replaces a limit whose real size would make the test slow.
func setLimit(t testing.TB, limit *int, to int) {
	before := *limit
	t.Cleanup(func() { *limit = before })
	*limit = to
}

// fake is a window that does with each client what converse does, and then disconnects.
func fake(t testing.TB, path string, converse func(net.Conn, *bufio.Scanner)) Address {
	t.Helper()
	l := must.Get(net.Listen("unix", path))(t)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		acceptAll(l, converse)
	}()
	t.Cleanup(func() {
		l.Close()
		<-ended
	})
	return Address(path)
}

func acceptAll(l net.Listener, converse func(net.Conn, *bufio.Scanner)) {
	var clients sync.WaitGroup
	defer clients.Wait()
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		clients.Go(func() {
			defer conn.Close()
			conn.SetDeadline(time.Now().Add(30 * time.Second))
			converse(conn, bufio.NewScanner(conn))
		})
	}
}

// script answers the client's nth line with the nth of lines, and then waits until the
// client disconnects.
func script(lines ...string) func(net.Conn, *bufio.Scanner) {
	return func(conn net.Conn, received *bufio.Scanner) {
		for _, line := range lines {
			if !received.Scan() {
				return
			}
			io.WriteString(conn, line)
		}
		received.Scan()
	}
}

// hangUp answers the client's first line with text, and then disconnects.
func hangUp(text string) func(net.Conn, *bufio.Scanner) {
	return func(conn net.Conn, received *bufio.Scanner) {
		received.Scan()
		io.WriteString(conn, text)
	}
}

// numbered returns a state that contains n.
func numbered(n int) State {
	return State{DebugSessions: []DebugSession{{ID: fmt.Sprint(n), Type: "pwa-chrome"}}}
}

func setState(t testing.TB, s *Server, state State) {
	t.Helper()
	must.Do(t, s.SetState(state))
}

func stateOf(t testing.TB, e event) State {
	t.Helper()
	var s State
	if err := decodeStrict(bytes.TrimSpace(e.payload), &s); err != nil {
		t.Fatalf("event %+v: %v", e, err)
	}
	return s
}

// roundsOr returns how often a test repeats its race.
func roundsOr(t testing.TB, usual int) int {
	t.Helper()
	if text := os.Getenv("VSCODEIPC_ROUNDS"); text != "" {
		if _, err := fmt.Sscan(text, &usual); err != nil {
			t.Fatal(err)
		}
	}
	return usual
}
