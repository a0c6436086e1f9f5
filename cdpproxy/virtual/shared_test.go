package virtual_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestAnswersAreNeverMixed: many clients send to one page at once, all with the
// same ids, and each gets its own responses in its own sessions.
func TestAnswersAreNeverMixed(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	var clients sync.WaitGroup
	for n := range 8 {
		p := join(t, s.url)
		one, two := p.attach(s), p.attach(s)
		clients.Go(func() {
			asked := map[int]string{}
			for i := range 50 {
				session := one
				if i%2 == 1 {
					session = two
				}
				asked[p.start(session, "Runtime.evaluate", fmt.Sprintf(`{"expression":"'%d %d %s'"}`, n, i, session))] = fmt.Sprintf("%d %d %s", n, i, session)
			}
			for id, want := range asked {
				m := p.answer(id)
				if !strings.Contains(string(m.Result), `"`+want+`"`) || !strings.HasSuffix(want, m.SessionID) {
					t.Errorf("%s of %q: want %s", m.Result, m.SessionID, want)
				}
			}
		})
	}
	clients.Wait()
}

// contexts lists the execution contexts that a client has received.
func contexts(p *peer, session string) (ids []int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.events {
		var m struct{ Context struct{ ID int64 } }
		if e.SessionID == session && e.Method == "Runtime.executionContextCreated" && json.Unmarshal(e.Params, &m) == nil {
			ids = append(ids, m.Context.ID)
		}
	}
	return ids
}

// TestContexts: the debugger's replay includes contexts that no longer exist. A
// late client receives the living ones, and their console messages.
func TestContexts(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	early := join(t, s.url)
	session := early.attach(s)
	early.call(session, "Runtime.enable", "", nil)
	for i := range 5 {
		early.visit(s, session, fmt.Sprintf("/page%d", i))
		early.event(session, "Runtime.consoleAPICalled", fmt.Sprintf("loaded /page%d", i))
	}
	late := join(t, s.url)
	other := late.attach(s)
	late.call(other, "Runtime.enable", "", nil)
	ids := contexts(late, other)
	if len(ids) != 1 {
		t.Fatalf("told of the contexts %v, and one lives", ids)
	}
	var r struct{ Result struct{ Value string } }
	late.call(other, "Runtime.evaluate", fmt.Sprintf(`{"expression":"location.pathname","contextId":%d}`, ids[0]), &r)
	if r.Result.Value != "/page4" {
		t.Error(r)
	}
	if late.count(other, "Runtime.consoleAPICalled", "") != 1 || late.count(other, "Runtime.consoleAPICalled", "loaded /page4") != 1 {
		t.Error("the console of pages that are no more was told")
	}
	// It also receives the later ones.
	late.visit(s, other, "/page5")
	late.event(other, "Runtime.executionContextsCleared", "")
	late.event(other, "Runtime.consoleAPICalled", "loaded /page5")
	if got := contexts(late, other); len(got) != 2 {
		t.Error(got)
	}
}

// TestForgottenContext: the debugger replays at most fifty contexts, and the page's
// own was the first of them.
func TestForgottenContext(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	early := join(t, s.url)
	session := early.attach(s)
	early.visit(s, session, "/long")
	for i := range 60 {
		early.call(session, "Page.createIsolatedWorld", fmt.Sprintf(`{"frameId":%q,"worldName":"world %d"}`, s.debug.only().target, i), nil)
	}
	late := join(t, s.url)
	other := late.attach(s)
	late.call(other, "Runtime.enable", "", nil)
	own := late.event(other, "Runtime.executionContextCreated", `"type":"default"`)
	var m struct{ Context struct{ ID int64 } }
	if err := json.Unmarshal(own.Params, &m); err != nil {
		t.Fatal(err)
	}
	var r struct{ Result struct{ Value string } }
	late.call(other, "Runtime.evaluate", fmt.Sprintf(`{"expression":"pressed.name","contextId":%d}`, m.Context.ID), &r)
	if r.Result.Value != "pressed" {
		t.Error(r)
	}
	if got := len(contexts(late, other)); got != 51 {
		t.Errorf("%d contexts", got)
	}
}

// TestIntegratedBrowser: if a page's session responds to target commands for the
// whole browser, the page is identified by its main frame, and its navigations are
// reported.
func TestIntegratedBrowser(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	s.debug.mu.Lock()
	s.debug.integrated = true
	s.debug.mu.Unlock()
	p := join(t, s.url)
	p.call("", "Target.setDiscoverTargets", `{"discover":true}`, nil)
	p.event("", "Target.targetCreated", s.debug.only().target)
	session := p.attach(s)
	p.visit(s, session, "/moved")
	p.event("", "Target.targetInfoChanged", "/moved")
	var made struct{ TargetID string }
	p.call("", "Target.createTarget", `{"url":"about:blank"}`, &made)
	p.call("", "Target.closeTarget", fmt.Sprintf(`{"targetId":%q}`, made.TargetID), nil)
	p.event("", "Target.targetDestroyed", made.TargetID)
	if status, body := s.get("GET", "/json/list"); status != 200 || !strings.Contains(body, `"title": "/moved"`) || strings.Contains(body, "integrated") {
		t.Error(status, body)
	}
}

