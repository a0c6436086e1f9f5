package virtual_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"browser-coordinator/internal/cdptest"
)

// TestAnswersAreNeverMixed: many clients send to one page at once, all with the
// same ids, and each gets its own responses in its own sessions.
func TestAnswersAreNeverMixed(t *testing.T) {
	s := newScene(t)
	var clients sync.WaitGroup
	for n := range 8 {
		p := cdptest.Dial(t, s.url)
		one, two := s.attach(p), s.attach(p)
		clients.Go(func() {
			asked := map[int]string{}
			for i := range 50 {
				session := one
				if i%2 == 1 {
					session = two
				}
				asked[p.Start(session, "Runtime.evaluate", fmt.Sprintf(`{"expression":"'%d %d %s'"}`, n, i,
					session))] = fmt.Sprintf("%d %d %s", n, i, session)
			}
			for id, want := range asked {
				m := p.Answer(id)
				if !strings.Contains(string(m.Result), `"`+want+`"`) || !strings.HasSuffix(want, m.SessionID) {
					t.Errorf("%s of %q: want %s", m.Result, m.SessionID, want)
				}
			}
		})
	}
	clients.Wait()
}

// contexts lists the execution contexts that a client has received.
func contexts(p *cdptest.Client, session string) (ids []int64) {
	for _, e := range p.Messages() {
		var m struct{ Context struct{ ID int64 } }
		if e.SessionID == session && e.Method == "Runtime.executionContextCreated" &&
			json.Unmarshal(e.Params, &m) == nil {
			ids = append(ids, m.Context.ID)
		}
	}
	return ids
}

// TestContexts: the debugger's replay includes contexts that no longer exist. A
// late client receives the living ones, and their console messages.
func TestContexts(t *testing.T) {
	s := newScene(t)
	firstClient, session := s.client()
	firstClient.Call(session, "Runtime.enable", "", nil)
	for i := range 5 {
		s.visit(firstClient, session, fmt.Sprintf("/page%d", i))
		firstClient.Event(session, "Runtime.consoleAPICalled", fmt.Sprintf("loaded /page%d", i))
	}
	lateClient, other := s.client()
	lateClient.Call(other, "Runtime.enable", "", nil)
	ids := contexts(lateClient, other)
	if len(ids) != 1 {
		t.Fatalf("got the contexts %v, and one lives", ids)
	}
	var r struct{ Result struct{ Value string } }
	lateClient.Call(other, "Runtime.evaluate", fmt.Sprintf(`{"expression":"location.pathname","contextId":%d}`, ids[0]),
		&r)
	if r.Result.Value != "/page4" {
		t.Error(r)
	}
	if lateClient.Count(other, "Runtime.consoleAPICalled", "") != 1 || lateClient.Count(other, "Runtime.consoleAPICalled",
		"loaded /page4") != 1 {
		t.Error("got the console of pages that no longer exist")
	}
	// It also receives the later ones.
	s.visit(lateClient, other, "/page5")
	lateClient.Event(other, "Runtime.executionContextsCleared", "")
	lateClient.Event(other, "Runtime.consoleAPICalled", "loaded /page5")
	if got := contexts(lateClient, other); len(got) != 2 {
		t.Error(got)
	}
}

// TestForgottenContext: the debugger replays at most fifty contexts, and the page's
// own was the first of them.
func TestForgottenContext(t *testing.T) {
	s := newScene(t)
	firstClient, session := s.client()
	s.visit(firstClient, session, "/long")
	for i := range 60 {
		firstClient.Call(session, "Page.createIsolatedWorld", fmt.Sprintf(`{"frameId":%q,"worldName":"world %d"}`,
			s.debug.only().target, i), nil)
	}
	lateClient, other := s.client()
	lateClient.Call(other, "Runtime.enable", "", nil)
	own := lateClient.Event(other, "Runtime.executionContextCreated", `"type":"default"`)
	var m struct{ Context struct{ ID int64 } }
	own.Decode(t, &m)
	var r struct{ Result struct{ Value string } }
	lateClient.Call(other, "Runtime.evaluate", fmt.Sprintf(`{"expression":"pressed.name","contextId":%d}`, m.Context.ID),
		&r)
	if r.Result.Value != "pressed" {
		t.Error(r)
	}
	if got := len(contexts(lateClient, other)); got != 51 {
		t.Errorf("%d contexts", got)
	}
}

