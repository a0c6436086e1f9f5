//go:build unix

package multiplex_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy/discovery"
	"browser-coordinator/internal/cdptest"
	"browser-coordinator/internal/must"
)

// TestLikeThePort: a client gets the same from the pipe as from a port of the same
// browser, for valid and for invalid requests.
func TestLikeThePort(t *testing.T) {
	b := sharedBrowser(t)
	port, piped := cdptest.Dial(t, b.port), cdptest.Dial(t, b.server.URL())
	next := func(c *cdptest.Client, n int) cdptest.Message {
		return c.AwaitN("a message", n, func(cdptest.Message) bool { return true })
	}
	count := 0
	for _, text := range []string{
		`{"id":1,"method":"Browser.getVersion"}`,
		` { "params" : {} , "method" : "Browser.getVersion" , "id" : 2 } `,
		`{"id":3.0,"method":"Browser.getVersion"}`,
		`{"id":2147483647,"method":"Browser.getVersion"}`,
		`{"id":-2147483648,"method":"Browser.getVersion"}`,
		`{"id":-4,"method":"No.such"}`,
		`{"id":5,"method":"Browser.get\u0056ersion","sessionId":""}`,
		`{"id":6,"method":"Browser.getVersion","params":null}`,
		`{"id":7,"method":"Browser.getVersion","params":5}`,
		`{"id":9,"method":"Browser.getVersion","sessionId":"0123"}`,
		`{"id":1.5,"method":"Browser.getVersion"}`,
		`{"id":"13","method":"Browser.getVersion"}`,
		`{"id":2147483648,"method":"Browser.getVersion"}`,
		`{"method":"Browser.getVersion"}`,
		`{"id":14,"method":"Target.attachToTarget","params":{"targetId":"none","flatten":true}}`,
		`{"id":15,"method":"Target.detachFromTarget","params":{"sessionId":"none"}}`,
		`{"id":16,"method":"Target.getTargets"}`,
		`{"id":17,"method":"Page.enable"}`,
		`{"id":18,"method":"SystemInfo.getProcessInfo","params":{"x":"\ud800"}}`,
	} {
		port.Write(text)
		piped.Write(text)
		count++
		want, got := next(port, count), next(piped, count)
		if strings.Contains(text, "getProcessInfo") { // it contains processor time
			want.Text, got.Text = want.Text[:40], got.Text[:40]
		}
		if got.Text != want.Text {
			t.Errorf("%s\n pipe %s\n port %s", text, got.Text, want.Text)
		}
	}
	// Of these the texts differ.
	for _, text := range []string{`{}`, `{"id":11}`, `{"id":8,"method":"Browser.getVersion","sessionId":5}`, `nonsense`,
		``, `[]`, `{"id":1,"method":"A","method":"B"}`,
		"{\"id\":1,\"method\":\"A\"}\x00{\"id\":2,\"method\":\"Browser.close\"}", "{\"id\":3,\"method\":\"\xff\"}"} {
		piped.Write(text)
		count++
		if got := next(piped, count); got.Error == nil || got.Method != "" {
			t.Errorf("%q: %s", text, got.Text)
		}
	}

	for _, path := range []string{"/json/activate/none", "/json/close/none", "/json/new", "/json/nonsense", "/json/"} {
		want, _ := cdptest.Request(t, "GET", httpOf(b.port, path))
		if got, body := cdptest.Request(t, "GET", httpOf(b.server.URL(), path)); got != want {
			t.Errorf("%s: HTTP %d %s\nport: HTTP %d", path, got, body, want)
		}
	}
	versions := map[string]discovery.Version{}
	for name, url := range b.ways() {
		var v discovery.Version
		_, body := cdptest.Request(t, "GET", httpOf(url, "/json/version"))
		if err := json.Unmarshal([]byte(body), &v); err != nil || v.WebSocket != url {
			t.Errorf("%s: %v, %s", name, err, body)
		}
		v.WebSocket = ""
		versions[name] = v
	}
	if versions["pipe"] != versions["port"] {
		t.Error(versions)
	}
	lists := map[string]string{}
	for name, url := range b.ways() {
		if _, res, err := websocket.Dial(t.Context(), strings.Replace(httpOf(url, "/devtools/page/none"), "http", "ws",
			1), nil); err == nil || res.StatusCode != http.StatusInternalServerError {
			t.Errorf("%s: a page that does not exist: %v", name, err)
		}
		status, body := cdptest.Request(t, "PUT", httpOf(url, "/json/new?data:text/html,a%20b%26c&for_tabs&d"))
		var created map[string]string
		if err := json.Unmarshal([]byte(body), &created); err != nil || status != 200 ||
			!strings.HasPrefix(created["url"], "data:text/html,a") {
			t.Errorf("%s: /json/new: HTTP %d %s", name, status, body)
		}
		page := cdptest.Dial(t, created["webSocketDebuggerUrl"])
		must.Await(t, name+": the new page has its address", func() bool {
			return strings.HasSuffix(page.Evaluate("", "location.href"), `b&c`)
		})
		for _, do := range []string{"activate", "close"} {
			if status, body := cdptest.Request(t, "GET", httpOf(url, "/json/"+do+"/"+created["id"])); status != 200 ||
				!strings.HasPrefix(body, "Target ") {
				t.Errorf("%s: /json/%s: HTTP %d %s", name, do, status, body)
			}
		}
		page.Ended()
		_, body = cdptest.Request(t, "GET", httpOf(url, "/json"))
		var list []map[string]string
		if err := json.Unmarshal([]byte(body), &list); err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(list, func(a, b map[string]string) int { return strings.Compare(a["id"], b["id"]) })
		for _, target := range list {
			lists[name] += fmt.Sprintln(slices.Sorted(maps.Keys(target)), target["id"], target["type"], target["url"])
		}
	}
	if lists["pipe"] != lists["port"] {
		t.Errorf("/json: %s\nport: %s", lists["pipe"], lists["port"])
	}
}

