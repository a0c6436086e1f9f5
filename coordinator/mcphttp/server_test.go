package mcphttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/registry"
	"browser-coordinator/coordinator/tools"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/internal/toolstest"
	"browser-coordinator/vscodeipc"
)

func TestMain(m *testing.M) {
	if address := os.Getenv(connectsMany); address != "" {
		connectMany(address)
		return
	}
	os.Exit(toolstest.Main(m))
}

// connectsMany is the variable with the address for connectMany.
const connectsMany = "MCPHTTP_TEST_CHILD"

// connectMany runs in a process of TestManyConnections: it opens more connections than another user
// may, after requests that the HTTP server could answer by itself, and stays until its input ends.
func connectMany(address string) {
	const most, more = 256, 20
	var conns []net.Conn
	for range most + more {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			fmt.Println(err)
			return
		}
		conn.SetDeadline(time.Now().Add(time.Minute))
		conns = append(conns, conn)
	}
	closed := 0
	for _, conn := range conns[most:] {
		if _, err := conn.Read(make([]byte, 1)); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			closed++
		}
	}
	io.WriteString(conns[0], "OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
	answer, err := io.ReadAll(conns[0]) // to the end of the connection
	status, _, _ := strings.Cut(string(answer), "\r\n")
	fmt.Printf("the last %d are closed; %s, %v\n", closed, status, err)
	io.Copy(io.Discard, os.Stdin)
}

const token = "secret"

type bearer struct{}

func (bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+token)
	return http.DefaultTransport.RoundTrip(r)
}

// serve serves sessions, and reports the ends of those that were initialized.
func serve(t *testing.T) (server *Server, url string, ends <-chan struct{}) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	windows := registry.Open(t.Context(), registry.Options{Client: vscodeipc.Peer{Name: "coordinator", Version: "test"}})
	ended := make(chan struct{}, 2*mostSessions)
	server = New(Options{Token: token, Logger: slog.New(slog.DiscardHandler), header: time.Hour, body: 3 * time.Second,
		Open: func() (*tools.Server, func() error, error) {
			var initialized atomic.Bool
			server := tools.NewServer(tools.Options{Options: agent.Options{Windows: windows, Dir: t.TempDir(), Version: "test"}})
			server.Accept(func(*mcp.ServerSession) { initialized.Store(true) })
			return server, func() error {
				if initialized.Load() {
					ended <- struct{}{}
				}
				return nil
			}, nil
		}})
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error)
	go func() { stopped <- server.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-stopped; err != nil {
			t.Error(err)
		}
		if server.sessions+len(server.byID) > 0 {
			t.Errorf("%d sessions are left", server.sessions)
		}
		windows.Close()
	})
	return server, "http://" + listener.Addr().String() + Path, ended
}

func connect(t *testing.T, url string) (*mcp.ClientSession, error) {
	t.Helper()
	return mcp.NewClient(toolstest.Host, nil).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url,
		HTTPClient: &http.Client{Transport: bearer{}}, DisableStandaloneSSE: true, MaxRetries: -1}, nil)
}

// A session without a request ends; one whose host keeps its stream of events open does not. The end
// of the stream is the end of a request like another.
func TestIdle(t *testing.T) {
	t.Parallel()
	server, url, ends := serve(t)
	awaitEnd := func() {
		t.Helper()
		select {
		case <-ends:
		case <-time.After(time.Minute):
			t.Fatal("the session has not ended in a minute")
		}
	}
	streaming, err := connect(t, url)
	if err != nil {
		t.Fatal(err)
	}
	ctx, closeStream := context.WithCancel(t.Context())
	defer closeStream()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set(sessionID, streaming.ID())
	req.Header.Set("Accept", "text/event-stream")
	res, err := (&http.Client{Transport: bearer{}}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	silent, err := connect(t, url)
	if err != nil {
		t.Fatal(err)
	}
	server.mu.Lock()
	server.idle = 100 * time.Millisecond // not before the stream is open, however slow the machine is
	server.mu.Unlock()
	if err := silent.Ping(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	awaitEnd()
	if err := silent.Ping(t.Context(), nil); err == nil {
		t.Error("the idle session is still there")
	}
	if err := streaming.Ping(t.Context(), nil); err != nil || len(ends) > 0 {
		t.Errorf("a host that listens has lost its session: %v", err)
	}
	closeStream()
	awaitEnd()
}

// Requests keep a session, also a long one among short ones.
func TestRequestsKeepSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		s := &session{parent: &Server{Options: Options{idle: time.Minute}}, ctx: ctx, cancel: cancel}
		wait := func(d time.Duration) {
			time.Sleep(d)
			synctest.Wait()
		}
		for range 3 {
			s.use()
			s.release()
			wait(59 * time.Second)
		}
		s.use()
		s.use()
		s.release()
		wait(time.Hour)
		if ctx.Err() != nil {
			t.Error("the session has ended")
		}
		s.release()
		wait(time.Minute)
		if context.Cause(ctx) != errIdle {
			t.Errorf("without requests: %v", context.Cause(ctx))
		}
	})
}

// A server whose listener has failed begins no session.
func TestListenerFails(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	server := New(Options{Token: token, Logger: slog.New(slog.DiscardHandler)})
	failed := server.Serve(t.Context(), listener)
	if failed == nil {
		t.Fatal("it serves at a closed listener")
	}
	if _, err := server.open(); !errors.Is(err, failed) {
		t.Errorf("a session after it: %v", err)
	}
}

// The number of sessions is bounded, and one that ends makes room.
func TestManySessions(t *testing.T) {
	t.Parallel()
	_, url, _ := serve(t)
	var last *mcp.ClientSession
	for range mostSessions {
		var err error
		if last, err = connect(t, url); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := connect(t, url); err == nil {
		t.Error("there is no bound")
	}
	if err := last.Close(); err != nil {
		t.Error(err)
	}
	if _, err := connect(t, url); err != nil {
		t.Error(err)
	}
}

// Hosts whose bodies do not come have no session and keep nobody out, and their connections end.
func TestSlowBodies(t *testing.T) {
	t.Parallel()
	_, url, _ := serve(t)
	address := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), Path)
	var slow []net.Conn
	for range 200 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		slow = append(slow, conn)
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
			"Accept: application/json, text/event-stream\r\nContent-Length: 1000\r\n\r\n{", Path, address, token)
	}
	// The last one is being read: those before it are too.
	for range mostSessions {
		if _, err := connect(t, url); err != nil {
			t.Fatal(err)
		}
	}
	for _, conn := range slow {
		conn.SetDeadline(time.Now().Add(time.Minute))
		answer, err := io.ReadAll(conn)
		if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 408 ") ||
			!strings.Contains(string(answer), "did not come within 3s: send it again") {
			t.Fatalf("a slow body: %q, %v", answer, err)
		}
	}
}

// A host that begins a session and is slow in a later request gets an answer too, and its session stays.
func TestSlowBodyInASession(t *testing.T) {
	t.Parallel()
	_, url, _ := serve(t)
	session, err := connect(t, url)
	if err != nil {
		t.Fatal(err)
	}
	read, write := io.Pipe()
	defer write.Close()
	// Also for the session, which may wait behind the slow request.
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	// The transport awaits the body's reader whatever ctx says.
	defer context.AfterFunc(ctx, func() { write.CloseWithError(context.Cause(ctx)) })()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, read)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set(sessionID, session.ID())
	response, err := bearer{}.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusRequestTimeout {
		t.Errorf("got %s", response.Status)
	}
	if _, err := session.ListTools(ctx, nil); err != nil {
		t.Error(err)
	}
}
