package virtual_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy/virtual"
	"browser-coordinator/internal/cdptest"
	"browser-coordinator/internal/notify"
)

// jsDebug stands in for VS Code's js-debug, which runs in an editor only (the tests
// in extension/e2e use that one). It has one connection to a real Chromium, debugs
// every page in one flat session each, and shares these sessions as js-debug 1.117
// does:
//
// It ignores a message's sessionId, and the part of a method after a second dot.
// Events go to those who subscribed. X.enable replays the execution contexts and
// console messages that its debugger has received (the last fifty, dead ones too),
// and a pause. X.disable reaches the debugger's own session. The sharing is in
// sharedsession_test.go.
type jsDebug struct {
	t       testing.TB
	context string // the browser context of its pages
	ws      *websocket.Conn
	server  *httptest.Server
	browser *virtual.Browser // gets the pages
	wg      sync.WaitGroup

	sending sync.Mutex // keeps the order of what is sent, and of the counts in sent

	mu      sync.Mutex // guards the fields that follow; taken after sending
	nextID  int64
	pending map[int64]func(reply)
	pages   []*sharedPage
	sent    map[string]int // commands that reached the browser, by method
	// open are the commands without a response, by method, most of them at one moment.
	open, most map[string]int
	// integrated responds like VS Code's integrated browser when a page's session
	// asks for targets: as the browser, and without target events. That browser is
	// Electron's, and cannot run here.
	integrated bool
	// late are commands of clients that reach the browser only when their channel
	// is closed. Later commands of the same connection wait behind them.
	late    map[string]chan struct{}
	changed notify.Broadcast
}

type reply struct {
	Result json.RawMessage
	Error  json.RawMessage
}

// sharedPage is one page that is debugged.
type sharedPage struct {
	debug   *jsDebug
	session string
	target  string
	parent  string // session of the page that it is a part of
	path    string

	// Guarded by jsDebug.mu.
	replays map[string][]replay // by method
	paused  *replay
	clients map[*sharedClient]bool
}

type replay struct {
	method string
	params json.RawMessage
}

// startJSDebug debugs every page of a browser and shares them to b.
func startJSDebug(t testing.TB, browserURL string, b *virtual.Browser) *jsDebug {
	t.Helper()
	ws, _, err := websocket.Dial(t.Context(), browserURL, nil)
	if err != nil {
		t.Fatal(err)
	}
	ws.SetReadLimit(-1)
	d := &jsDebug{t: t, ws: ws, browser: b, pending: map[int64]func(reply){}, sent: map[string]int{},
		open: map[string]int{}, most: map[string]int{}}
	d.server = httptest.NewServer(http.HandlerFunc(d.share))
	d.wg.Go(d.read)
	t.Cleanup(func() {
		ws.CloseNow()
		d.server.CloseClientConnections()
		d.server.Close()
		d.wg.Wait()
	})
	var made struct{ BrowserContextID string }
	if err := json.Unmarshal(d.call("", "Target.createBrowserContext", "{}"), &made); err != nil {
		t.Fatal(err)
	}
	d.context = made.BrowserContextID
	t.Cleanup(func() {
		d.send("", "Target.disposeBrowserContext", fmt.Sprintf(`{"browserContextId":%q}`, d.context), nil)
	})
	d.send("", "Target.createTarget", fmt.Sprintf(`{"url":"about:blank","browserContextId":%q}`, d.context), nil)
	d.send("", "Target.setDiscoverTargets", `{"discover":true}`, nil)
	return d
}

func (d *jsDebug) send(session, method, params string, done func(reply)) {
	d.sending.Lock()
	defer d.sending.Unlock()
	d.mu.Lock()
	d.nextID++
	d.sent[method]++
	id := d.nextID
	if done != nil {
		d.open[method]++
		d.most[method] = max(d.most[method], d.open[method])
		d.pending[id] = func(r reply) {
			d.mu.Lock()
			d.open[method]--
			d.mu.Unlock()
			done(r)
		}
	}
	d.changed.Notify()
	d.mu.Unlock()
	message := map[string]any{"id": id, "method": method, "params": json.RawMessage(params)}
	if session != "" {
		message["sessionId"] = session
	}
	text, err := json.Marshal(message)
	if err != nil {
		panic(err)
	}
	_ = d.ws.Write(context.Background(), websocket.MessageText, text)
}

// call waits for the response to the debugger's own command.
func (d *jsDebug) call(session, method, params string) json.RawMessage {
	d.t.Helper()
	got := make(chan reply, 1)
	d.send(session, method, params, func(r reply) { got <- r })
	select {
	case r := <-got:
		if r.Error != nil {
			d.t.Fatalf("%s: %s", method, r.Error)
		}
		return r.Result
	case <-time.After(cdptest.Timeout):
		d.t.Fatalf("%s: no answer", method)
		return nil
	}
}

func (d *jsDebug) read() {
	for {
		_, data, err := d.ws.Read(context.Background())
		if err != nil {
			return
		}
		var m struct {
			ID        int64
			Method    string
			Params    json.RawMessage
			Result    json.RawMessage
			Error     json.RawMessage
			SessionID string
		}
		if err := json.Unmarshal(data, &m); err != nil {
			panic(err)
		}
		if m.Method == "" {
			d.mu.Lock()
			done := d.pending[m.ID]
			delete(d.pending, m.ID)
			d.mu.Unlock()
			if done != nil {
				done(reply{m.Result, m.Error})
			}
			continue
		}
		d.event(m.SessionID, m.Method, m.Params)
	}
}