// TestClientsAreApart: two clients may use the same ids. Neither reaches the
// sessions of the other, nor gets its events.
func TestClientsAreApart(t *testing.T) {
	b := sharedBrowser(t)
	one, two := cdptest.Dial(t, b.server.URL()), cdptest.Dial(t, b.server.URL())
	target, first := open(t, one, "about:blank#one")
	_, second := open(t, two, "about:blank#two")
	third := two.Attach(target)
	one.Call(first, "Runtime.enable", "", nil)
	two.Call(third, "Runtime.enable", "", nil)

	// The same ids at the same time, each with its own value.
	const rounds = 200
	var both sync.WaitGroup
	for _, c := range []struct {
		*cdptest.Client
		session, name string
	}{{one, first, "one"}, {two, second, "two"}} {
		both.Go(func() {
			for i := range rounds {
				if got, want := c.Evaluate(c.session, fmt.Sprintf("location.hash + %d", i)), fmt.Sprintf("#%s%d",
					c.name, i); got != want {
					t.Errorf("%s instead of %s", got, want)
					return
				}
			}
		})
	}
	both.Wait()

	for _, foreign := range []string{second, third, "0123456789ABCDEF0123456789ABCDEF"} {
		m := one.Try(foreign, "Runtime.evaluate", `{"expression":"location.hash = 'taken'"}`)
		if m.Error == nil || m.Error.Code != -32001 || m.Error.Message != "Session with given id not found." ||
			m.SessionID != "" {
			t.Errorf("in another client's session: %s", m.Text)
		}
		if m := one.Try("", "Target.detachFromTarget", `{"sessionId":"`+foreign+`"}`); m.Error == nil {
			t.Errorf("another client's session was detached: %s", m.Text)
		}
	}
	if got := two.Evaluate(second, "location.hash"); got != "#two" {
		t.Errorf("the page of the other client is at %s", got)
	}

	// One page, two clients: each gets the event in its own session, and once.
	one.Evaluate(first, "console.log('seen'), 0")
	for _, c := range []struct {
		*cdptest.Client
		session string
	}{{one, first}, {two, third}} {
		c.Event(c.session, "Runtime.consoleAPICalled", "")
		c.Evaluate(c.session, "0")
		if n := c.Count(c.session, "Runtime.consoleAPICalled", ""); n != 1 {
			t.Errorf("%d events", n)
		}
	}
	for _, m := range slices.Concat(one.Messages(), two.Messages()) {
		if m.Method == "Target.attachedToTarget" && m.SessionID == "" && strings.Contains(m.Text, `"type":"browser"`) {
			t.Errorf("a client gets a session of the server's: %s", m.Text)
		}
	}
	for _, m := range one.Messages() {
		if strings.Contains(m.Text, second) || strings.Contains(m.Text, third) {
			t.Errorf("a client gets another's session: %s", m.Text)
		}
	}
}

