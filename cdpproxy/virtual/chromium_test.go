package virtual_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy/virtual"
)

// startChromium starts a real browser with one blank page and returns its URL.
func startChromium(t testing.TB) string {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Fatal("no Chromium or Chrome in PATH; these tests need one (apt-get install chromium)")
	}
	dir, err := os.MkdirTemp("", "virtual-browser-test-")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path,
		"--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--user-data-dir="+dir, "--remote-debugging-port=0", "about:blank")
	cmd.Env = append(os.Environ(), "HOME="+dir, "TMPDIR="+dir, "XDG_CONFIG_HOME="+dir, "XDG_CACHE_HOME="+dir)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	url := make(chan string, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			if _, u, ok := strings.Cut(lines.Text(), "DevTools listening on "); ok {
				url <- strings.TrimSpace(u)
			}
		}
		cmd.Wait()
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-ended
		// Its helper processes may still write for a moment after its end.
		for range 100 {
			if os.RemoveAll(dir) == nil {
				return
			}
		}
	})
	select {
	case u := <-url:
		return u
	case <-time.After(30 * time.Second):
		t.Fatal("chromium did not listen within 30 s")
		return ""
	}
}

// scene is a browser, its debugger, and the virtual browser.
type scene struct {
	t       testing.TB
	browser *virtual.Browser
	debug   *jsDebug
	url     string // of the virtual browser
	site    string // of a page with a button
}