type targetEvent struct {
	TargetInfo struct {
		TargetID         string
		Type             string
		BrowserContextID string
	}
	TargetID  string
	SessionID string
}

func (d *jsDebug) event(session, method string, params json.RawMessage) {
	var e targetEvent
	if strings.HasPrefix(method, "Target.") {
		_ = json.Unmarshal(params, &e)
	}
	switch {
	case session == "" && method == "Target.targetCreated" && e.TargetInfo.Type == "page":
		if d.context != e.TargetInfo.BrowserContextID {
			return
		}
		target := e.TargetInfo.TargetID
		d.send("", "Target.attachToTarget", fmt.Sprintf(`{"targetId":%q,"flatten":true}`, target), func(r reply) {
			var s targetEvent
			if r.Error == nil && json.Unmarshal(r.Result, &s) == nil {
				d.debug(s.SessionID, target, "")
			}
		})
		return
	case method == "Target.attachedToTarget" && session != "":
		d.debug(e.SessionID, e.TargetInfo.TargetID, session)
	case method == "Target.detachedFromTarget":
		d.forget(e.SessionID)
	}
	p := d.page(session)
	if p == nil {
		return
	}
	d.mu.Lock()
	switch method {
	case "Runtime.executionContextCreated", "Runtime.consoleAPICalled":
		all := p.replays[method]
		p.replays[method] = append(all[max(0, len(all)-49):], replay{method, params})
	case "Debugger.paused":
		p.paused = &replay{method, params}
	case "Debugger.resumed":
		p.paused = nil
	}
	var to []*sharedClient
	for c := range p.clients {
		for _, prefix := range c.prefixes {
			if strings.HasPrefix(method, prefix) {
				to = append(to, c)
			}
		}
	}
	d.changed.Notify()
	d.mu.Unlock()
	for _, c := range to {
		c.send(map[string]any{"method": method, "params": params})
	}
}

// debug sets up a new session like the debugger.
func (d *jsDebug) debug(session, target, parent string) {
	p := &sharedPage{debug: d, session: session, target: target, parent: parent, path: "/" + session,
		clients: map[*sharedClient]bool{}, replays: map[string][]replay{}}
	d.mu.Lock()
	d.pages = append(d.pages, p)
	d.mu.Unlock()
	d.send(session, "Target.setAutoAttach", `{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}`, nil)
	for _, method := range []string{"Page.enable", "Debugger.enable", "Runtime.enable"} {
		d.send(session, method, "{}", nil)
	}
	d.send(session, "Runtime.runIfWaitingForDebugger", "{}", nil)
	d.report()
}

func (d *jsDebug) forget(session string) {
	d.mu.Lock()
	d.pages = slices.DeleteFunc(d.pages, func(p *sharedPage) bool { return p.session == session })
	d.mu.Unlock()
	d.report()
}

// report reports the current pages, like the window.
func (d *jsDebug) report() {
	d.mu.Lock()
	defer d.mu.Unlock()
	var pages []virtual.Page
	for _, p := range d.pages {
		pages = append(pages, virtual.Page{Key: p.session, Parent: p.parent,
			URL: "ws" + strings.TrimPrefix(d.server.URL, "http") + p.path})
	}
	d.browser.SetPages(pages)
	d.changed.Notify()
}

func (d *jsDebug) page(session string) *sharedPage {
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := slices.IndexFunc(d.pages, func(p *sharedPage) bool { return p.session == session }); i >= 0 {
		return d.pages[i]
	}
	return nil
}

// only waits for the single page.
func (d *jsDebug) only() *sharedPage {
	d.t.Helper()
	return d.await("a page", func() *sharedPage {
		if len(d.pages) == 1 {
			return d.pages[0]
		}
		return nil
	})
}

// await waits until find, called with mu held, finds something.
func (d *jsDebug) await(description string, find func() *sharedPage) *sharedPage {
	d.t.Helper()
	timeout := time.After(cdptest.Timeout)
	for {
		d.mu.Lock()
		p, changed := find(), d.changed.Next()
		d.mu.Unlock()
		if p != nil {
			return p
		}
		select {
		case <-changed:
		case <-timeout:
			d.t.Fatalf("%s: did not come", description)
		}
	}
}

// reached returns how many times a command reached the browser.
func (d *jsDebug) reached(method string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.sent[method]
}

// delay delays a method's commands of clients until pass is called.
func (d *jsDebug) delay(method string) (pass func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	ready := make(chan struct{})
	d.late = map[string]chan struct{}{method: ready}
	return sync.OnceFunc(func() { close(ready) })
}

// untilReached waits until a command has reached the browser so many times.
func (d *jsDebug) untilReached(method string, times int) {
	d.t.Helper()
	d.await(fmt.Sprintf("%d of %s", times, method), func() *sharedPage {
		if d.sent[method] >= times {
			return new(sharedPage)
		}
		return nil
	})
}

// untilPaused waits until a page is paused in the debugger, or no longer is.
func (d *jsDebug) untilPaused(p *sharedPage, paused bool) {
	d.t.Helper()
	d.await(fmt.Sprintf("paused: %v", paused), func() *sharedPage {
		if (p.paused != nil) == paused {
			return p
		}
		return nil
	})
}