// TestEventsAreForWhoAsked: a client gets no events without an enable, and none
// after a disable. Neither the debugger nor another client notices that disable.
func TestEventsAreForWhoAsked(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	a, b, c := join(t, s.url), join(t, s.url), join(t, s.url)
	sa, sb, sc := a.attach(s), b.attach(s), c.attach(s)
	for _, domain := range []string{"Runtime", "Network", "Page"} {
		a.call(sa, domain+".enable", "", nil)
		b.call(sb, domain+".enable", "", nil)
	}
	a.visit(s, sa, "/one")
	for p, session := range map[*peer]string{a: sa, b: sb} {
		p.event(session, "Runtime.consoleAPICalled", "loaded /one")
		p.event(session, "Network.responseReceived", "/one")
	}
	for _, domain := range []string{"Runtime", "Network", "Page"} {
		a.call(sa, domain+".disable", "", nil)
	}
	before := len(a.methods())
	b.visit(s, sb, "/two")
	b.event(sb, "Runtime.consoleAPICalled", "loaded /two")
	b.event(sb, "Network.responseReceived", "/two")
	a.evaluate(sa, "1")
	if got := a.methods()[before:]; len(got) > 0 {
		t.Errorf("after its disable a client heard %v", got)
	}
	c.evaluate(sc, "1")
	if got := slices.DeleteFunc(c.methods(), func(m string) bool { return m == "Target.attachedToTarget" }); len(got) > 0 {
		t.Errorf("a client that enabled nothing heard %v", got)
	}
	for _, method := range []string{"Runtime.disable", "Network.disable", "Page.disable"} {
		if s.debug.reached(method) != 0 {
			t.Errorf("%s reached the debugger's session", method)
		}
	}
	// After another enable, the living contexts are reported again.
	a.call(sa, "Runtime.enable", "", nil)
	a.event(sa, "Runtime.consoleAPICalled", "loaded /two")
	if s.debug.reached("Target.setAutoAttach") != 1 {
		t.Error("the debugger's setAutoAttach was changed")
	}
}