func newScene(t testing.TB, logger *slog.Logger) *scene {
	t.Helper()
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	browser, err := virtual.New(logger)
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{t: t, browser: browser, url: browser.URL()}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<title>%s</title><button onclick="pressed()">Press</button>
<script>
console.log("loaded " + location.pathname);
function pressed() {
  document.title = "pressed";
}
</script>`, r.URL.Path)
	}))
	t.Cleanup(site.Close)
	s.site = site.URL
	s.debug = startJSDebug(t, startChromium(t), s.browser)
	t.Cleanup(func() { s.browser.Close() })
	return s
}

// http is the virtual browser's base URL, with its secret.
func (s *scene) http() string {
	base, _, _ := strings.Cut(s.url, "/devtools/")
	return "http" + strings.TrimPrefix(base, "ws")
}

func (s *scene) get(method, path string) (int, string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.http()+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

// peer is a CDP client.
type peer struct {
	t      testing.TB
	ws     *websocket.Conn
	done   chan struct{}
	nextID int

	mu      sync.Mutex // guards the fields that follow
	replies map[int]said
	events  []said
	changed chan struct{}
	err     error
}

type said struct {
	ID     int
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
	SessionID string
}

func join(t testing.TB, url string) *peer {
	t.Helper()
	return joinAs(t, url, "")
}

// joinAs is join for a client whose User-Agent is not Go's.
func joinAs(t testing.TB, url, agent string) *peer {
	t.Helper()
	header := http.Header{}
	if agent != "" {
		header.Set("User-Agent", agent)
	}
	ws, _, err := websocket.Dial(t.Context(), url, &websocket.DialOptions{HTTPHeader: header})
	if err != nil {
		t.Fatal(err)
	}
	ws.SetReadLimit(-1)
	p := &peer{t: t, ws: ws, done: make(chan struct{}), replies: map[int]said{}, changed: make(chan struct{})}
	go p.read()
	t.Cleanup(p.leave)
	return p
}

// leave ends the connection without a close frame, like a killed client.
func (p *peer) leave() {
	p.ws.CloseNow()
	<-p.done
}

func (p *peer) read() {
	defer close(p.done)
	for {
		_, data, err := p.ws.Read(context.Background())
		var m said
		if err == nil {
			err = json.Unmarshal(data, &m)
		}
		p.mu.Lock()
		switch {
		case err != nil:
			p.err = err
		case m.Method != "":
			p.events = append(p.events, m)
		default:
			p.replies[m.ID] = m
		}
		close(p.changed)
		p.changed = make(chan struct{})
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// await waits until find, called with mu held, is true.
func (p *peer) await(what string, find func() bool) {
	p.t.Helper()
	timeout := time.After(40 * time.Second)
	for {
		p.mu.Lock()
		found, err, changed := find(), p.err, p.changed
		p.mu.Unlock()
		if found {
			return
		}
		if err != nil {
			p.t.Fatalf("%s: %v", what, err)
		}
		select {
		case <-changed:
		case <-timeout:
			p.t.Fatalf("%s: did not come; events: %v", what, p.methods())
		}
	}
}

// untilCreated waits until a client that discovers targets has received so many
// pages. A page counts again after its connection broke.
func (p *peer) untilCreated(pages int) {
	p.t.Helper()
	p.await(fmt.Sprintf("%d pages", pages), func() bool {
		n := 0
		for _, e := range p.events {
			if e.Method == "Target.targetCreated" {
				n++
			}
		}
		return n == pages
	})
}

func (p *peer) methods() (names []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.events {
		names = append(names, e.Method)
	}
	return names
}

func (p *peer) write(text string) {
	p.t.Helper()
	if err := p.ws.Write(p.t.Context(), websocket.MessageText, []byte(text)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *peer) start(session, method, params string) int {
	p.t.Helper()
	p.nextID++
	if params == "" {
		params = "{}"
	}
	sessionID := ""
	if session != "" {
		sessionID = fmt.Sprintf(`,"sessionId":%q`, session)
	}
	p.write(fmt.Sprintf(`{"id":%d,"method":%q,"params":%s%s}`, p.nextID, method, params, sessionID))
	return p.nextID
}

func (p *peer) answer(id int) (m said) {
	p.t.Helper()
	p.await(fmt.Sprintf("answer %d", id), func() (ok bool) {
		m, ok = p.replies[id]
		return ok
	})
	return m
}

// try returns a command's response or error.
func (p *peer) try(session, method, params string) said {
	p.t.Helper()
	return p.answer(p.start(session, method, params))
}

// call returns a command's result, read into result unless that is nil.
func (p *peer) call(session, method, params string, result any) {
	p.t.Helper()
	m := p.try(session, method, params)
	if m.Error != nil {
		p.t.Fatalf("%s: %d %s", method, m.Error.Code, m.Error.Message)
	}
	if m.SessionID != session {
		p.t.Fatalf("%s was sent to session %q and answered by %q", method, session, m.SessionID)
	}
	if result != nil {
		if err := json.Unmarshal(m.Result, result); err != nil {
			p.t.Fatal(err)
		}
	}
}

// event waits for a matching event of a session, and returns it.
func (p *peer) event(session, method, part string) (m said) {
	p.t.Helper()
	p.await(method+" with "+part, func() bool {
		i := slices.IndexFunc(p.events, func(e said) bool {
			return e.SessionID == session && e.Method == method && strings.Contains(string(e.Params), part)
		})
		if i >= 0 {
			m = p.events[i]
		}
		return i >= 0
	})
	return m
}

// count counts events so far.
func (p *peer) count(session, method, part string) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.events {
		if e.SessionID == session && e.Method == method && strings.Contains(string(e.Params), part) {
			n++
		}
	}
	return n
}

// attach returns a session with the only page.
func (p *peer) attach(s *scene) string {
	p.t.Helper()
	return p.attachTo(s.debug.only().target)
}

func (p *peer) attachTo(target string) string {
	p.t.Helper()
	var r struct{ SessionID string }
	p.call("", "Target.attachToTarget", fmt.Sprintf(`{"targetId":%q,"flatten":true}`, target), &r)
	return r.SessionID
}

func (p *peer) evaluate(session, expression string) string {
	p.t.Helper()
	var r struct {
		Result           struct{ Value any }
		ExceptionDetails json.RawMessage
	}
	p.call(session, "Runtime.evaluate", fmt.Sprintf(`{"expression":%q,"returnByValue":true,"awaitPromise":true}`, expression), &r)
	if r.ExceptionDetails != nil {
		p.t.Fatalf("%s: %s", expression, r.ExceptionDetails)
	}
	return fmt.Sprint(r.Result.Value)
}

// visit navigates to a path of the site, and waits until it is loaded.
func (p *peer) visit(s *scene, session, path string) {
	p.t.Helper()
	p.call(session, "Page.enable", "", nil)
	loaded := p.count(session, "Page.loadEventFired", "")
	p.call(session, "Page.navigate", fmt.Sprintf(`{"url":%q}`, s.site+path), nil)
	p.await("the load of "+path, func() bool {
		n := 0
		for _, e := range p.events {
			if e.SessionID == session && e.Method == "Page.loadEventFired" {
				n++
			}
		}
		return n > loaded
	})
}
