package virtual_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"browser-coordinator/internal/cdptest"
)

// TestOddMethods: every method gets a response. Of a name with three parts the debugger
// would cut off the third.
func TestOddMethods(t *testing.T) {
	s := newScene(t)
	p, session := s.client()
	for _, method := range []string{
		"Debugger.resume.x", "Debugger.setSkipAllPauses.x", "Fetch.enable.x", "Page.crash.x", "Target.closeTarget.x",
		"Fetch.enable.",
		"Debugger.", ".resume", "Debugger", ".", "Browser.close.x",
	} {
		for _, to := range []string{session, ""} {
			if m := p.Try(to, method, ""); m.Error == nil || m.Error.Code != -32601 {
				t.Errorf("%s: %s %v", method, m.Result, m.Error)
			}
		}
		if name, cut := strings.CutSuffix(method, ".x"); cut && s.debug.reached(name) > 0 {
			t.Errorf("%s came as %s", method, name)
		}
	}
	p.Write(fmt.Sprintf(`{"id":1000,"method":"Page.\u0007\u0000\u2028","sessionId":%q}`, session))
	if m := p.Answer(1000); m.Error == nil {
		t.Error(m)
	}
}

// TestGoesUnderCommands: a page that closes while its client keeps sending breaks
// nothing else.
func TestGoesUnderCommands(t *testing.T) {
	s := newScene(t)
	p := cdptest.Dial(t, s.url)
	p.Call("", "Target.setDiscoverTargets", `{"discover":true}`, nil)
	s.attach(p)
	base, _, _ := strings.Cut(s.url, "/devtools/")
	for round := range 10 {
		page := cdptest.Dial(t, base+"/devtools/page/"+s.debug.only().target)
		before := s.debug.reached("Runtime.evaluate")
		for n := range 3000 {
			if n == 100 {
				s.debug.untilReached("Runtime.evaluate", before+1)
				s.debug.breakOff(s.debug.only())
			}
			if page.TryWrite(fmt.Sprintf(`{"id":%d,"method":"Runtime.evaluate","params":{"expression":"1"}}`,
				n)) != nil {
				break
			}
		}
		page.Leave()
		untilCreated(p, round+2)
	}
}

// TestBrokenConnections: the debugger drops a page's connections and the page lives
// on. Sessions end, and the page is offered again.
func TestBrokenConnections(t *testing.T) {
	s := newScene(t)
	p := cdptest.Dial(t, s.url)
	p.Call("", "Target.setDiscoverTargets", `{"discover":true}`, nil)
	session := s.attach(p)
	s.visit(p, session, "/one")
	p.Evaluate(session, "window.kept = 1")
	p.Call(session, "Fetch.enable", "", nil)
	s.debug.breakOff(s.debug.only())
	p.Event("", "Target.detachedFromTarget", session)
	untilCreated(p, 2)
	second := s.attach(p)
	if got := p.Evaluate(second, "window.kept"); got != "1" {
		t.Error("another page is offered:", got)
	}
	p.Call(second, "Fetch.enable", "", nil) // nobody owns it
}

// TestOffAndOn: a client that turns something off and on again without waiting gets
// its events.
func TestOffAndOn(t *testing.T) {
	s := newScene(t)
	p, session := s.client()
	s.visit(p, session, "/one")
	for round := range 3 {
		p.Call(session, "Fetch.enable", "", nil)
		p.Call(session, "Network.enable", "", nil)
		p.Start(session, "Fetch.disable", "")
		p.Start(session, "Network.disable", "")
		p.Start(session, "Network.enable", "")
		p.Answer(p.Start(session, "Fetch.enable", ""))
		path := fmt.Sprintf("/asked%d", round)
		p.Evaluate(session, "void fetch('"+path+"'); 1")
		p.Event(session, "Network.requestWillBeSent", path)
		var paused struct{ RequestID string }
		p.Event(session, "Fetch.requestPaused", path).Decode(t, &paused)
		p.Call(session, "Fetch.fulfillRequest", fmt.Sprintf(`{"requestId":%q,"responseCode":200}`, paused.RequestID),
			nil)
	}
}

