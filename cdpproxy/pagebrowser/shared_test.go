package pagebrowser_test

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

	"browser-coordinator/cdpproxy/pagebrowser"
)

// TestAnswersAreNeverMixed: many clients ask one page at once, all with the same
// ids, and each gets its own answers in its own sessions.
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

// contexts lists the execution contexts that a client was told of.
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

// TestContexts: what the debugger replays has contexts that are no more. A client
// that comes late is told of the living, and of what they wrote to the console.
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
	// And it follows from then on.
	late.visit(s, other, "/page5")
	late.event(other, "Runtime.executionContextsCleared", "")
	late.event(other, "Runtime.consoleAPICalled", "loaded /page5")
	if got := contexts(late, other); len(got) != 2 {
		t.Error(got)
	}
}

// TestForgottenContext: the debugger replays no more than fifty contexts, and the
// page's own was the first of them.
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

// TestIntegratedBrowser: where a page's session answers of targets for the whole
// browser, the page is known by its main frame, and its moves are told.
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

// TestEventsAreForWhoAsked: no events without an enable, and none after a
// disable, which neither the debugger nor another client notices.
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
	// Enabled again, the living contexts are told again.
	a.call(sa, "Runtime.enable", "", nil)
	a.event(sa, "Runtime.consoleAPICalled", "loaded /two")
	if s.debug.reached("Target.setAutoAttach") != 1 {
		t.Error("the debugger's setAutoAttach was changed")
	}
}

// TestBreakpointStops: clients see a pause, and cannot make the debugger miss it
// or leave it.
func TestBreakpointStops(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	p := join(t, s.url)
	session := p.attach(s)
	p.visit(s, session, "/shop")
	lent := s.debug.only()
	s.debug.call(lent.session, "Debugger.setBreakpointByUrl", `{"lineNumber":4,"urlRegex":".*/shop"}`)

	for method, params := range map[string]string{
		"Debugger.enable": "", "Debugger.setSkipAllPauses": `{"skip":true}`, "Debugger.setBreakpointsActive": `{"active":false}`,
		"Debugger.setPauseOnExceptions": `{"state":"none"}`, "Debugger.disable": "", "Runtime.disable": "",
		"Runtime.runIfWaitingForDebugger": "", "Network.setCacheDisabled": `{"cacheDisabled":false}`,
		"Target.setAutoAttach": `{"autoAttach":false,"flatten":true}`,
	} {
		p.call(session, method, params, nil)
	}
	pressed := p.start(session, "Runtime.evaluate", `{"expression":"document.querySelector('button').click()"}`)
	s.debug.untilPaused(lent, true)

	// A client that looks whether the page is paused is told, as page/paused.go does.
	p.call(session, "Debugger.enable", "", nil)
	p.call(session, "Debugger.disable", "", nil)
	p.event(session, "Debugger.paused", "pressed")
	for _, method := range []string{"Debugger.resume", "Debugger.stepOver", "Debugger.setBreakpointByUrl", "Debugger.pause"} {
		if m := p.try(session, method, ""); m.Error == nil || m.Error.Code != -32000 || !strings.Contains(m.Error.Message, "the debugger of this window") {
			t.Error(method, m.Error)
		}
	}
	p.leave()
	s.debug.call(lent.session, "Debugger.resume", "{}")
	s.debug.untilPaused(lent, false)
	_ = pressed
	for _, method := range []string{"Debugger.disable", "Debugger.setSkipAllPauses", "Debugger.setBreakpointsActive", "Network.setCacheDisabled"} {
		if s.debug.reached(method) != 0 {
			t.Errorf("%s reached the debugger's session", method)
		}
	}
	// It stops again, with nobody there.
	s.debug.send(lent.session, "Runtime.evaluate", `{"expression":"pressed()"}`, nil)
	s.debug.untilPaused(lent, true)
	s.debug.call(lent.session, "Debugger.resume", "{}")
}

