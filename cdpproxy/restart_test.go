package cdpproxy_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/remote"
	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/internal/cdptest"
)

// evaluate drives a tab of its own through the endpoint at addr with chromedp, and
// returns the browser's user agent.
func evaluate(ctx context.Context, addr string) (string, error) {
	ctx, cancel := remote.NewAllocator(ctx, "http://"+addr)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate("data:text/html,<title>here</title>")); err != nil {
		return "", err
	}
	return chromedp.Run(ctx, chromedp.Evaluate[string]("document.title + ' ' + navigator.userAgent"))
}

func testContext(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func dial(t testing.TB, addr, path string) *websocket.Conn {
	t.Helper()
	return dialBy(t, addr, path, nil)
}

// dialBy dials TCP by a function of the test's own; nil means the usual one.
func dialBy(t testing.TB, addr, path string, tcp func(ctx context.Context, network, addr string) (net.Conn, error)) *websocket.Conn {
	t.Helper()
	return dialWith(t, "ws://"+addr+path, &websocket.DialOptions{HTTPClient: &http.Client{Transport: &http.Transport{DialContext: tcp}}})
}

// dialAs dials the browser as a program of that name.
func dialAs(t testing.TB, addr, agent string) *websocket.Conn {
	t.Helper()
	return dialWith(t, "ws://"+addr+"/devtools/browser/x", &websocket.DialOptions{HTTPHeader: http.Header{"User-Agent": {agent}}})
}

func dialWith(t testing.TB, url string, o *websocket.DialOptions) *websocket.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	c, res, err := websocket.Dial(ctx, url, o)
	if err != nil {
		t.Fatalf("dial %s: %v (%v)", url, err, res)
	}
	c.SetReadLimit(-1)
	t.Cleanup(func() { c.CloseNow() })
	return c
}

// send sends one CDP message.
func send(t testing.TB, c *websocket.Conn, message string) {
	t.Helper()
	if err := c.Write(testContext(t), websocket.MessageText, []byte(message)); err != nil {
		t.Fatal(err)
	}
}

