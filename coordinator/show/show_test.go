package show

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"browser-coordinator/coordinator/registry"
	"browser-coordinator/coordinator/status"
	"browser-coordinator/internal/cdptest"
	"browser-coordinator/internal/must"
	"browser-coordinator/vscodeipc"
)

// childLink names the link that the test binary opens as another user.
const childLink = "SHOW_TEST_LINK"

func TestMain(m *testing.M) {
	if link := os.Getenv(childLink); link != "" {
		requestAsChild(link)
		return
	}
	os.Exit(cdptest.Main(m))
}

// start serves the page of the windows below a directory of the test's own.
func start(t *testing.T) *Server {
	t.Helper()
	for _, name := range []string{"XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "HOME"} {
		t.Setenv(name, t.TempDir())
	}
	windows := registry.Open(t.Context(), registry.Options{Client: vscodeipc.Peer{Name: "test"}})
	t.Cleanup(func() { windows.Close() })
	s := must.Get(Serve(windows, slog.New(slog.DiscardHandler)))(t)
	t.Cleanup(s.Close)
	return s
}

// send sends a request with headers, "Name: value" each, and returns the status.
func send(t *testing.T, method, url string, headers ...string) *http.Response {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(t.Context(), method, url, nil))(t)
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		if name == "Host" {
			r.Host = value
		}
		r.Header.Set(name, value)
	}
	response := must.Get(http.DefaultTransport.RoundTrip(r))(t)
	response.Body.Close()
	return response
}

// TestLinks: a link admits one tab, once, within its time, and by nothing that another page can send.
func TestLinks(t *testing.T) {
	s := start(t)
	own := "Origin: http://" + s.host
	redeem := func(link string, headers ...string) (status int, text string) {
		t.Helper()
		address, code, _ := strings.Cut(link, "#")
		r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, address+"open", strings.NewReader(code)))(t)
		for _, header := range headers {
			name, value, _ := strings.Cut(header, ": ")
			if name == "Host" {
				r.Host = value
			}
			r.Header.Set(name, value)
		}
		response := must.Get(http.DefaultTransport.RoundTrip(r))(t)
		defer response.Body.Close()
		if len(response.Cookies()) > 0 {
			t.Errorf("the cookies %v", response.Cookies())
		}
		return response.StatusCode, string(must.Get(io.ReadAll(response.Body))(t))
	}
	refused := func(what, link string, headers ...string) {
		t.Helper()
		if status, text := redeem(link, headers...); status != http.StatusForbidden || strings.Contains(text, s.root) {
			t.Errorf("%s: %d %s", what, status, text)
		}
	}
	link := s.Link()
	refused("a forged code", link[:len(link)-1]+"_", own)
	refused("no code", link[:strings.LastIndex(link, "#")+1], own)
	refused("a page on another port", link, "Origin: http://127.0.0.1:5173")
	refused("no page", link)
	refused("a prefetch", link, own, "Sec-Purpose: prefetch")
	refused("another name", link, own, "Host: rebound.test")
	got := send(t, http.MethodGet, link, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: document")
	if got.StatusCode != 200 {
		t.Errorf("the link in another page: %s", got.Status)
	}
	if status, text := redeem(link, own); status != http.StatusOK || text != s.root {
		t.Fatalf("the link: %d %s", status, text)
	}
	refused("a used code", link, own)
	old := s.Link()
	s.mu.Lock()
	s.codes[old[strings.LastIndex(old, "#")+1:]] = time.Now().Add(-CodeLifetime)
	s.mu.Unlock()
	refused("an old code", old, own)
}

// The addresses of browsers that have gone are forgotten. Those of the others stay.
func TestRelaysOfBrowsersThatHaveGone(t *testing.T) {
	s := start(t)
	s.relayTo("ws://127.0.0.1:1/devtools/browser/gone")
	there := s.relayTo("ws://127.0.0.1:2/devtools/browser/there")
	s.mu.Lock()
	for _, known := range s.relays {
		known.given = known.given.Add(-2 * relayLifetime)
	}
	s.mu.Unlock()
	same := s.relayTo("ws://127.0.0.1:2/devtools/browser/there")
	s.relayTo("ws://127.0.0.1:3/devtools/browser/next")
	if len(s.relays) != 2 || same != there {
		t.Errorf("%d browsers are known; one is at %s, and was at %s", len(s.relays), same, there)
	}
}