// TestLeavingTakesBack: what a client has set up in the shared session goes with
// it, unless another needs it still.
func TestLeavingTakesBack(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	hits := make(chan string, 100)
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		hits <- r.URL.Path + " " + r.UserAgent()
	}))
	defer slow.Close()

	stays := join(t, s.url)
	held := stays.attach(s)
	stays.visit(s, held, "/one")
	stays.call(held, "Emulation.setTimezoneOverride", `{"timezoneId":"Asia/Tokyo"}`, nil)

	p := join(t, s.url)
	session := p.attach(s)
	p.call(session, "Emulation.setTimezoneOverride", `{"timezoneId":"Asia/Tokyo"}`, nil)
	p.call(session, "Emulation.setUserAgentOverride", `{"userAgent":"odd"}`, nil)
	p.call(session, "Emulation.setDeviceMetricsOverride", `{"width":321,"height":400,"deviceScaleFactor":1,"mobile":false}`, nil)
	p.call(session, "Page.addScriptToEvaluateOnNewDocument", `{"source":"window.added = 1"}`, nil)
	p.call(session, "Runtime.addBinding", `{"name":"told"}`, nil)
	p.call(session, "Fetch.enable", `{"patterns":[{"urlPattern":"*/paused"}]}`, nil)
	if got := p.evaluate(session, "innerWidth + ' ' + navigator.userAgent"); got != "321 odd" {
		t.Error(got)
	}
	p.evaluate(session, fmt.Sprintf("void fetch(%q); void fetch(%q); 1", slow.URL+"/through", slow.URL+"/paused"))
	p.event(session, "Fetch.requestPaused", "/paused")
	if got := <-hits; got != "/through odd" {
		t.Error(got)
	}
	p.leave() // without a word, as if killed

	// The request goes on when nobody intercepts any more.
	if got := <-hits; got != "/paused odd" {
		t.Error(got)
	}
	lent := s.debug.only()
	s.debug.await("the undoing", func() *lentPage {
		if s.debug.heard["Runtime.removeBinding"] == 1 && s.debug.heard["Page.removeScriptToEvaluateOnNewDocument"] == 1 {
			return lent
		}
		return nil
	})
	stays.visit(s, held, "/two")
	if got := stays.evaluate(held, "window.added + ' ' + (innerWidth !== 321) + ' ' + (navigator.userAgent !== 'odd') + ' ' + Intl.DateTimeFormat().resolvedOptions().timeZone"); got != "undefined true true Asia/Tokyo" {
		t.Error(got)
	}
	if got := s.debug.reached("Emulation.setTimezoneOverride"); got != 2 {
		t.Errorf("the time zone was set %d times: another client has it still", got)
	}
	// The debugger hears the page as before.
	if s.debug.reached("Runtime.disable")+s.debug.reached("Page.disable")+s.debug.reached("Network.disable") != 0 {
		t.Error("a domain of the debugger's was turned off")
	}
}