// TestLateReset: one client's reset that reaches the page late does not end what
// another has set since.
func TestLateReset(t *testing.T) {
	s := newScene(t)
	a, b := cdptest.Dial(t, s.url), cdptest.Dial(t, s.url)
	sa, sb := s.attach(a), s.attach(b)
	s.visit(a, sa, "/one")
	a.Call(sa, "Fetch.enable", "", nil)
	pass := s.debug.delay("Fetch.disable")
	defer pass()
	off := a.Start(sa, "Fetch.disable", "")
	a.Call("", "Target.getTargets", "", nil) // the command is under way
	on := b.Start(sb, "Fetch.enable", "")
	b.Call("", "Target.getTargets", "", nil)
	pass()
	a.Answer(off)
	b.Answer(on)
	b.Evaluate(sb, "void fetch('/two'); 1")
	b.Event(sb, "Fetch.requestPaused", "/two")
}

// TestNextTab: when the tab that responds for the browser closes, its pending commands
// get a response, and another tab responds.
func TestNextTab(t *testing.T) {
	s := newScene(t)
	p := cdptest.Dial(t, s.url)
	first := s.debug.only().target
	s.attach(p)
	var other struct{ TargetID string }
	p.Call("", "Target.createTarget", fmt.Sprintf(`{"url":%q}`, s.site+"/other"), &other)
	pass := s.debug.delay("Browser.getHistograms")
	defer pass()
	questions := p.Start("", "Browser.getHistograms", "")
	p.Call("", "Target.closeTarget", fmt.Sprintf(`{"targetId":%q}`, first), nil)
	if m := p.Answer(questions); m.Error == nil || !strings.Contains(m.Error.Message, "target navigated or closed") {
		t.Errorf("what the tab that has closed was asked: %s %v", m.Result, m.Error)
	}
	pass()
	p.Call("", "Browser.getHistograms", "", nil)
}

// TestOthersThings: a client neither ends nor receives what belongs to another
// client or the debugger.
func TestOthersThings(t *testing.T) {
	s := newScene(t)
	a, b := cdptest.Dial(t, s.url), cdptest.Dial(t, s.url)
	sa, sb := s.attach(a), s.attach(b)
	var script struct{ Identifier string }
	b.Call(sb, "Page.addScriptToEvaluateOnNewDocument", `{"source":"window.b = 1"}`, &script)
	if m := a.Try(sa, "Page.removeScriptToEvaluateOnNewDocument", fmt.Sprintf(`{"identifier":%q}`,
		script.Identifier)); m.Error == nil || m.Error.Message != "Script not found" {
		t.Error("another client's script:", m.Error)
	}
	s.visit(b, sb, "/one")
	if got := b.Evaluate(sb, "window.b"); got != "1" {
		t.Error(got)
	}

	a.Call(sa, "Tracing.getCategories", "", nil)
	b.Call(sb, "Tracing.start",
		`{"transferMode":"ReportEvents","traceConfig":{"includedCategories":["browser.timeline"]}}`, nil)
	b.Evaluate(sb, "1")
	b.Call(sb, "Tracing.end", "", nil)
	b.Event(sb, "Tracing.tracingComplete", "")
	a.Evaluate(sa, "1")
	if n := a.Count(sa, "Tracing.dataCollected", "") + a.Count(sa, "Tracing.tracingComplete", ""); n > 0 {
		t.Errorf("a client received %d events of another's trace", n)
	}

	shared := s.debug.only()
	s.debug.call(shared.session, "Profiler.enable", "{}")
	s.debug.call(shared.session, "Profiler.start", "{}")
	if m := a.Try(sa, "Profiler.stop", ""); m.Error == nil {
		t.Error("a client took the debugger's profile")
	}
	s.debug.call(shared.session, "Profiler.stop", "{}")
	var object struct{ Result struct{ ObjectID string } }
	if err := json.Unmarshal(s.debug.call(shared.session, "Runtime.evaluate",
		`{"expression":"({a: 1})","objectGroup":"console"}`), &object); err != nil {
		t.Fatal(err)
	}
	a.Call(sa, "Runtime.releaseObjectGroup", `{"objectGroup":"console"}`, nil)
	s.debug.call(shared.session, "Runtime.getProperties", fmt.Sprintf(`{"objectId":%q}`, object.Result.ObjectID))
}