// call sends one CDP message and returns the next message.
func call(t testing.TB, c *websocket.Conn, message string) string {
	t.Helper()
	send(t, c, message)
	_, reply, err := c.Read(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	return string(reply)
}

const getVersion = `{"id":1,"method":"Browser.getVersion"}`

// TestRestart is the main purpose: the address stays while the browser restarts on
// another port.
func TestRestart(t *testing.T) {
	t.Parallel()
	first := cdptest.Launch(t)
	src := newSource(first.URL())
	_, addr := serve(t, src, nil)
	ctx := testContext(t)

	if got, err := evaluate(ctx, addr); err != nil || !strings.HasPrefix(got, "here ") {
		t.Fatalf("before the restart: %q, %v", got, err)
	}
	oldPath := "/devtools/browser" + first.URL()[strings.LastIndexByte(first.URL(), '/'):]
	old := dial(t, addr, oldPath)
	if got := call(t, old, getVersion); !strings.Contains(got, "Chrome/") {
		t.Fatalf("old client: %s", got)
	}

	src.set("", "")
	_, _, err := old.Read(ctx)
	var closed websocket.CloseError
	if !errors.As(err, &closed) || closed.Code != websocket.StatusGoingAway || !strings.Contains(closed.Reason, `"first" has ended`) {
		t.Fatalf("old client: got %v, want close 1001 that names the browser", err)
	}

	// A client that connects while there is none is held, and served by the next.
	type result struct {
		got string
		err error
	}
	held := make(chan result, 1)
	go func() {
		got, err := evaluate(ctx, addr)
		held <- result{got, err}
	}()
	second := cdptest.Launch(t)
	if second.URL() == first.URL() {
		t.Fatal("the second browser has the first one's URL")
	}
	cdptest.Kill(first)
	src.set("second", second.URL())
	if r := <-held; r.err != nil || !strings.HasPrefix(r.got, "here ") {
		t.Fatalf("held client: %q, %v", r.got, r.err)
	}

	// The old GUID leads to the new browser.
	again := dial(t, addr, oldPath)
	if got := call(t, again, getVersion); !strings.Contains(got, "Chrome/") {
		t.Fatalf("old GUID: %s", got)
	}

	// The close reason of a switch without a pause names both.
	src.set("third", second.URL())
	_, _, err = again.Read(ctx)
	if !errors.As(err, &closed) || closed.Code != websocket.StatusServiceRestart || !strings.Contains(closed.Reason, `"second" was replaced by browser "third"`) {
		t.Errorf("after a switch: %v", err)
	}
}

// notifiedAfter returns how long after event, which returns when it began, the last of
// the clients has read its close with that code.
func notifiedAfter(t *testing.T, clients []*websocket.Conn, code websocket.StatusCode, event func() time.Time) time.Duration {
	t.Helper()
	type end struct {
		err error
		at  time.Time
	}
	ends := make(chan end, len(clients))
	for _, c := range clients {
		go func() {
			defer c.CloseNow()
			_, _, err := c.Read(context.Background())
			ends <- end{err, time.Now()}
		}()
	}
	start := event()
	var took time.Duration
	for range clients {
		e := <-ends
		if got := websocket.CloseStatus(e.err); got != code {
			t.Fatalf("got %v, want close %d", e.err, code)
		}
		took = max(took, e.at.Sub(start))
	}
	return took
}

func dialAll(t *testing.T, addr, path string, n int) []*websocket.Conn {
	t.Helper()
	clients := make([]*websocket.Conn, n)
	for i := range clients {
		clients[i] = dial(t, addr, path)
	}
	return clients
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

const soon = 100 * time.Millisecond

// seen is a client's connection that counts the bytes that it has read.
type seen struct {
	net.Conn
	bytes *counter
}

func (c seen) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	for range n {
		c.bytes.add()
	}
	return n, err
}

// TestNotifiedSoon: a client is notified of a change within 100 ms, in the median of
// some rounds. On a busy machine one round may take longer.
func TestNotifiedSoon(t *testing.T) {
	silent := startFake(t, "127.0.0.1:0", "silent", func(conn net.Conn) {
		conn.Write(frame(1000, 'x')[:500])
		io.Copy(io.Discard, conn)
	})
	const broken = -1 // without a close frame
	for _, c := range []struct {
		name, old, next string
		code            websocket.StatusCode
	}{
		{"replaced", cdptest.BrowserURL(t), silent.url(), websocket.StatusServiceRestart},
		{"ended", cdptest.BrowserURL(t), "", websocket.StatusGoingAway},
		{"replaced in a frame that never ends", silent.url(), cdptest.BrowserURL(t), broken},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := newSource("")
			_, addr := serve(t, src, nil)
			var took []time.Duration
			for range 5 {
				src.set("old", c.old)
				var bytes counter
				client := dialBy(t, addr, "/devtools/browser/x", func(ctx context.Context, network, addr string) (net.Conn, error) {
					conn, err := new(net.Dialer).DialContext(ctx, network, addr)
					return seen{conn, &bytes}, err
				})
				took = append(took, notifiedAfter(t, []*websocket.Conn{client}, c.code, func() time.Time {
					if c.code == broken {
						bytes.until(t, 500) // the handshake has fewer: the frame has begun
					}
					defer src.set("next", c.next)
					return time.Now()
				}))
			}
			if m := median(took); m > soon {
				t.Errorf("reported after %v, want at most %v", m, soon)
			}
			t.Logf("reported after %v", took)
		})
	}
}

// TestManyNotifiedSoon: the last of 500 clients is notified as soon. If the machine is
// too busy, the time is compared with that of a server which closes all connections
// at once. Then the test retries, since other programs may have taken the time.
func TestManyNotifiedSoon(t *testing.T) {
	const many = 500
	for try := 1; ; try++ {
		restart := make(chan struct{})
		fake := startFake(t, "127.0.0.1:0", "old", func(conn net.Conn) {
			go func() {
				<-restart
				conn.Write([]byte{0x88, 2, 1012 >> 8, 1012 & 0xff})
			}()
			io.Copy(io.Discard, conn)
		})
		src := newSource(fake.url())
		_, addr := serve(t, src, nil)
		took := notifiedAfter(t, dialAll(t, addr, "/devtools/browser/x", many), websocket.StatusServiceRestart, func() time.Time {
			defer src.set("next", fake.url())
			return time.Now()
		})
		floor := notifiedAfter(t, dialAll(t, fake.addr, "/devtools/page/1", many), websocket.StatusServiceRestart, func() time.Time {
			defer close(restart)
			return time.Now()
		})
		t.Logf("the last is notified after %v, directly after %v", took, floor)
		switch {
		case took <= max(soon, 5*floor):
			return
		case try == 6:
			t.Fatal("never soon")
		}
	}
}