// TestEmulationEnds: what a page shows of a client's emulation is gone when the
// client is.
func TestEmulationEnds(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	stays := join(t, s.url)
	held := stays.attach(s)
	stays.visit(s, held, "/one")
	stays.call(held, "Network.enable", "", nil)
	// The height of an environment variable of CSS.
	env := func(name string) string {
		return `(() => { const d = document.createElement("div"); d.style.height = "env(` + name + `)"; document.body.append(d); const h = d.offsetHeight; d.remove(); return h })()`
	}
	// Some of it the page shows a moment after the command is answered.
	comes := func(what, look, want string) {
		t.Helper()
		got := ""
		for start := time.Now(); got != want; {
			if got = stays.evaluate(held, look); got != want && time.Since(start) > 5*time.Second {
				t.Errorf("%s: the page says %s, want %s", what, got, want)
				return
			}
		}
	}
	for _, c := range []struct{ method, params, undo, look, during string }{
		{"Network.emulateNetworkConditions", `{"offline":true,"latency":0,"downloadThroughput":-1,"uploadThroughput":-1}`, "Network.emulateNetworkConditions", `fetch("/x").then(() => "online", () => "offline")`, "offline"},
		{"Network.emulateNetworkConditionsByRule", `{"offline":true,"matchedNetworkConditions":[{"urlPattern":"","latency":0,"downloadThroughput":-1,"uploadThroughput":-1,"offline":true}]}`, "Network.emulateNetworkConditionsByRule", `fetch("/x").then(() => "online", () => "offline")`, "offline"},
		{"Network.overrideNetworkState", `{"offline":true,"latency":0,"downloadThroughput":-1,"uploadThroughput":-1}`, "Network.overrideNetworkState", "navigator.onLine", "false"},
		{"Emulation.setCPUPerformanceOverride", `{"performanceTier":"high"}`, "Emulation.setCPUPerformanceOverride", "navigator.cpuPerformance", "3"},
		{"Emulation.setDataSaverOverride", `{"dataSaverEnabled":true}`, "Emulation.setDataSaverOverride", "navigator.connection.saveData", "true"},
		{"Emulation.setDevicePostureOverride", `{"posture":{"type":"folded"}}`, "Emulation.clearDevicePostureOverride", "navigator.devicePosture.type", "folded"},
		{"Emulation.setDisabledImageTypes", `{"imageTypes":["webp"]}`, "Emulation.setDisabledImageTypes", `new Promise(r => { const i = new Image(); i.onload = () => r("shown"); i.onerror = () => r("not"); i.src = "data:image/webp;base64,UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==#" + Math.random() })`, "not"},
		{"Emulation.setDisplayFeaturesOverride", `{"features":[{"orientation":"vertical","offset":100,"maskLength":20}]}`, "Emulation.clearDisplayFeaturesOverride", `matchMedia("(horizontal-viewport-segments: 2)").matches`, "true"},
		{"Emulation.setNavigatorOverrides", `{"platform":"odd"}`, "Emulation.setNavigatorOverrides", "navigator.platform", "odd"},
		{"Emulation.setSafeAreaInsetsOverride", `{"insets":{"top":33}}`, "Emulation.setSafeAreaInsetsOverride", env("safe-area-inset-top"), "33"},
		{"Emulation.setSensorOverrideEnabled", `{"enabled":true,"type":"gyroscope"}`, "Emulation.setSensorOverrideEnabled", `new Promise(r => { const g = new Gyroscope(); g.onerror = e => r(e.error.name); g.onactivate = () => { g.stop(); r("active") }; g.start() })`, "active"},
		{"Emulation.setVirtualKeyboardGeometryOverride", `{"keyboardRect":{"x":0,"y":400,"width":300,"height":200}}`, "Emulation.setVirtualKeyboardGeometryOverride", env("keyboard-inset-height"), "200"},
		{"Page.setDeviceMetricsOverride", `{"width":321,"height":400,"deviceScaleFactor":1,"mobile":false}`, "Emulation.clearDeviceMetricsOverride", "innerWidth", "321"},
		{"Page.setDeviceOrientationOverride", `{"alpha":1,"beta":2,"gamma":3}`, "DeviceOrientation.clearDeviceOrientationOverride", `new Promise(r => addEventListener("deviceorientation", e => r(e.alpha), {once: true}))`, "1"},
		{"Page.setTouchEmulationEnabled", `{"enabled":true}`, "Emulation.setTouchEmulationEnabled", "navigator.maxTouchPoints", "1"},
	} {
		before := stays.evaluate(held, c.look)
		p := join(t, s.url)
		session := p.attach(s)
		p.call(session, c.method, c.params, nil)
		if before == c.during {
			t.Errorf("%s: the page says %s as it is", c.method, before)
		}
		comes(c.method, c.look, c.during)
		undone := s.debug.reached(c.undo)
		p.leave()
		lent := s.debug.only()
		s.debug.await(c.undo, func() *lentPage {
			if s.debug.heard[c.undo] > undone {
				return lent
			}
			return nil
		})
		comes(c.method+", whose client has left", c.look, before)
	}
	// A page that a client has frozen goes on.
	p := join(t, s.url)
	p.call(p.attach(s), "Page.setWebLifecycleState", `{"state":"frozen"}`, nil)
	p.leave()
	if got := stays.evaluate(held, `new Promise(r => setTimeout(() => r("goes on")))`); got != "goes on" {
		t.Error(got)
	}
}

// TestUndosAreUnderstood: Chromium knows every command that takes back another,
// with its parameters.
func TestUndosAreUnderstood(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	s.get("GET", "/json/list")
	session := s.debug.only().session
	for method, u := range pagebrowser.Undos() {
		got := make(chan reply, 1)
		s.debug.send(session, u[0], u[1], func(r reply) { got <- r })
		var failure struct{ Code int }
		if r := <-got; r.Error != nil && (json.Unmarshal(r.Error, &failure) != nil || failure.Code != -32000) {
			t.Errorf("%s is taken back by %s %s: %s", method, u[0], u[1], r.Error)
		} else if r.Error != nil {
			t.Logf("%s is taken back by %s %s: %s", method, u[0], u[1], r.Error)
		}
	}
}

// TestCannotBeTakenBack: what lasts as long as the debugger's session is refused.
func TestCannotBeTakenBack(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	p := join(t, s.url)
	session := p.attach(s)
	for method, params := range map[string]string{
		"Emulation.setHardwareConcurrencyOverride": `{"hardwareConcurrency":3}`, "Emulation.setVirtualTimePolicy": `{"policy":"pause"}`,
	} {
		if m := p.try(session, method, params); m.Error == nil || !strings.Contains(m.Error.Message, method+": in the session that the debugger lends") {
			t.Error(method, m.Error)
		}
	}
}