// TestPrerendered: a tab that shows a prerendered document has the main frame of that
// document, whose id is not the tab's.
func TestPrerendered(t *testing.T) {
	s := newScene(t)
	prerendered, activated := make(chan struct{}), make(chan struct{})
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/first":
			fmt.Fprint(w, `<a id=go href=/second>go</a>
<script type=speculationrules>{"prerender":[{"urls":["/second"],"eagerness":"immediate"}]}</script>
<script>fetch('/prerendered').then(() => document.getElementById('go').click())</script>`)
		case "/second":
			fmt.Fprint(w,
				`<script>if (document.prerendering) { fetch('/began', {method: 'POST'}); `+
					`document.addEventListener('prerenderingchange', () => fetch('/activated', {method: 'POST'})) }</script>`)
		case "/began":
			close(prerendered)
		case "/prerendered":
			select {
			case <-prerendered:
			case <-r.Context().Done():
			}
		case "/activated":
			close(activated)
		}
	}))
	t.Cleanup(site.Close)
	// Chromium prerenders nothing in a page that is debugged already.
	browser := cdptest.Dial(t, cdptest.BrowserURL(t))
	var created struct{ TargetID string }
	browser.Call("", "Target.createTarget", fmt.Sprintf(`{"url":%q}`, site.URL+"/first"), &created)
	target := created.TargetID
	defer browser.Call("", "Target.closeTarget", fmt.Sprintf(`{"targetId":%q}`, target), nil)
	select {
	case <-activated:
	case <-time.After(cdptest.Timeout):
		t.Fatal("the browser has not shown the prerendered document")
	}
	var attached struct{ SessionID string }
	if err := json.Unmarshal(s.debug.call("", "Target.attachToTarget", fmt.Sprintf(`{"targetId":%q,"flatten":true}`,
		target)), &attached); err != nil {
		t.Fatal(err)
	}
	s.debug.debug(attached.SessionID, target, "")
	lateClient := cdptest.Dial(t, s.url)
	lateClient.Call("", "Target.setDiscoverTargets", `{"discover":true}`, nil)
	lateClient.Event("", "Target.targetCreated", target)
	other := lateClient.Attach(target)
	var r struct {
		FrameTree struct{ Frame struct{ ID string } }
	}
	lateClient.Call(other, "Page.getFrameTree", "", &r)
	if r.FrameTree.Frame.ID == target {
		t.Fatal("the tab has its main frame's id, so this tests nothing")
	}
	lateClient.Call(other, "Runtime.enable", "", nil)
	lateClient.Event(other, "Runtime.executionContextCreated", r.FrameTree.Frame.ID)
	if n := lateClient.Count(other, "Runtime.executionContextCreated", `"type":"default"`); n != 1 {
		t.Errorf("the page has %d default contexts", n)
	}
}

// TestIntegratedBrowser: if a page's session responds to target commands for the
// whole browser, the page is identified by its main frame, and its navigations are
// reported.
func TestIntegratedBrowser(t *testing.T) {
	s := newScene(t)
	s.debug.mu.Lock()
	s.debug.integrated = true
	s.debug.mu.Unlock()
	p := cdptest.Dial(t, s.url)
	p.Call("", "Target.setDiscoverTargets", `{"discover":true}`, nil)
	p.Event("", "Target.targetCreated", s.debug.only().target)
	session := s.attach(p)
	s.visit(p, session, "/moved")
	p.Event("", "Target.targetInfoChanged", "/moved")
	var made struct{ TargetID string }
	p.Call("", "Target.createTarget", `{"url":"about:blank"}`, &made)
	p.Call("", "Target.closeTarget", fmt.Sprintf(`{"targetId":%q}`, made.TargetID), nil)
	p.Event("", "Target.targetDestroyed", made.TargetID)
	if status, body := s.get("GET", "/json/list"); status != 200 || !strings.Contains(body, `"title": "/moved"`) ||
		strings.Contains(body, "integrated") {
		t.Error(status, body)
	}
}