// smallListener's connections take little at once.
type smallListener struct{ *net.TCPListener }

func (l smallListener) Accept() (net.Conn, error) {
	conn, err := l.AcceptTCP()
	if err != nil {
		return nil, err
	}
	return conn, conn.SetWriteBuffer(4096)
}

// TestNotifiedBesideStalled: clients that do not read each make their browser wait
// for a moment. They do not delay other clients.
func TestNotifiedBesideStalled(t *testing.T) {
	const stalled = 100
	var stalls counter
	first, speak := make(chan struct{}), make(chan struct{})
	fake := startFake(t, "127.0.0.1:0", "old", func(conn net.Conn) {
		select {
		case first <- struct{}{}: // the reading client's
		case <-speak:
			conn.Write(frame(100_000, 'x'))
			stalls.add()
		}
		io.Copy(io.Discard, conn)
	})
	src := newSource(fake.url())
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	p := cdpproxy.New(src, nil)
	served := make(chan error, 1)
	go func() { served <- p.Serve(smallListener{ln.(*net.TCPListener)}) }()
	defer func() {
		p.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()
	good := dial(t, addr, "/devtools/browser/x")
	<-first
	for range stalled {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.(*net.TCPConn).SetReadBuffer(4096)
		upgradeOn(t, conn, addr, "/devtools/browser/x", "", "")
	}
	close(speak)
	stalls.until(t, stalled)
	start := time.Now()
	src.set("next", "ws://127.0.0.1:9/devtools/browser/next")
	if _, _, err := good.Read(testContext(t)); websocket.CloseStatus(err) != websocket.StatusServiceRestart {
		t.Fatalf("got %v, want close 1012", err)
	}
	took := time.Since(start)
	t.Logf("beside %d clients that do not read, notified after %v", stalled, took)
	if took > 250*time.Millisecond { // in sequence they would take 2 s
		t.Errorf("reported after %v", took)
	}
}

// TestBrowserDies: the browser ends before the source reports it.
func TestBrowserDies(t *testing.T) {
	c := cdptest.Launch(t)
	src := newSource(c.URL())
	_, addr := serve(t, src, &cdpproxy.Options{HoldTimeout: cdpproxy.NoHold, NoBrowserHelp: "Press F5."})
	conn := dial(t, addr, "/devtools/browser/x")
	call(t, conn, getVersion)
	cdptest.Kill(c)
	_, _, err := conn.Read(testContext(t))
	var closed websocket.CloseError
	if !errors.As(err, &closed) || closed.Code != websocket.StatusGoingAway || !strings.Contains(closed.Reason, `browser "first"`) {
		t.Errorf("got %v, want close 1001 that names the browser", err)
	}
	status, body := get(t, addr, "/json/version", nil)
	if status != 502 || !strings.Contains(body, `browser "first" of this window does not answer`) || !strings.Contains(body, "Press F5.") {
		t.Errorf("dead browser: %d %s", status, body)
	}
	src.set("", "")
	status, body = get(t, addr, "/json/version", nil)
	if status != 503 || !strings.Contains(body, "Press F5.") {
		t.Errorf("no browser: %d %s", status, body)
	}
}

// TestWantedInVain: a held client gets its response at once when no browser will
// come.
func TestWantedInVain(t *testing.T) {
	failed := make(chan struct{})
	opts := &cdpproxy.Options{HoldTimeout: time.Hour, Wanted: func() <-chan struct{} { return failed }}
	src := newSource("")
	_, addr := serve(t, src, opts)
	answered := make(chan string, 1)
	go func() {
		_, body, err := tryGet(addr, "/json/version", nil)
		answered <- fmt.Sprint(body, err)
	}()
	src.asked.until(t, 2) // by the proxy itself, and for the client
	close(failed)
	var body string
	select {
	case body = <-answered:
	case <-time.After(30 * time.Second):
	}
	if !strings.Contains(body, "no browser") || strings.Contains(body, "waited") {
		t.Errorf("answered %q", body)
	}
}
