package cdp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/coder/websocket"

	"browser-coordinator/coordinator/chrome"
)

var shared *chrome.Browser

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	found, err := chrome.Find(chrome.FindOptions{})
	if err == nil {
		shared, err = chrome.Launch(context.Background(), chrome.Options{Executable: found, Headless: true,
			Args: []string{"--disable-gpu"}})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "these tests need a browser:", err)
		return 1
	}
	defer shared.Close(context.Background())
	return m.Run()
}

func mustDial(t *testing.T, endpoint string, opts *Options) *Conn {
	t.Helper()
	c, err := Dial(t.Context(), endpoint, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// newTab opens a page for the test and attaches to it.
func newTab(t *testing.T, c *Conn) (*Session, target.ID) {
	t.Helper()
	r, err := protocol.Call(t.Context(), c, target.CreateTarget, target.CreateTargetParams{URL: "about:blank"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.Attach(t.Context(), r.TargetID)
	if err != nil {
		t.Fatal(err)
	}
	return s, r.TargetID
}

func evaluate(ctx context.Context, s protocol.Session, expression string) (string, error) {
	r, err := protocol.Call(ctx, s, runtime.Evaluate, runtime.EvaluateParams{Expression: expression,
		ReturnByValue: new(true), AwaitPromise: new(true)})
	if err != nil {
		return "", err
	}
	return string(r.Result.Value), nil
}

func TestCallsOnRealBrowser(t *testing.T) {
	base, _, _ := strings.Cut(shared.URL(), "/devtools/")
	c := mustDial(t, "http"+strings.TrimPrefix(base, "ws"), nil) // found by /json/version
	if c.URL() != shared.URL() {
		t.Errorf("dialled %s, the browser is at %s", c.URL(), shared.URL())
	}
	s, _ := newTab(t, c)
	if c.Session(s.ID()) != s {
		t.Error("the same id gives another session")
	}
	if got, err := evaluate(t.Context(), s, "6*7"); err != nil || got != "42" {
		t.Errorf("evaluate: %s %v", got, err)
	}
	// The reply exceeds coder/websocket's own limit and has text that is not valid UTF-16.
	if got, err := evaluate(t.Context(), s, "'x'.repeat(3e6) + '\\ud800'"); err != nil || len(got) < 3e6 {
		t.Errorf("a large reply: %d bytes, %v", len(got), err)
	}
	var refusal *Error
	if err := s.Call(t.Context(), "Page.noSuchThing", nil, nil); !errors.As(err, &refusal) || refusal.Code != -32601 ||
		refusal.Method != "Page.noSuchThing" {
		t.Errorf("an unknown method: %v", err)
	}
	if err := c.Session("0123").Call(t.Context(), "Runtime.enable", nil, nil); !errors.Is(err, ErrSessionGone) {
		t.Errorf("an unknown session: %v", err)
	}
}

func TestACancelledCallKeepsTheConnection(t *testing.T) {
	c := mustDial(t, shared.URL(), nil)
	s, _ := newTab(t, c)
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("the agent has gone")
	ended := make(chan error, 1)
	go func() {
		_, err := evaluate(ctx, s, "new Promise(() => {})")
		ended <- err
	}()
	cancel(gone)
	if err := <-ended; !errors.Is(err, gone) {
		t.Errorf("the call ended with %v", err)
	}
	if _, err := evaluate(ctx, s, "1"); !errors.Is(err, gone) {
		t.Errorf("a call with an ended context: %v", err)
	}
	if got, err := evaluate(t.Context(), s, "1"); err != nil || got != "1" {
		t.Errorf("the next call: %s %v", got, err)
	}
	short := mustDial(t, shared.URL(), &Options{CallTimeout: 2 * time.Second})
	q, _ := newTab(t, short)
	if _, err := evaluate(context.Background(), q, "new Promise(() => {})"); !errors.Is(err, ErrTimeout) {
		t.Errorf("a call without a deadline: %v", err)
	}
}

func TestEventsComeInOrder(t *testing.T) {
	c := mustDial(t, shared.URL(), nil)
	s, _ := newTab(t, c)
	sub := s.Listen(runtime.ConsoleAPICalled.Method)
	defer sub.Close()
	if _, err := protocol.Call(t.Context(), s, runtime.Enable, protocol.Empty{}); err != nil {
		t.Fatal(err)
	}
	if _, err := evaluate(t.Context(), s, "for (let i = 0; i < 100; i++) console.log(i)"); err != nil {
		t.Fatal(err)
	}
	mark := make(chan struct{})
	if !sub.Mark(mark) {
		t.Fatal("no mark")
	}
	n := 0
	for e := range sub.C() {
		if e.Mark != nil {
			break
		}
		var called runtime.EventConsoleAPICalled
		if err := e.Decode(&called); err != nil {
			t.Fatal(err)
		}
		if got := string(called.Args[0].Value); got != fmt.Sprint(n) {
			t.Fatalf("event %d is %s", n, got)
		}
		n++
	}
	if n != 100 {
		t.Errorf("%d events before the mark", n)
	}
}

func TestOverflowEndsOnlyTheSlowSubscription(t *testing.T) {
	c := mustDial(t, shared.URL(), &Options{QueueSize: 10})
	s, _ := newTab(t, c)
	slow := s.Listen(runtime.ConsoleAPICalled.Method)
	if _, err := protocol.Call(t.Context(), s, runtime.Enable, protocol.Empty{}); err != nil {
		t.Fatal(err)
	}
	if got, err := evaluate(t.Context(), s, "for (let i = 0; i < 50; i++) console.log(i); 'alive'"); err != nil ||
		got != `"alive"` {
		t.Fatalf("the reader was held up: %s %v", got, err)
	}
	n := 0
	for range slow.C() {
		n++
	}
	if n != 10 || !errors.Is(slow.Err(), ErrOverflow) {
		t.Errorf("%d events, then %v", n, slow.Err())
	}
}

func TestClose(t *testing.T) {
	c := mustDial(t, shared.URL(), nil)
	s, _ := newTab(t, c)
	sub := c.ListenAll()
	pending, err := s.Start(t.Context(), runtime.CommandEvaluate,
		runtime.EvaluateParams{Expression: "new Promise(() => {})", AwaitPromise: new(true)})
	if err != nil {
		t.Fatal(err)
	}
	if c.Err() != nil {
		t.Errorf("Err of a connection that lives: %v", c.Err())
	}
	c.Close()
	if err := pending.Wait(t.Context(), nil); !errors.Is(err, ErrClosed) {
		t.Errorf("a call under way: %v", err)
	}
	for range sub.C() {
	}
	for _, err := range []error{sub.Err(), s.Err(), c.Err(), c.Call(t.Context(), "Browser.getVersion", nil, nil)} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
	if late := c.Listen(); late.Err() == nil {
		t.Error("a subscription to a closed connection lives")
	}
	c.Close()
}

// TestSessionEndsBeforeItsUse: a session whose end was read before anyone used it has ended. Only a
// fake browser sends both at once.
func TestSessionEndsBeforeItsUse(t *testing.T) {
	for name, begin := range map[string]string{
		"a reply":  `{"id":1,"result":{"sessionId":"S"}}`,
		"an event": `{"method":"Target.attachedToTarget","params":{"sessionId":"S"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			peer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				ws, err := websocket.Accept(w, r, nil)
				if err != nil {
					return
				}
				defer ws.CloseNow()
				_, _, _ = ws.Read(r.Context())
				for _, message := range []string{
					begin, `{"method":"Target.detachedFromTarget","params":{"sessionId":"S"}}`, `{"method":"Test.last"}`,
				} {
					_ = ws.Write(r.Context(), websocket.MessageText, []byte(message))
				}
				_, _, _ = ws.Read(r.Context())
			}))
			defer peer.Close()
			c := mustDial(t, "ws"+strings.TrimPrefix(peer.URL, "http"), nil)
			last := c.ListenAll("Test.last")
			if _, err := c.Start(t.Context(), target.CommandAttachToTarget, nil); err != nil {
				t.Fatal(err)
			}
			<-last.C()
			s := c.Session("S")
			select {
			case <-s.Done():
			default:
				t.Fatal("the session has not ended")
			}
			if err := s.Call(t.Context(), "Runtime.enable", nil, nil); !errors.Is(err, ErrSessionGone) {
				t.Errorf("a call in it: %v", err)
			}
		})
	}
}

// A browser that misbehaves: the peer is faked, the socket is real.
func TestBadPeers(t *testing.T) {
	for _, test := range []struct {
		name, want string
		send       func(ctx context.Context, ws *websocket.Conn)
	}{
		{"goes away", "", func(context.Context, *websocket.Conn) {}},
		{"is not a browser", "not JSON", func(ctx context.Context, ws *websocket.Conn) {
			_ = ws.Write(ctx, websocket.MessageText, []byte("hello"))
			_, _, _ = ws.Read(ctx)
		}},
		{"answers what was not asked, then goes", "", func(ctx context.Context, ws *websocket.Conn) {
			_ = ws.Write(ctx, websocket.MessageText, []byte(`{"id":77,"result":{}}`))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			peer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				ws, err := websocket.Accept(w, r, nil)
				if err != nil {
					return
				}
				defer ws.CloseNow()
				test.send(r.Context(), ws)
			}))
			defer peer.Close()
			c := mustDial(t, "ws"+strings.TrimPrefix(peer.URL, "http"), nil)
			<-c.Done()
			if err := c.Err(); !errors.Is(err, ErrClosed) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("ended with %v", err)
			}
		})
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/token/json/version", func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{
			"webSocketDebuggerUrl": "ws://name:secret@192.0.2.1:9222/devtools/browser/any",
		})
	})
	mux.HandleFunc("/devtools/browser/any", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("the name and the password of the URL were sent")
		}
		if ws, err := websocket.Accept(w, r, nil); err == nil {
			_, _, _ = ws.Read(r.Context())
		}
	})
	mux.HandleFunc("/empty/json/version", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "{}") })
	discovery := httptest.NewServer(mux)
	defer discovery.Close()
	// The response names the path, and never the host.
	if c := mustDial(t, discovery.URL+"/token/", nil); c.URL() != "ws"+strings.TrimPrefix(discovery.URL,
		"http")+"/devtools/browser/any" {
		t.Errorf("it went to %s", c.URL())
	}
	for endpoint, want := range map[string]string{
		discovery.URL:            "404",
		discovery.URL + "/empty": "webSocketDebuggerUrl",
		"ftp://127.0.0.1":        "scheme",
		"http://":                "is not of the form",
	} {
		if _, err := Dial(t.Context(), endpoint, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v does not say %q", endpoint, err, want)
		}
	}
}