// TestBreakpointStops: clients get a pause, and cannot make the debugger miss or
// leave it.
func TestBreakpointStops(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	p := join(t, s.url)
	session := p.attach(s)
	p.visit(s, session, "/shop")
	shared := s.debug.only()
	s.debug.call(shared.session, "Debugger.setBreakpointByUrl", `{"lineNumber":4,"urlRegex":".*/shop"}`)

	for method, params := range map[string]string{
		"Debugger.enable": "", "Debugger.setSkipAllPauses": `{"skip":true}`, "Debugger.setBreakpointsActive": `{"active":false}`,
		"Debugger.setPauseOnExceptions": `{"state":"none"}`, "Debugger.disable": "", "Runtime.disable": "",
		"Runtime.runIfWaitingForDebugger": "", "Network.setCacheDisabled": `{"cacheDisabled":false}`,
		"Target.setAutoAttach": `{"autoAttach":false,"flatten":true}`,
	} {
		p.call(session, method, params, nil)
	}
	pressed := p.start(session, "Runtime.evaluate", `{"expression":"document.querySelector('button').click()"}`)
	s.debug.untilPaused(shared, true)

	// A client that checks whether the page is paused gets the pause, as in
	// page/paused.go.
	p.call(session, "Debugger.enable", "", nil)
	p.call(session, "Debugger.disable", "", nil)
	p.event(session, "Debugger.paused", "pressed")
	for _, method := range []string{"Debugger.resume", "Debugger.stepOver", "Debugger.setBreakpointByUrl", "Debugger.pause"} {
		if m := p.try(session, method, ""); m.Error == nil || m.Error.Code != -32000 || !strings.Contains(m.Error.Message, "the debugger of this window") {
			t.Error(method, m.Error)
		}
	}
	p.leave()
	s.debug.call(shared.session, "Debugger.resume", "{}")
	s.debug.untilPaused(shared, false)
	_ = pressed
	for _, method := range []string{"Debugger.disable", "Debugger.setSkipAllPauses", "Debugger.setBreakpointsActive", "Network.setCacheDisabled"} {
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
	t.Parallel()
	s := newScene(t, nil)
	for range 2 {
		p := join(t, s.url)
		p.call(p.attach(s), "Page.setFontFamilies", `{"fontFamilies":{"fixed":"Monospace"}}`, nil)
		p.leave()
	}
}

// TestBindings: a binding call reaches the clients that added the binding, and no
// other.
func TestBindings(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	a, b := join(t, s.url), join(t, s.url)
	sa, sb := a.attach(s), b.attach(s)
	a.call(sa, "Runtime.enable", "", nil)
	b.call(sb, "Runtime.enable", "", nil)
	a.call(sa, "Runtime.addBinding", `{"name":"tellA"}`, nil)
	b.call(sb, "Runtime.addBinding", `{"name":"tellB"}`, nil)
	a.evaluate(sa, "tellA('x'); tellB('y'); 1")
	a.event(sa, "Runtime.bindingCalled", `"tellA"`)
	b.event(sb, "Runtime.bindingCalled", `"tellB"`)
	if a.count(sa, "Runtime.bindingCalled", "tellB")+b.count(sb, "Runtime.bindingCalled", "tellA") != 0 {
		t.Error("a binding was called for another client")
	}
	b.call(sb, "Runtime.removeBinding", `{"name":"tellB"}`, nil)
	a.evaluate(sa, "tellA('z'); 1")
	a.event(sa, "Runtime.bindingCalled", `"z"`)
}

// TestParts: a worker's or frame's session is attached below its page's session.
func TestParts(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	p, page, worker := withWorker(t, s)
	p.event(worker, "Inspector.workerScriptLoaded", "")
	if got := p.evaluate(worker, "new Promise(done => { const look = () => self.n ? done(self.n) : setTimeout(look); look() })"); got != "42" {
		t.Error(got)
	}
	if p.count("", "Target.attachedToTarget", "") != 1 {
		t.Error("a worker was attached to the browser's session")
	}
	p.evaluate(page, "w.terminate(); 1")
	p.event(page, "Target.detachedFromTarget", worker)
}

// TestWorkerThatWaits: a client that attaches to a worker before the debugger lets
// it run is notified once when the worker has its script. A late client is notified
// when it asks.
func TestWorkerThatWaits(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	s.debug.mu.Lock()
	s.debug.holding = true
	s.debug.mu.Unlock()
	p, page, worker := withWorker(t, s)
	if got := p.evaluate(worker, "typeof setTimeout"); got != "undefined" {
		t.Fatalf("a worker that waits has a %s", got)
	}
	if p.count(worker, "Inspector.workerScriptLoaded", "") != 0 {
		t.Error("a worker's script is told to be loaded, and the worker has not begun")
	}
	s.debug.letRun(s.debug.await("the worker", func() *sharedPage {
		for _, shared := range s.debug.pages {
			if shared.parent != "" {
				return shared
			}
		}
		return nil
	}).session)
	p.event(worker, "Inspector.workerScriptLoaded", "")
	p.call(worker, "Runtime.enable", "", nil)

	late := join(t, s.url)
	var attached struct{ SessionID string }
	late.call("", "Target.attachToTarget", fmt.Sprintf(`{"targetId":%q,"flatten":true}`, workerTarget(t, p, page)), &attached)
	late.call(attached.SessionID, "Runtime.enable", "", nil)
	late.event(attached.SessionID, "Inspector.workerScriptLoaded", "")
	for each, session := range map[*peer]string{p: worker, late: attached.SessionID} {
		each.evaluate(session, "1")
		if got := each.count(session, "Inspector.workerScriptLoaded", ""); got != 1 {
			t.Errorf("told %d times", got)
		}
	}
}

// withWorker starts a worker in the page, and returns the client's sessions with
// both.
func withWorker(t *testing.T, s *scene) (p *peer, page, worker string) {
	t.Helper()
	p = join(t, s.url)
	const auto = `{"autoAttach":true,"flatten":true,"waitForDebuggerOnStart":true}`
	p.call("", "Target.setAutoAttach", auto, nil)
	var e struct{ SessionID string }
	if err := json.Unmarshal(p.event("", "Target.attachedToTarget", "").Params, &e); err != nil {
		t.Fatal(err)
	}
	page = e.SessionID
	p.visit(s, page, "/host")
	p.call(page, "Target.setAutoAttach", auto, nil)
	p.evaluate(page, "window.w = new Worker(URL.createObjectURL(new Blob(['self.n = 6 * 7'])), {name: 'sum'}); 1")
	if err := json.Unmarshal(p.event(page, "Target.attachedToTarget", `"type":"worker"`).Params, &e); err != nil {
		t.Fatal(err)
	}
	worker = e.SessionID
	p.call(worker, "Runtime.enable", "", nil)
	p.event(worker, "Runtime.executionContextCreated", "")
	return p, page, worker
}

func workerTarget(t *testing.T, p *peer, page string) string {
	t.Helper()
	var e targetEvent
	if err := json.Unmarshal(p.event(page, "Target.attachedToTarget", `"type":"worker"`).Params, &e); err != nil {
		t.Fatal(err)
	}
	return e.TargetInfo.TargetID
}
