package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/coordinator/chrome"
	"browser-coordinator/vscodeipc"
)

// client is a CDP client that sends raw messages.
type client struct {
	*websocket.Conn
	t  *testing.T
	id int
}

func join(t *testing.T, endpoint, agent string) *client {
	t.Helper()
	c, _, err := websocket.Dial(t.Context(), strings.Replace(endpoint, "http://", "ws://", 1)+"/devtools/browser/x", &websocket.DialOptions{HTTPHeader: http.Header{"User-Agent": {agent}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.CloseNow() })
	c.SetReadLimit(64 << 20)
	return &client{Conn: c, t: t}
}

func (c *client) say(method, params string) {
	c.t.Helper()
	c.id++
	if err := c.Write(c.t.Context(), websocket.MessageText, fmt.Appendf(nil, `{"id":%d,"method":%q,"params":%s}`, c.id, method, params)); err != nil {
		c.t.Fatal(err)
	}
}

// reply is the response to the last message: its result, or its error's text.
func (c *client) reply() (string, error) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 20*time.Second)
	defer cancel()
	for {
		_, b, err := c.Read(ctx)
		if err != nil {
			c.t.Fatal(err)
		}
		var m struct {
			ID     int
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		if err := json.Unmarshal(b, &m); err != nil {
			c.t.Fatal(err)
		}
		switch {
		case m.ID != c.id:
		case m.Error != nil:
			return "", errors.New(m.Error.Message)
		default:
			return string(m.Result), nil
		}
	}
}

func (c *client) call(method, params string) (string, error) {
	c.t.Helper()
	c.say(method, params)
	return c.reply()
}

const openTab = `{"url":"data:text/html,<title>opened</title>"}`

// A terminal's window allows what its command line permits.
func TestAccessOfTerminal(t *testing.T) {
	for mode, want := range map[string]string{
		"full": "",
		"ask":  "nobody could be asked",
		"view": "clients may look, but change nothing",
	} {
		t.Run(mode, func(t *testing.T) {
			dir, shop := t.TempDir(), folder(t, "shop")
			w := start(t, dir, "window", "--workspace", shop, "--headless", "--access", mode)
			c := join(t, w.first, "test")
			if got, err := c.call("Target.getTargets", `{}`); err != nil || !strings.Contains(got, "about:blank") {
				t.Errorf("looking: %s, %v", got, err)
			}
			_, err := c.call("Target.createTarget", openTab)
			switch {
			case want == "" && err != nil:
				t.Errorf("%v", err)
			case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "coordinator window --access full")):
				t.Errorf("%v, want a refusal that says %q and how to change it", err, want)
			}
			if _, err := c.call("Browser.close", `{}`); (err == nil) == (mode == "view") {
				t.Errorf("Browser.close: %v", err)
			}
			if got := titles(t, w.first); len(got) == 0 {
				t.Error("the browser was closed by a client")
			}
		})
	}
}

func TestAllowClose(t *testing.T) {
	dir, shop := t.TempDir(), folder(t, "shop")
	w := start(t, dir, "window", "--workspace", shop, "--headless", "--allow-close")
	join(t, w.first, "test").say("Browser.close", `{}`)
	if err := w.cmd.Wait(); err != nil || !strings.Contains(w.stderr.String(), "The browser was closed") {
		t.Errorf("the window ended with %v\n%s", err, w.stderr)
	}
}

// With --require-token no client connects without the token. The printed address
// contains it.
func TestRequireToken(t *testing.T) {
	dir, shop := t.TempDir(), folder(t, "shop")
	w := start(t, dir, "window", "--workspace", shop, "--headless", "--require-token")
	origin, token, ok := strings.Cut(strings.TrimPrefix(w.first, "http://"), "/")
	if !ok || len(token) != 64 {
		t.Fatalf("it prints %s, without a token", w.first)
	}
	for address, status := range map[string]int{
		"http://" + origin + "/json/version":                              http.StatusForbidden,
		"http://" + origin + "/" + strings.Repeat("0", 64) + "/json/list": http.StatusForbidden,
		w.first + "/json/version":                                         http.StatusOK,
	} {
		res, err := http.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != status {
			t.Errorf("%s: HTTP %d, want %d", address, res.StatusCode, status)
		}
	}
	if _, _, err := websocket.Dial(t.Context(), "ws://"+origin+"/devtools/browser/x", nil); err == nil {
		t.Error("a WebSocket without the token came in")
	}
	if got := titles(t, "ws://"+origin+"/"+token+"/devtools/browser/x"); len(got) != 1 {
		t.Errorf("with the token: pages %q", got)
	}
}