// TestEventsAreForWhoAsked: a client gets no events without an enable, and none
// after a disable. Neither the debugger nor another client notices that disable.
func TestEventsAreForWhoAsked(t *testing.T) {
	s := newScene(t)
	a, b, c := cdptest.Dial(t, s.url), cdptest.Dial(t, s.url), cdptest.Dial(t, s.url)
	sa, sb, sc := s.attach(a), s.attach(b), s.attach(c)
	for _, domain := range []string{"Runtime", "Network", "Page"} {
		a.Call(sa, domain+".enable", "", nil)
		b.Call(sb, domain+".enable", "", nil)
	}
	s.visit(a, sa, "/one")
	for p, session := range map[*cdptest.Client]string{a: sa, b: sb} {
		p.Event(session, "Runtime.consoleAPICalled", "loaded /one")
		p.Event(session, "Network.responseReceived", "/one")
	}
	for _, domain := range []string{"Runtime", "Network", "Page"} {
		a.Call(sa, domain+".disable", "", nil)
	}
	before := len(a.Methods())
	s.visit(b, sb, "/two")
	b.Event(sb, "Runtime.consoleAPICalled", "loaded /two")
	b.Event(sb, "Network.responseReceived", "/two")
	a.Evaluate(sa, "1")
	if got := a.Methods()[before:]; len(got) > 0 {
		t.Errorf("after its disable a client got %v", got)
	}
	c.Evaluate(sc, "1")
	if got := slices.DeleteFunc(c.Methods(),
		func(m string) bool { return m == "Target.attachedToTarget" }); len(got) > 0 {
		t.Errorf("a client that enabled nothing got %v", got)
	}
	for _, method := range []string{"Runtime.disable", "Network.disable", "Page.disable"} {
		if s.debug.reached(method) != 0 {
			t.Errorf("%s reached the debugger's session", method)
		}
	}
	// After another enable, the living contexts are reported again.
	a.Call(sa, "Runtime.enable", "", nil)
	a.Event(sa, "Runtime.consoleAPICalled", "loaded /two")
	if s.debug.reached("Target.setAutoAttach") != 1 {
		t.Error("the debugger's setAutoAttach was changed")
	}
}

// TestBreakpointStops: clients get a pause, and cannot make the debugger miss or
// leave it.
func TestBreakpointStops(t *testing.T) {
	s := newScene(t)
	p, session := s.client()
	s.visit(p, session, "/shop")
	shared := s.debug.only()
	s.debug.call(shared.session, "Debugger.setBreakpointByUrl", `{"lineNumber":4,"urlRegex":".*/shop"}`)

	for method, params := range map[string]string{
		"Debugger.enable": "", "Debugger.setSkipAllPauses": `{"skip":true}`,
		"Debugger.setBreakpointsActive": `{"active":false}`,
		"Debugger.setPauseOnExceptions": `{"state":"none"}`, "Debugger.disable": "", "Runtime.disable": "",
		"Runtime.runIfWaitingForDebugger": "", "Network.setCacheDisabled": `{"cacheDisabled":false}`,
		"Target.setAutoAttach": `{"autoAttach":false,"flatten":true}`,
	} {
		p.Call(session, method, params, nil)
	}
	pressed := p.Start(session, "Runtime.evaluate", `{"expression":"document.querySelector('button').click()"}`)
	s.debug.untilPaused(shared, true)

	// A client that checks whether the page is paused gets the pause, as in
	// page/paused.go.
	p.Call(session, "Debugger.enable", "", nil)
	p.Call(session, "Debugger.disable", "", nil)
	p.Event(session, "Debugger.paused", "pressed")
	for _, method := range []string{"Debugger.resume", "Debugger.stepOver", "Debugger.setBreakpointByUrl",
		"Debugger.pause"} {
		if m := p.Try(session, method, ""); m.Error == nil || m.Error.Code != -32000 ||
			!strings.Contains(m.Error.Message, "the debugger of this window") {
			t.Error(method, m.Error)
		}
	}
	p.Leave()
	s.debug.call(shared.session, "Debugger.resume", "{}")
	s.debug.untilPaused(shared, false)
	_ = pressed
	for _, method := range []string{"Debugger.disable", "Debugger.setSkipAllPauses", "Debugger.setBreakpointsActive",
		"Network.setCacheDisabled"} {
		if s.debug.reached(method) != 0 {
			t.Errorf("%s reached the debugger's session", method)
		}
	}
	// It stops again, without a client.
	s.debug.send(shared.session, "Runtime.evaluate", `{"expression":"pressed()"}`, nil)
	s.debug.untilPaused(shared, true)
	s.debug.call(shared.session, "Debugger.resume", "{}")
}