// TestLeave: what a client has set up is undone when it leaves, as with a port.
func TestLeave(t *testing.T) {
	b := sharedBrowser(t)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<title>site</title>", r.URL.Path)
	}))
	defer site.Close()
	for name, url := range b.ways() {
		t.Run(name, func(t *testing.T) {
			stays := cdptest.Dial(t, url)
			target, session := open(t, stays, site.URL+"/first")
			leaves := cdptest.Dial(t, url)
			other := leaves.Attach(target)

			var context struct{ BrowserContextID string }
			leaves.Call("", "Target.createBrowserContext", `{"disposeOnDetach":true}`, &context)
			leaves.Call("", "Target.createTarget", fmt.Sprintf(`{"url":"about:blank","browserContextId":%q}`,
				context.BrowserContextID), nil)
			var kept struct{ TargetID string }
			leaves.Call("", "Target.createTarget", `{"url":"about:blank#kept"}`, &kept)
			leaves.Call(other, "Emulation.setUserAgentOverride", `{"userAgent":"changed"}`, nil)
			leaves.Call(other, "Page.addScriptToEvaluateOnNewDocument", `{"source":"window.left = true"}`, nil)
			if got := stays.Evaluate(session, "navigator.userAgent"); got != "changed" {
				t.Errorf("the user agent is %s", got)
			}
			leaves.Call(other, "Fetch.enable", `{}`, nil)
			pending := stays.Start(session, "Runtime.evaluate",
				`{"expression":"fetch('/second').then(r => r.text())","awaitPromise":true,"returnByValue":true}`)
			leaves.Event(other, "Fetch.requestPaused", "")
			// A new page waits for the client that requested it.
			leaves.Call("", "Target.setAutoAttach", `{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}`,
				nil)
			var waits struct{ TargetID string }
			stays.Call("", "Target.createTarget", fmt.Sprintf(`{"url":%q}`, site.URL+"/waits"), &waits)

			leaves.Leave()
			if m := stays.Answer(pending); !strings.Contains(m.Text, "/second") {
				t.Errorf("the request that was intercepted: %s", m.Text)
			}
			must.Await(t, "the page that waited is loaded", func() bool {
				m := stays.Try("", "Target.getTargetInfo", fmt.Sprintf(`{"targetId":%q}`, waits.TargetID))
				return strings.Contains(m.Text, `"title":"site"`)
			})
			must.Await(t, "the context is gone", func() bool {
				m := stays.Try("", "Target.getTargets", "")
				return !strings.Contains(m.Text, context.BrowserContextID)
			})
			if m := stays.Try("", "Target.getTargets", ""); !strings.Contains(m.Text, kept.TargetID) {
				t.Errorf("the page that was to stay has gone: %s", m.Text)
			}
			must.Await(t, "the user agent is restored", func() bool {
				return stays.Evaluate(session, "navigator.userAgent") != "changed"
			})
			stays.Call(session, "Page.enable", "", nil)
			stays.Call(session, "Page.reload", "", nil)
			stays.EventN(session, "Page.loadEventFired", "", 1)
			if got := stays.Evaluate(session, "typeof left"); got != "undefined" {
				t.Errorf("the script of the client that has left still runs: %s", got)
			}
			stays.Leave()
		})
	}
}

// TestPageClient: a connection to a page is that page's session, and what is
// attached within it has a session id. It ends with the page, as with a port.
func TestPageClient(t *testing.T) {
	b := sharedBrowser(t)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w,
			`<title>page</title><script>worker = new Worker(URL.createObjectURL(new Blob(["self.name = 'inner'"])))</script>`)
	}))
	defer site.Close()
	for name, url := range b.ways() {
		browser := cdptest.Dial(t, url)
		var created struct{ TargetID string }
		browser.Call("", "Target.createTarget", fmt.Sprintf(`{"url":%q}`, site.URL), &created)
		address, _, _ := strings.Cut(url, "/devtools/")
		page := cdptest.Dial(t, address+"/devtools/page/"+created.TargetID)
		page.Call("", "Target.setAutoAttach", `{"autoAttach":true,"waitForDebuggerOnStart":false,"flatten":true}`, nil)
		var attached struct{ SessionID string }
		page.Event("", "Target.attachedToTarget", "").Decode(t, &attached)
		must.Await(t, name+": the worker runs", func() bool {
			return page.Evaluate(attached.SessionID, "self.name") == "inner"
		})
		page.Evaluate("", "worker.terminate(), 0")
		page.Event("", "Target.detachedFromTarget", "")
		if m := page.Try(attached.SessionID, "Runtime.evaluate", `{"expression":"1"}`); !strings.Contains(m.Text,
			"-32001") {
			t.Errorf("%s: in a session that has ended: %s", name, m.Text)
		}
		page.Call("", "Page.enable", "", nil)
		page.Evaluate("", "0")
		browser.Call("", "Target.closeTarget", fmt.Sprintf(`{"targetId":%q}`, created.TargetID), nil)
		err := page.Ended()
		page.Event("", "Inspector.detached", "") // its reason tells whether the page or its process was gone first
		if name == "pipe" && websocket.CloseStatus(err) != websocket.StatusGoingAway {
			t.Errorf("a page's connection ends with %v", err)
		}
	}
}

// TestBrowserGone: clients are told of the end of the browser, with no response lost
// before it, and no further client gets in.
func TestBrowserGone(t *testing.T) {
	for _, crash := range []bool{false, true} {
		t.Run(fmt.Sprintf("crash=%v", crash), func(t *testing.T) {
			b := start(t)
			piped, idle := cdptest.Dial(t, b.server.URL()), cdptest.Dial(t, b.server.URL())
			if crash {
				b.cmd.Process.Kill()
			} else {
				piped.Call("", "Browser.close", "", nil)
			}
			for _, c := range []*cdptest.Client{piped, idle} {
				if err := c.Ended(); websocket.CloseStatus(err) != websocket.StatusGoingAway {
					t.Errorf("the connection ends with %v", err)
				}
			}
			if status, body := cdptest.Request(t, "GET", httpOf(b.server.URL(), "/json/version")); status < 500 {
				t.Errorf("HTTP %d %s", status, body)
			}
			if _, _, err := websocket.Dial(t.Context(), b.server.URL(), nil); err == nil {
				t.Error("a client gets in")
			}
		})
	}
}