// TestGuards: nothing but the page's files is served without the root, and nothing to another page with it.
func TestGuards(t *testing.T) {
	s := start(t)
	own := "Origin: http://" + s.host
	base := "http://" + s.host
	guessed := "/" + strings.Repeat("A", len(s.root)-2) + "/"
	name := s.relayTo("ws://127.0.0.1:1/devtools/browser/secret")
	for _, test := range []struct {
		what, method, path string
		want               int
		headers            []string
	}{
		{"the page", "GET", "/", 200, nil},
		{"reloaded", "GET", "/", 200, []string{"Sec-Fetch-Site: none", "Sec-Fetch-Dest: document"}},
		{"its script", "GET", "/show.js", 200, []string{"Sec-Fetch-Site: same-origin"}},
		{"another page's link", "GET", "/", 200, []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: document"}},
		{"its link to the root", "GET", s.root + "feed", 403,
			[]string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: document"}},
		{"its link, fetched ahead", "GET", "/", 403,
			[]string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: document", "Sec-Purpose: prefetch"}},
		{"another page's frame", "GET", "/", 403, []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: iframe"}},
		{"another page's script", "GET", "/show.js", 403, []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: script"}},
		{"a service worker", "GET", "/show.js", 403, []string{"Sec-Fetch-Site: same-origin", "Service-Worker: script"}},
		{"a file that is not there", "GET", "/../show.go", 404, nil},
		{"no root", "GET", "/feed", 404, nil},
		{"a call without the root", "POST", "/call", 404, []string{own}},
		{"a guessed root", "GET", guessed + "feed", 404, []string{own}},
		{"a call with a guessed root", "POST", guessed + "call", 404, []string{own}},
		{"nothing below the root", "GET", s.root, 404, nil},
		{"another host", "GET", "/", 403, []string{"Host: rebound.test"}},
		{"another host on this port", "GET", "/", 403, []string{"Host: localhost:1"}},
		{"another origin", "GET", s.root + "feed", 403, []string{"Origin: http://127.0.0.1:5173"}},
		{"no origin at all", "GET", s.root + "feed", 403, []string{"Origin: null"}},
		{"another port's page", "GET", s.root + "feed", 403, []string{"Sec-Fetch-Site: same-site"}},
		{"another site's page", "GET", s.root + "feed", 403, []string{"Sec-Fetch-Site: cross-site"}},
		{"a prefetch", "GET", "/", 403, []string{"Purpose: prefetch"}},
		{"a preflight", "OPTIONS", s.root + "call", 403, []string{own}},
		{"a form of another page", "POST", s.root + "call", 403, []string{"Origin: null"}},
		{"a call without an origin", "POST", s.root + "call", 403, nil},
		{"a call that is none", "POST", s.root + "call", 400, []string{own}},
		{"a socket without an origin", "GET", s.root + name, 403, []string{"Upgrade: websocket", "Connection: Upgrade"}},
		{"a socket of another page", "GET", s.root + name, 403,
			[]string{"Upgrade: websocket", "Connection: Upgrade", "Origin: http://evil.test"}},
		{"a socket without the root", "GET", "/" + name, 404, []string{own, "Upgrade: websocket", "Connection: Upgrade"}},
		{"a browser that is not there", "GET", s.root + relayPath + "guessed", 404,
			[]string{own, "Upgrade: websocket", "Connection: Upgrade"}},
	} {
		got := send(t, test.method, base+test.path, test.headers...)
		if got.StatusCode != test.want {
			t.Errorf("%s: %s, not %d", test.what, got.Status, test.want)
		}
		policy := got.Header.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'; script-src 'self'; ") ||
			got.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: the headers %v", test.what, got.Header)
		}
	}
}

// TestRelayIsGuarded: the page gets no browser's address, and no window can make the relay dial elsewhere.
func TestRelayIsGuarded(t *testing.T) {
	s := start(t)
	name := s.relayTo("ws://192.0.2.1:80/devtools/browser/secret")
	if strings.Contains(name, "secret") || name != s.relayTo("ws://192.0.2.1:80/devtools/browser/secret") {
		t.Error(name)
	}
	got := send(t, "GET", "http://"+s.host+s.root+name, "Origin: http://"+s.host, "Upgrade: websocket",
		"Connection: Upgrade", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAA")
	if got.StatusCode != http.StatusBadGateway {
		t.Error(got.Status)
	}
}

// TestBrowserWithoutWindow: the page gets lists, never null.
func TestBrowserWithoutWindow(t *testing.T) {
	each := start(t).alone("a", "agent", nil, nil, []status.Client{})
	if data := string(must.Get(json.Marshal(each))(t)); strings.Count(data, "null") != 1 { // the browser
		t.Error(data)
	}
}

// hostile is a text that must stay one.
const hostile = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`

// terminalWindow is a window whose browser is that of the test, and what its user was asked.
type terminalWindow struct {
	mu        sync.Mutex
	questions []vscodeipc.PendingQuestion
	answers   []vscodeipc.AnswerArg
	changes   []vscodeipc.AccessChangeArg
	notes     []vscodeipc.NoteGiveArg
}

func (w *terminalWindow) answered() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.answers)
}

var client = vscodeipc.ClientInfo{ID: "a", Name: "Agent " + hostile, Version: "1"}

// ask asks the user about actions with these details, numbered from 3.
func (w *terminalWindow) ask(id string, details ...string) {
	page := &vscodeipc.PageName{Title: hostile, URL: "http://shop.test/"}
	var actions []vscodeipc.PendingAction
	for i, detail := range details {
		actions = append(actions, vscodeipc.PendingAction{Number: 3 + i, Action: vscodeipc.AskArg{
			Client: client, Act: "browser_click", Detail: detail, Claim: hostile, Page: page,
			Origin: "http://shop.test"}})
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.questions = []vscodeipc.PendingQuestion{
		{ID: id, Client: client, Choices: []string{"once", "session", "refuse"}, Actions: actions}}
}

func openWindow(t *testing.T, browser string) *terminalWindow {
	t.Helper()
	w := &terminalWindow{}
	w.ask("q", "Click button "+hostile)
	commands := map[string]vscodeipc.Handler{
		vscodeipc.CommandClientList: func(context.Context, vscodeipc.Call) (any, error) {
			return vscodeipc.ListResult{
				Clients: []vscodeipc.ConnectedClient{{ID: "a", Name: client.Name, Version: "1", Kind: "mcp", Since: 1}},
				Last: []vscodeipc.Activity{{Client: "a", Time: time.Now().UnixMilli(), Act: "browser_click", Target: hostile,
					OK: true}},
			}, nil
		},
		vscodeipc.CommandPermissionList: func(context.Context, vscodeipc.Call) (any, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			return vscodeipc.QuestionsResult{Questions: append([]vscodeipc.PendingQuestion{}, w.questions...)}, nil
		},
		vscodeipc.CommandPermissionAnswer: func(_ context.Context, call vscodeipc.Call) (any, error) {
			var arg vscodeipc.AnswerArg
			err := json.Unmarshal(call.Arg, &arg)
			w.mu.Lock()
			defer w.mu.Unlock()
			w.answers, w.questions = append(w.answers, arg), nil
			return struct{}{}, err
		},
		vscodeipc.CommandAccessChange: func(_ context.Context, call vscodeipc.Call) (any, error) {
			var arg vscodeipc.AccessChangeArg
			err := json.Unmarshal(call.Arg, &arg)
			w.mu.Lock()
			defer w.mu.Unlock()
			w.changes = append(w.changes, arg)
			if arg.TakenOver != nil {
				return nil, &vscodeipc.Error{Code: vscodeipc.CodeRefused, Message: "the browser has just closed"}
			}
			return struct{}{}, err
		},
	}
	commands[vscodeipc.CommandNoteGive] = func(_ context.Context, call vscodeipc.Call) (any, error) {
		var arg vscodeipc.NoteGiveArg
		err := json.Unmarshal(call.Arg, &arg)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.notes = append(w.notes, arg)
		return struct{}{}, err
	}
	folder := must.Get(vscodeipc.Canonical(t.TempDir()))(t)
	server := must.Get(vscodeipc.Serve(t.Context(), vscodeipc.ServerOptions{
		Workspace: folder, Folders: []string{folder}, Server: vscodeipc.ServerInfo{Name: "test", Kind: hostile},
		Commands: commands,
	}))(t)
	t.Cleanup(func() { server.Close(context.Background()) })
	must.Do(t, server.SetState(vscodeipc.State{
		Browser: &vscodeipc.Browser{URL: browser, Product: "Chrome/156.0", Via: "launched"},
		Access:  vscodeipc.Access{Mode: vscodeipc.AccessAsk, Stopped: []string{hostile}},
	}))
	return w
}

// TestPage opens the page in a real web browser: its pictures move, hostile texts stay text, the
// keyboard answers a question and opens the live view, and axe-core finds nothing.
func TestPage(t *testing.T) {
	shop := serveHTML(t, func(string) string {
		return `<!doctype html><title>&lt;img src=x onerror="document.title='owned'"></title>
			<button style="position:fixed;inset:30%;width:40%;height:40%" onclick="clicked = true">Order</button>
			<script>let n = 0; console.error("no loaf <img src=x onerror=\"document.title='owned'\">");
			setInterval(() => document.body.style.background = "hsl(" + (n += 40) + " 90% 50%)", 100)</script>
			<p style="position:fixed;top:40%">moves</p>`
	})
	s := start(t)
	// A question's text is as old as the report that brought it: the buttons' half second begins between the two.
	// It also counts what films pages.
	v := openViewer(t, `window.seen = {};
		top.filming ??= new Set();
		const {send} = WebSocket.prototype;
		WebSocket.prototype.send = function (message) {
			if (message.includes("Page.startScreencast")) top.filming.add(this);
			send.call(this, message);
		};
		top.films ??= () => [...top.filming].filter(({readyState}) => readyState === WebSocket.OPEN).length;
		new MutationObserver(() => {
			if (document.querySelector(".question p")?.textContent) seen.text ??= event.timeStamp;
			if (document.querySelector(".question button:enabled")) seen.button ??= performance.now();
		}).observe(document, {subtree: true, childList: true, attributes: true, characterData: true})`)
	shown := cdptest.Launch(t)
	w := openWindow(t, shown.URL())
	agents := cdptest.Dial(t, shown.URL())
	tab := openTab(agents, shop)
	v.look(1280, 800, "light")
	v.open(s.Link())
	v.await("the page is there", `location.href.endsWith("/") && document.querySelector(".question button:enabled")`)
	if got := v.evaluate(`String(seen.button - seen.text >= 500)`); got != "true" {
		t.Errorf("buttons work too early: %s", v.evaluate(`JSON.stringify(seen)`))
	}
	const moves = `(() => { const canvas = [...document.querySelectorAll(".page")].find((page) =>
			page.textContent.includes("<img"))?.querySelector("canvas");
		if (!canvas?.width) return false;
		const [r, g, b] = canvas.getContext("2d").getImageData(5, 5, 1, 1).data;
		(window.colours ??= new Set()).add([r, g, b].join());
		return window.colours.size > 3; })()`
	v.await("a picture moves", moves)
	v.await("the console's error", `document.querySelector(".errors li")?.textContent.includes("no loaf <img")`)
	v.await("what is asked", `document.querySelector(".question p").textContent.includes("Click button <img src=x")`)
	if n := v.evaluate(`String(document.querySelectorAll("main img, main script").length)`); !strings.Contains(n, "0") ||
		strings.Contains(v.evaluate("document.title"), "owned") {
		t.Errorf("%s elements of hostile texts, and the title %s", n, v.evaluate("document.title"))
	}
	// Another tab of the same web browser, which may be an agent's, is not admitted.
	other := openTab(v.Client, "http://"+s.host+"/")
	v.awaitIn(other, "another tab is refused", `document.body?.innerText.includes("needs a link")`)
	stored := v.Evaluate(other, "document.cookie + sessionStorage.length + localStorage.length")
	if !strings.Contains(stored, "00") {
		t.Errorf("another tab has %s", stored)
	}
	v.axeFinds("the page")

	v.Call(v.page, "Page.bringToFront", "{}", nil)
	v.tabTo("Allow Once")
	v.enter()
	must.Await(t, "the window gets the answer", func() bool { return w.answered() > 0 })
	v.await("the question is gone", `!document.querySelector(".question")`)
	w.mu.Lock()
	if len(w.answers) != 1 || w.answers[0] != (vscodeipc.AnswerArg{Question: "q", Choice: "once", Last: 3}) {
		t.Errorf("the answers %+v", w.answers)
	}
	w.mu.Unlock()
	// A click as another action appears allows only the one before.
	w.ask("r", "Click one")
	v.await("the next question", `document.querySelector(".question button:enabled")`)
	v.evaluate(`new MutationObserver((_, observer) => {
			if (!document.querySelector(".question p")?.textContent.includes("Click another")) return;
			observer.disconnect();
			[...document.querySelectorAll(".question button")].find((each) => each.textContent === "Allow Once").click();
		}).observe(document, {subtree: true, childList: true, characterData: true}); 0`)
	w.ask("r", "Click one", "Click another")
	v.await("the next question is gone", `!document.querySelector(".question")`)
	w.mu.Lock()
	if len(w.answers) != 2 || w.answers[1] != (vscodeipc.AnswerArg{Question: "r", Choice: "once", Last: 3}) {
		t.Errorf("the answers %+v", w.answers)
	}
	w.mu.Unlock()
	// A recording is no question, and the user ends it.
	w.mu.Lock()
	w.questions = []vscodeipc.PendingQuestion{{ID: "s", Client: client, Choices: []string{"refuse"},
		Actions: []vscodeipc.PendingAction{{Number: 1, Action: vscodeipc.AskArg{
			Client: client, Act: vscodeipc.CommandRecordShow, Detail: hostile}}}}}
	w.mu.Unlock()
	v.await("the recording", `document.querySelector(".recording button:enabled")?.textContent === "End Recording"`)
	if text := v.evaluate(`document.querySelector(".recording p").textContent`); !strings.Contains(text,
		"… records what you do in the page: <img") {
		t.Errorf("the recording: %q", text)
	}
	v.await("no question is counted", `document.querySelector("#asked").hidden && !document.title.startsWith("(")`)
	v.tabTo("End Recording")
	v.enter()
	v.await("the recording is gone", `!document.querySelector(".recording")`)
	w.mu.Lock()
	if len(w.answers) != 3 || w.answers[2] != (vscodeipc.AnswerArg{Question: "s", Choice: "refuse", Last: 1}) {
		t.Errorf("the answers %+v", w.answers)
	}
	w.mu.Unlock()
	v.tabTo("Stop: Agent")
	v.enter()
	v.tabTo("Resume: ")
	v.enter()
	changed := func() []vscodeipc.AccessChangeArg {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.changes
	}
	must.Await(t, "the window gets the changes", func() bool { return len(changed()) >= 2 })
	if got := changed(); len(got) != 2 || !strings.HasPrefix(got[0].Stop, "Agent <img") || got[1].Resume != hostile {
		t.Errorf("the changes %+v", got)
	}

	v.await("two pages are filmed", `films() === 2`)
	v.tabTo("Open <img")
	v.enter()
	v.await("the live view", view+`?.querySelector("#canvas")?.width > 100`)
	v.await("each page is filmed once", `films() === 2`)
	v.evaluate("colours = new Set(); 0")
	v.await("its picture moves on", moves)
	v.axeFinds("the live view")
	v.evaluate(view + `.querySelector("#drive").click(); 0`)
	v.await("why the take-over failed", view+`.querySelector("[role=alert]").innerText.includes("has just closed")`)
	v.evaluate(view + `.querySelector("#input").click(); 0`)
	var box struct{ X, Y float64 }
	at := v.evaluate(`(() => { const outer = document.querySelector("iframe").getBoundingClientRect();
		const inner = ` + view + `.querySelector("#canvas").getBoundingClientRect();
		return JSON.stringify({X: outer.x + inner.x + inner.width / 2, Y: outer.y + inner.y + inner.height / 2}); })()`)
	must.Do(t, json.Unmarshal([]byte(must.Get(unquoted(at))(t)), &box))
	for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
		v.Call(v.page, "Input.dispatchMouseEvent", fmt.Sprintf(`{"type":%q,"x":%f,"y":%f,"button":"left","clickCount":1}`,
			kind, box.X, box.Y), nil)
	}
	must.Await(t, "the click reaches the page", func() bool {
		return strings.Contains(agents.Evaluate(tab, "typeof clicked"), "boolean")
	})
	agents.Evaluate(tab, "console.error('no butter'); 0")
	v.await("another error", `document.querySelector("#windows").textContent.includes("no butter")`)
	v.evaluate(`document.querySelector("#back").click(); colours = new Set(); 0`)
	v.await("its picture moves after that", moves+" && films() === 2")
	v.evaluate(`[...document.querySelectorAll(".page")].find((page) => page.textContent.includes("<img")).querySelector(
		".tool").click(); 0`)
	v.await("the tab closes", `!document.querySelector(".page .title")?.textContent.includes("<img")`)
}

// unquoted is the text of a JSON string, or a text as it is.
func unquoted(text string) (string, error) {
	if !strings.HasPrefix(text, `"`) {
		return text, nil
	}
	var inner string
	err := json.Unmarshal([]byte(text), &inner)
	return inner, err
}

// TestLargeNote: the user learns what to do about a note that is too large.
func TestLargeNote(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(start(t).call))
	defer server.Close()
	body := strings.NewReader(`{"window":"` + strings.Repeat("a", maxCall) + `"}`)
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/call", body))(t)
	response := must.Get(http.DefaultClient.Do(request))(t)
	defer response.Body.Close()
	if got := string(must.Get(io.ReadAll(response.Body))(t)); got != "The note is too large: remove a place.\n" {
		t.Error(got)
	}
}