// TestUndoOfSeveral: each of several things is taken back by itself, and one
// that another client has set up too, by an alias even, is not.
func TestUndoOfSeveral(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	a, b := join(t, s.url), join(t, s.url)
	sa, sb := a.attach(s), b.attach(s)
	for _, kind := range []string{"gyroscope", "accelerometer"} {
		a.call(sa, "Emulation.setSensorOverrideEnabled", `{"enabled":true,"type":"`+kind+`"}`, nil)
	}
	a.call(sa, "Page.setGeolocationOverride", `{"latitude":1,"longitude":2,"accuracy":3}`, nil)
	b.call(sb, "Emulation.setGeolocationOverride", `{"latitude":1,"longitude":2,"accuracy":3}`, nil)
	until := func(sensors, places int) {
		t.Helper()
		lent := s.debug.only()
		s.debug.await("the undoing", func() *lentPage {
			if s.debug.heard["Emulation.setSensorOverrideEnabled"] == sensors && s.debug.heard["Emulation.clearGeolocationOverride"] == places {
				return lent
			}
			return nil
		})
	}
	until(2, 0)
	a.leave()
	until(4, 0)
	b.leave()
	until(4, 1)
}

// TestOnceOnly: what a session takes once only is done for the next client too.
func TestOnceOnly(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	for range 2 {
		p := join(t, s.url)
		p.call(p.attach(s), "Page.setFontFamilies", `{"fontFamilies":{"fixed":"Monospace"}}`, nil)
		p.leave()
	}
}

// TestBindings are called for who added them, and for nobody else.
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

// TestInterceptionOfTwo: one client's Fetch.disable leaves the other's alone.
func TestInterceptionOfTwo(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	a, b := join(t, s.url), join(t, s.url)
	sa, sb := a.attach(s), b.attach(s)
	a.visit(s, sa, "/one")
	a.call(sa, "Fetch.enable", "", nil)
	b.call(sb, "Fetch.enable", "", nil)
	a.call(sa, "Fetch.disable", "", nil)
	b.evaluate(sb, "void fetch('/two'); 1")
	var paused struct{ RequestID string }
	if err := json.Unmarshal(b.event(sb, "Fetch.requestPaused", "/two").Params, &paused); err != nil {
		t.Fatal(err)
	}
	if a.count(sa, "Fetch.requestPaused", "/two") != 0 || s.debug.reached("Fetch.disable") != 0 {
		t.Error("the interception was turned off under a client that uses it")
	}
	b.call(sb, "Fetch.fulfillRequest", fmt.Sprintf(`{"requestId":%q,"responseCode":200}`, paused.RequestID), nil)
	b.call(sb, "Fetch.disable", "", nil)
	if s.debug.reached("Fetch.disable") != 1 {
		t.Error("nobody intercepts, and it is still on")
	}
}

// TestParts: a worker's or frame's session is attached below its page's.
func TestParts(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	p := join(t, s.url)
	p.call("", "Target.setAutoAttach", `{"autoAttach":true,"flatten":true,"waitForDebuggerOnStart":true}`, nil)
	var page struct{ SessionID string }
	if err := json.Unmarshal(p.event("", "Target.attachedToTarget", "").Params, &page); err != nil {
		t.Fatal(err)
	}
	p.visit(s, page.SessionID, "/host")
	p.call(page.SessionID, "Target.setAutoAttach", `{"autoAttach":true,"flatten":true,"waitForDebuggerOnStart":true}`, nil)
	p.evaluate(page.SessionID, "window.w = new Worker(URL.createObjectURL(new Blob(['self.n = 6 * 7'])), {name: 'sum'}); 1")
	var worker struct{ SessionID string }
	if err := json.Unmarshal(p.event(page.SessionID, "Target.attachedToTarget", `"type":"worker"`).Params, &worker); err != nil {
		t.Fatal(err)
	}
	if got := p.evaluate(worker.SessionID, "new Promise(done => { const look = () => self.n ? done(self.n) : setTimeout(look); look() })"); got != "42" {
		t.Error(got)
	}
	p.call(worker.SessionID, "Runtime.enable", "", nil)
	p.event(worker.SessionID, "Runtime.executionContextCreated", "")
	p.event(worker.SessionID, "Inspector.workerScriptLoaded", "")
	if p.count("", "Target.attachedToTarget", "") != 1 {
		t.Error("a worker was attached to the browser's session")
	}
	p.evaluate(page.SessionID, "w.terminate(); 1")
	p.event(page.SessionID, "Target.detachedFromTarget", worker.SessionID)
}
