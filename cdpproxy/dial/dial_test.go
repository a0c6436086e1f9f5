package dial_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy/dial"
)

// ways are all ways to open a connection.
var ways = map[string]func(ctx context.Context, url string, o *dial.Options) error{
	"Dial": func(ctx context.Context, url string, o *dial.Options) error {
		conn, _, err := dial.Dial(ctx, url, o)
		if err == nil {
			conn.Close()
		}
		return err
	},
	"Get": func(ctx context.Context, url string, o *dial.Options) error {
		_, err := dial.Get(ctx, url, 1<<20, o)
		return err
	},
	"WebSocket": func(ctx context.Context, url string, o *dial.Options) error {
		ws, _, err := websocket.Dial(ctx, url, &websocket.DialOptions{HTTPClient: dial.Client(o)})
		if err == nil {
			ws.CloseNow()
		}
		return err
	},
}

// TestRefusedBeforeDialing: an address that is not on loopback is refused before a
// name lookup or a socket. The test addresses are in unreachable networks, where a
// dial would block.
func TestRefusedBeforeDialing(t *testing.T) {
	for _, address := range []string{
		"http://192.0.2.1:9222/json/version", "http://[2001:db8::1]:9222/", "http://browser.example/",
		"http://127.0.0.1.example/", "http://localhost.example:1/",
		"http://0.0.0.0:1/", "http://[::]:1/", "http://2130706433:1/", "http://0x7f.1:1/", "http://127.1:1/",
		"http://localhost.:1/", "http://[::1%25lo]:1/",
		"http://user:secret@127.0.0.1:1/", "http://user@localhost:1/", "https://127.0.0.1:1/",
	} {
		for name, way := range ways {
			err := way(t.Context(), address, nil)
			if refused := new(dial.RefusedError); !errors.As(err, &refused) {
				t.Errorf("%s %s: %v", name, address, err)
			}
			// its error has the URL, without the password
			if strings.Contains(fmt.Sprint(err), "secret") && name != "WebSocket" {
				t.Errorf("%s: the error has the password: %v", name, err)
			}
		}
	}
	// The user's flag permits a browser elsewhere, but no password is sent.
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the dial itself is not under test
	for name, way := range ways {
		if err := way(ctx, "http://192.0.2.1:9222/", &dial.Options{Remote: true}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s of what the user named: %v", name, err)
		}
		if err := way(ctx, "http://user:secret@192.0.2.1/", &dial.Options{Remote: true}); !errors.As(err,
			new(*dial.RefusedError)) {
			t.Errorf("%s with a password: %v", name, err)
		}
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	var asked atomic.Int32
	other := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	other.Listener.Close()
	var err error
	if other.Listener, err = net.Listen("tcp", "127.0.0.2:0"); err != nil {
		t.Skipf("this system has one loopback address only: %v", err)
	}
	other.Start()
	defer other.Close()
	liar := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer liar.Close()
	for _, name := range []string{"Get", "WebSocket"} {
		for _, o := range []*dial.Options{nil, {Remote: true}} {
			if err := ways[name](t.Context(), liar.URL, o); err == nil || !strings.Contains(err.Error(), "307") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the other host was asked %d times", n)
	}
}

// TestHeadersAreBounded: reading stops when a peer sends endless headers.
func TestHeadersAreBounded(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	sent := make(chan int, 2)
	go func() {
		for range cap(sent) {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			conn.SetDeadline(time.Now().Add(time.Minute))
			io.WriteString(conn, "HTTP/1.1 200 OK\r\n")
			n := 0
			for line := "X: " + strings.Repeat("x", 8000) + "\r\n"; n < 100<<20; n += len(line) {
				if _, err := io.WriteString(conn, line); err != nil {
					break
				}
			}
			conn.Close()
			sent <- n
		}
	}()
	for _, name := range []string{"Get", "WebSocket"} {
		if err := ways[name](t.Context(), "http://"+ln.Addr().String(), nil); err == nil {
			t.Errorf("%s: no error", name)
		}
		if n := <-sent; n > 32<<20 { // includes what the kernel buffers
			t.Errorf("%s read on: %d bytes were sent", name, n)
		}
	}
}

// TestLocalhost: the name localhost is this machine, on every loopback address,
// without a resolver.
func TestLocalhost(t *testing.T) {
	for _, location := range []string{"127.0.0.1:0", "[::1]:0"} {
		ln, err := net.Listen("tcp", location)
		if err != nil {
			t.Logf("%s is not there: %v", location, err)
			continue
		}
		defer ln.Close()
		_, port, _ := net.SplitHostPort(ln.Addr().String())
		for _, host := range []string{"localhost", "LOCALHOST", "any.localhost"} {
			conn, u, err := dial.Dial(t.Context(), "ws://"+net.JoinHostPort(host, port)+"/devtools/browser/x?y", nil)
			if err != nil {
				t.Errorf("%s at %s: %v", host, location, err)
				continue
			}
			conn.Close()
			if u.Path != "/devtools/browser/x" {
				t.Errorf("the path is %s", u.Path)
			}
		}
	}
}