// TestOnceOnly: a command that a session accepts only once succeeds for the next
// client too.
func TestOnceOnly(t *testing.T) {
	s := newScene(t)
	for range 2 {
		p := cdptest.Dial(t, s.url)
		p.Call(s.attach(p), "Page.setFontFamilies", `{"fontFamilies":{"fixed":"Monospace"}}`, nil)
		p.Leave()
	}
}

// TestBindings: a binding call reaches the clients that added the binding, and no
// other.
func TestBindings(t *testing.T) {
	s := newScene(t)
	a, b := cdptest.Dial(t, s.url), cdptest.Dial(t, s.url)
	sa, sb := s.attach(a), s.attach(b)
	a.Call(sa, "Runtime.enable", "", nil)
	b.Call(sb, "Runtime.enable", "", nil)
	a.Call(sa, "Runtime.addBinding", `{"name":"callA"}`, nil)
	b.Call(sb, "Runtime.addBinding", `{"name":"callB"}`, nil)
	a.Evaluate(sa, "callA('x'); callB('y'); 1")
	a.Event(sa, "Runtime.bindingCalled", `"callA"`)
	b.Event(sb, "Runtime.bindingCalled", `"callB"`)
	if a.Count(sa, "Runtime.bindingCalled", "callB")+b.Count(sb, "Runtime.bindingCalled", "callA") != 0 {
		t.Error("a binding was called for another client")
	}
	b.Call(sb, "Runtime.removeBinding", `{"name":"callB"}`, nil)
	a.Call(sa, "Runtime.addBinding", `{"name":"callB"}`, nil)
	a.Evaluate(sa, "callA('z'); callB('secret'); 1")
	a.Event(sa, "Runtime.bindingCalled", `"z"`)
	a.Event(sa, "Runtime.bindingCalled", "secret")
	b.Evaluate(sb, "1")
	if b.Count(sb, "Runtime.bindingCalled", "secret") != 0 {
		t.Error("a client received a call of a binding that it has removed")
	}
}

// TestParts: a worker's or frame's session is attached below its page's session.
func TestParts(t *testing.T) {
	s := newScene(t)
	p, page, worker := withWorker(t, s)
	p.Event(worker, "Inspector.workerScriptLoaded", "") // also to a client that comes late
	if got := p.Evaluate(worker, "new Promise(done => { const look = () => self.n ? done(self.n) : setTimeout(look); "+
		"look() })"); got != "42" {
		t.Error(got)
	}
	if p.Count("", "Target.attachedToTarget", "") != 1 {
		t.Error("a worker was attached to the browser's session")
	}
	p.Evaluate(page, "w.terminate(); 1")
	p.Event(page, "Target.detachedFromTarget", worker)
}

// withWorker starts a worker in the page, and returns the client's sessions with
// both.
func withWorker(t *testing.T, s *scene) (p *cdptest.Client, page, worker string) {
	t.Helper()
	p = cdptest.Dial(t, s.url)
	const auto = `{"autoAttach":true,"flatten":true,"waitForDebuggerOnStart":true}`
	p.Call("", "Target.setAutoAttach", auto, nil)
	var e struct{ SessionID string }
	p.Event("", "Target.attachedToTarget", "").Decode(t, &e)
	page = e.SessionID
	s.visit(p, page, "/host")
	p.Call(page, "Target.setAutoAttach", auto, nil)
	p.Evaluate(page, "window.w = new Worker(URL.createObjectURL(new Blob(['self.n = 6 * 7'])), {name: 'sum'}); 1")
	p.Event(page, "Target.attachedToTarget", `"type":"worker"`).Decode(t, &e)
	worker = e.SessionID
	p.Call(worker, "Runtime.enable", "", nil)
	p.Event(worker, "Runtime.executionContextCreated", "")
	return p, page, worker
}