// askedWindow is a window with a real browser. Its user answers through channels. Its
// commands are those of the VS Code extension.
type askedWindow struct {
	*vscodeipc.Server
	browser   string
	asked     chan vscodeipc.AskArg
	answer    chan vscodeipc.AskResult
	announced chan vscodeipc.AnnounceArg
	reported  chan vscodeipc.ReportArg
}

func startAskedWindow(t *testing.T, dir, workspace string) *askedWindow {
	t.Helper()
	t.Setenv("XDG_DATA_HOME", filepath.Join(dir, "data"))
	installed, err := chrome.Find(chrome.FindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	browser, err := chrome.Launch(t.Context(), chrome.Options{Executable: installed.Path, Headless: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { browser.Close(context.Background()) })
	canonical, err := vscodeipc.Canonical(workspace)
	if err != nil {
		t.Fatal(err)
	}
	w := &askedWindow{
		browser: browser.URL(),
		asked:   make(chan vscodeipc.AskArg, 10), answer: make(chan vscodeipc.AskResult, 10),
		announced: make(chan vscodeipc.AnnounceArg, 1000), reported: make(chan vscodeipc.ReportArg, 1000),
	}
	w.Server, err = vscodeipc.Serve(t.Context(), vscodeipc.ServerOptions{
		Workspace: canonical, Folders: []string{canonical}, Kind: "vscode", Name: "test", Version: "1",
		Commands: map[string]vscodeipc.Handler{
			vscodeipc.CommandPermissionAsk: func(ctx context.Context, c vscodeipc.Call) (any, error) {
				var arg vscodeipc.AskArg
				if err := json.Unmarshal(c.Arg, &arg); err != nil {
					return nil, err
				}
				w.asked <- arg
				select {
				case a := <-w.answer:
					return a, nil
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			},
			vscodeipc.CommandClientAnnounce: passOn(w.announced),
			vscodeipc.CommandClientReport:   passOn(w.reported),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close(context.Background()) })
	return w
}

func passOn[T any](to chan<- T) vscodeipc.Handler {
	return func(_ context.Context, c vscodeipc.Call) (any, error) {
		var arg T
		if err := json.Unmarshal(c.Arg, &arg); err != nil {
			return nil, err
		}
		to <- arg
		return struct{}{}, nil
	}
}

func (w *askedWindow) choose(t *testing.T, mode vscodeipc.AccessMode, stopped ...string) {
	t.Helper()
	if err := w.SetState(vscodeipc.State{
		Browser: &vscodeipc.Browser{URL: w.browser, Product: "Chromium", Via: "injected"},
		Access:  vscodeipc.Access{Mode: mode, Stopped: stopped},
	}); err != nil {
		t.Fatal(err)
	}
}

func next[T any](t *testing.T, from <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(20 * time.Second):
		t.Fatalf("%s: nothing came within 20 s", what)
		panic("unreachable")
	}
}

// TestToldByTheWindow: the window notifies that its browser has ended. The coordinator's
// client gets its close frame less than 100 ms later, in the median.
func TestToldByTheWindow(t *testing.T) {
	dir, shop := t.TempDir(), folder(t, "shop")
	w := startAskedWindow(t, dir, shop)
	serve := start(t, dir, "serve", "--workspace", shop)
	var took []time.Duration
	for range 9 {
		w.choose(t, vscodeipc.AccessFull)
		c := join(t, serve.first, "test") // it waits for the browser
		if _, err := c.call("Browser.getVersion", `{}`); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := w.SetState(vscodeipc.State{Access: vscodeipc.Access{Mode: vscodeipc.AccessFull}}); err != nil {
			t.Fatal(err)
		}
		_, _, err := c.Read(t.Context())
		took = append(took, time.Since(began))
		var closed websocket.CloseError
		if !errors.As(err, &closed) || closed.Code != websocket.StatusGoingAway || !strings.Contains(closed.Reason, `browser "Chromium" has ended`) {
			t.Fatalf("%v, want close 1001 that names the browser", err)
		}
	}
	slices.Sort(took)
	t.Logf("told after %v", took)
	if median := took[len(took)/2]; median > 100*time.Millisecond {
		t.Errorf("told after %v", median)
	}
}

// The complete path of a question: a CDP client requests an action, and the window asks
// its user. The user sees the client and its action, and stops it.
func TestUserDecides(t *testing.T) {
	dir, shop := t.TempDir(), folder(t, "shop")
	w := startAskedWindow(t, dir, shop)
	w.choose(t, vscodeipc.AccessAsk)
	serve := start(t, dir, "serve", "--workspace", shop)
	c := join(t, serve.first, "Playwright/1.65.1 (x64)")
	if _, err := c.call("Target.getTargets", `{}`); err != nil {
		t.Errorf("looking: %v", err)
	}
	var id string
	for id == "" {
		for _, each := range next(t, w.announced, "client.announce").Clients {
			if each.Name != "Playwright" || each.Version != "1.65.1" || each.Kind != "cdp" || time.Since(time.UnixMilli(each.Since)) > time.Minute {
				t.Errorf("announced: %+v", each)
			}
			id = each.ID
		}
	}

	c.say("Target.createTarget", openTab)
	q := next(t, w.asked, "permission.ask")
	if q.Client.ID != id || q.Client.Name != "Playwright" || q.Act != "Target.createTarget" || !strings.Contains(q.Detail, "opened") {
		t.Errorf("the user was asked %+v", q)
	}
	w.answer <- vscodeipc.AskResult{Decision: "refuse", Scope: "once", Reason: "human"}
	if _, err := c.reply(); err == nil || !strings.Contains(err.Error(), "the user did not allow it") || !strings.Contains(err.Error(), "status bar") {
		t.Errorf("refused: %v", err)
	}
	w.answer <- vscodeipc.AskResult{Decision: "allow", Scope: "session"}
	for range 2 {
		if got, err := c.call("Target.createTarget", openTab); err != nil || !strings.Contains(got, "targetId") {
			t.Errorf("allowed: %s, %v", got, err)
		}
	}
	var told []vscodeipc.Activity
	for len(told) < 3 {
		told = append(told, next(t, w.reported, "client.report").Entries...)
	}
	for i, ok := range []bool{false, true, true} {
		if e := told[i]; e.Client != id || e.OK != ok || e.Act != "Target.createTarget" || !strings.Contains(e.Target, "opened") || e.Outcome == "" {
			t.Errorf("reported: %+v", e)
		}
	}

	// A new mode applies to connected clients and to a client that waits. The waiting
	// client shows the test that the mode has arrived.
	waits := join(t, serve.first, "waits/1")
	waits.say("Target.createTarget", openTab)
	next(t, w.asked, "permission.ask")
	w.choose(t, vscodeipc.AccessView)
	if _, err := waits.reply(); err == nil || !strings.Contains(err.Error(), `"view"`) {
		t.Errorf("what waited when the mode became view: %v", err)
	}
	if _, err := c.call("Target.createTarget", openTab); err == nil {
		t.Error("view mode did not reach the client")
	}

	w.choose(t, vscodeipc.AccessFull, id)
	for {
		if _, _, err := c.Read(t.Context()); err != nil {
			var closed websocket.CloseError
			if !errors.As(err, &closed) || closed.Code != websocket.StatusPolicyViolation || !strings.Contains(closed.Reason, "stopped by the user") {
				t.Errorf("stopped: %v", err)
			}
			break
		}
	}
	other := join(t, serve.first, "another/1")
	if _, err := other.call("Target.createTarget", openTab); err != nil {
		t.Errorf("a client that was not stopped: %v", err)
	}
}
