package cdpproxy_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
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
func dialBy(t testing.TB, addr, path string, tcp func(ctx context.Context, network, addr string) (net.Conn,
	error)) *websocket.Conn {
	t.Helper()
	return dialWith(t, "ws://"+addr+path,
		&websocket.DialOptions{HTTPClient: &http.Client{Transport: &http.Transport{DialContext: tcp}}})
}

// dialAs dials the browser as a program of that name.
func dialAs(t testing.TB, addr, agent string) *websocket.Conn {
	t.Helper()
	return dialWith(t, "ws://"+addr+"/devtools/browser/x",
		&websocket.DialOptions{HTTPHeader: http.Header{"User-Agent": {agent}}})
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

// closes reports whether an error of a read is a close frame with that code, and with that
// text in its reason.
func closes(err error, code websocket.StatusCode, reason string) bool {
	var closed websocket.CloseError
	return errors.As(err, &closed) && closed.Code == code && strings.Contains(closed.Reason, reason)
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
	if !closes(err, websocket.StatusGoingAway, `"first" has ended`) {
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
	if !closes(err, websocket.StatusServiceRestart, `"second" was replaced by browser "third"`) {
		t.Errorf("after a switch: %v", err)
	}
}

// notifiedAfter returns how long after event, which returns when it began, the last of
// the clients has read its close with that code.
func notifiedAfter(t *testing.T, clients []*websocket.Conn, code websocket.StatusCode,
	event func() time.Time) time.Duration {
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

// TestBrokenSoon: a browser is replaced in the middle of a frame that never ends. Its
// client gets a broken connection soon, without a close frame.
func TestBrokenSoon(t *testing.T) {
	fake := startFake(t, "127.0.0.1:0", "silent", func(conn net.Conn) {
		conn.Write(frame(1000, 'x')[:500])
		io.Copy(io.Discard, conn)
	})
	src := newSource(fake.url())
	_, addr := serve(t, src, nil)
	took := time.Hour
	for try := 0; took > soon && try < 5; try++ { // the machine may be busy
		src.set("old", fake.url())
		_, r, err := dial(t, addr, "/devtools/browser/x").Reader(testContext(t)) // the frame has begun
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		src.set("next", "ws://127.0.0.1:9/devtools/browser/next")
		if _, err := io.ReadAll(r); err == nil || websocket.CloseStatus(err) != -1 {
			t.Fatalf("got %v, want a broken connection", err)
		}
		took = min(took, time.Since(start))
	}
	if took > soon {
		t.Errorf("notified after %v, want at most %v", took, soon)
	}
}

// soon is the bound on the notification of a change, on a machine with time.
const soon = 100 * time.Millisecond

// TestManyNotifiedSoon: the last of 500 clients is notified of a change as soon, also
// beside clients that do not read. If the machine is too busy, the time is compared with
// that of a server which closes all connections at once. Then the test retries, since
// other programs may have taken the time.
func TestManyNotifiedSoon(t *testing.T) {
	const many, stalled = 500, 20
	for try := 1; ; try++ {
		restart := make(chan struct{})
		var joined atomic.Int32
		fake := startFake(t, "127.0.0.1:0", "old", func(conn net.Conn) {
			if joined.Add(1) <= stalled {
				conn.Write(frame(5<<20, 'x')) // more than the system buffers
			}
			go func() {
				<-restart
				conn.Write([]byte{0x88, 2, 1012 >> 8, 1012 & 0xff})
			}()
			io.Copy(io.Discard, conn)
		})
		src := newSource(fake.url())
		_, addr := serve(t, src, nil)
		dialAll(t, addr, "/devtools/browser/x", stalled) // they do not read
		took := notifiedAfter(t, dialAll(t, addr, "/devtools/browser/x", many), websocket.StatusServiceRestart,
			func() time.Time {
				defer src.set("next", fake.url())
				return time.Now()
			})
		floor := notifiedAfter(t, dialAll(t, fake.addr, "/devtools/page/1", many), websocket.StatusServiceRestart,
			func() time.Time {
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

func pressF5() string { return "Press F5." }

// TestBrowserDies: the browser ends before the source reports it.
func TestBrowserDies(t *testing.T) {
	c := cdptest.Launch(t)
	src := newSource(c.URL())
	_, addr := serve(t, src, &cdpproxy.Options{HoldTimeout: cdpproxy.NoHold, NoBrowserHelp: pressF5})
	conn := dial(t, addr, "/devtools/browser/x")
	call(t, conn, getVersion)
	cdptest.Kill(c)
	_, _, err := conn.Read(testContext(t))
	if !closes(err, websocket.StatusGoingAway, `browser "first"`) {
		t.Errorf("got %v, want close 1001 that names the browser", err)
	}
	status, body := get(t, addr, "/json/version", nil)
	if status != 502 || !strings.Contains(body, `browser "first" of this window does not answer`) ||
		!strings.Contains(body, "Press F5.") {
		t.Errorf("dead browser: %d %s", status, body)
	}
	src.set("", "")
	status, body = get(t, addr, "/json/version", nil)
	if status != 503 || !strings.Contains(body, "Press F5.") {
		t.Errorf("no browser: %d %s", status, body)
	}
}

// TestHeld: a client that waits for a browser gets its response at once when no browser
// will come, or the proxy ends.
func TestHeld(t *testing.T) {
	for want, end := range map[string]func(failed chan struct{}, p *cdpproxy.Proxy){
		"this window has no browser that can be driven.": func(failed chan struct{},
			_ *cdpproxy.Proxy) {
			close(failed)
		},
		"is shutting down": func(_ chan struct{}, p *cdpproxy.Proxy) { p.Shutdown(testContext(t)) },
	} {
		failed := make(chan struct{})
		src := newSource("")
		p, addr := serve(t, src, &cdpproxy.Options{HoldTimeout: time.Hour,
			Demand: func() <-chan struct{} { return failed }})
		answered := make(chan string, 1)
		go func() {
			status, body, err := tryGet(addr, "/json/version", nil)
			answered <- fmt.Sprint(status, " ", body, err)
		}()
		src.asked.until(t, 2) // by the proxy itself, and for the client
		end(failed, p)
		select {
		case got := <-answered:
			if !strings.HasPrefix(got, "503 ") || !strings.Contains(got, want) {
				t.Errorf("answered %q, want %q", got, want)
			}
		case <-time.After(30 * time.Second):
			t.Errorf("no answer, want %q", want)
		}
	}
}

// refusals is a logger's handler for the reasons of refused requests.
type refusals chan string

func (refusals) Enabled(context.Context, slog.Level) bool { return true }
func (r refusals) WithAttrs([]slog.Attr) slog.Handler     { return r }
func (r refusals) WithGroup(string) slog.Handler          { return r }

func (r refusals) Handle(_ context.Context, record slog.Record) error {
	if record.Message == "request refused" {
		record.Attrs(func(a slog.Attr) bool {
			if a.Key == "why" {
				r <- a.Value.String()
			}
			return true
		})
	}
	return nil
}

// TestClientLeavesEarly: the log tells a client that leaves while it waits for a browser
// from one that sends frames then.
func TestClientLeavesEarly(t *testing.T) {
	reasons, waiting := make(refusals, 1), make(chan struct{}, 1)
	_, addr := serve(t, newSource(""), &cdpproxy.Options{
		Logger: slog.New(reasons),
		Demand: func() <-chan struct{} {
			waiting <- struct{}{}
			return nil
		},
	})
	for early, want := range map[string]string{"": "the client left", "\x81\x80": "a client may send frames"} {
		conn := connect(t, addr)
		io.WriteString(conn, upgradeRequest(addr, "/devtools/browser/x"))
		<-waiting
		io.WriteString(conn, early)
		conn.Close()
		if got := <-reasons; !strings.HasPrefix(got, want) {
			t.Errorf("after %q the log has %q", early, got)
		}
	}
}
