package virtual_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// TestNamesOfThreeParts: the debugger would cut off the third.
func TestNamesOfThreeParts(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	p := join(t, s.url)
	session := p.attach(s)
	for _, method := range []string{
		"Debugger.resume.x", "Debugger.setSkipAllPauses.x", "Fetch.enable.x", "Page.crash.x", "Target.closeTarget.x", "Fetch.enable.",
		"Debugger.", ".resume", "Debugger", ".", "Browser.close.x",
	} {
		for _, to := range []string{session, ""} {
			if m := p.try(to, method, ""); m.Error == nil || m.Error.Code != -32601 {
				t.Errorf("%s: %s %v", method, m.Result, m.Error)
			}
		}
		if name, cut := strings.CutSuffix(method, ".x"); cut && s.debug.reached(name) > 0 {
			t.Errorf("%s came as %s", method, name)
		}
	}
}

// TestGoesUnderCommands: a page that closes while its client keeps sending breaks
// nothing else.
func TestGoesUnderCommands(t *testing.T) {
	t.Parallel()
	var log lockedBuffer
	s := newScene(t, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	p := join(t, s.url)
	p.call("", "Target.setDiscoverTargets", `{"discover":true}`, nil)
	p.attach(s)
	base, _, _ := strings.Cut(s.url, "/devtools/")
	page := base + "/devtools/page/" + s.debug.only().target
	for round := range 25 {
		ws, _, err := websocket.Dial(t.Context(), page, nil)
		if err != nil {
			t.Fatal(err)
		}
		var reading sync.WaitGroup
		reading.Go(func() {
			for err == nil {
				_, _, err = ws.Read(context.Background())
			}
		})
		before := s.debug.reached("Runtime.evaluate")
		for n := range 3000 {
			if n == 100 {
				s.debug.untilReached("Runtime.evaluate", before+1)
				s.debug.breakOff(s.debug.only())
			}
			if ws.Write(t.Context(), websocket.MessageText, fmt.Appendf(nil, `{"id":%d,"method":"Runtime.evaluate","params":{"expression":"1"}}`, n)) != nil {
				break
			}
		}
		ws.CloseNow()
		reading.Wait()
		p.untilCreated(round + 2)
	}
	closed := make(chan struct{})
	go func() {
		s.browser.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(20 * time.Second):
		t.Error("it does not close")
	}
	if text := log.String(); strings.Contains(text, "panic") {
		t.Error(text[strings.Index(text, "panic"):][:500])
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestBrokenConnectionsLeaveNothing: settings of clients in a page are reset when
// its connections have ended and the page lives on.
func TestBrokenConnectionsLeaveNothing(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	p := join(t, s.url)
	p.call("", "Target.setDiscoverTargets", `{"discover":true}`, nil)
	session := p.attach(s)
	p.visit(s, session, "/one")
	p.call(session, "Fetch.enable", "", nil)
	p.call(session, "Page.addScriptToEvaluateOnNewDocument", `{"source":"window.left = 1"}`, nil)
	s.debug.breakOff(s.debug.only())
	p.event("", "Target.detachedFromTarget", session)
	s.debug.untilReached("Fetch.disable", 1)
	s.debug.untilReached("Page.removeScriptToEvaluateOnNewDocument", 1)
	p.untilCreated(2)
	again := p.attach(s)
	p.visit(s, again, "/two")
	if got := p.evaluate(again, "String(window.left)"); got != "undefined" {
		t.Error("a script was left behind:", got)
	}
}

// TestOffAndOn: a client that turns something off and on again without waiting gets
// its events.
func TestOffAndOn(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	p := join(t, s.url)
	session := p.attach(s)
	p.visit(s, session, "/one")
	for round := range 3 {
		p.call(session, "Fetch.enable", "", nil)
		p.call(session, "Network.enable", "", nil)
		p.start(session, "Fetch.disable", "")
		p.start(session, "Network.disable", "")
		p.start(session, "Network.enable", "")
		p.answer(p.start(session, "Fetch.enable", ""))
		path := fmt.Sprintf("/asked%d", round)
		p.evaluate(session, "void fetch('"+path+"'); 1")
		p.event(session, "Network.requestWillBeSent", path)
		var paused struct{ RequestID string }
		if err := json.Unmarshal(p.event(session, "Fetch.requestPaused", path).Params, &paused); err != nil {
			t.Fatal(err)
		}
		p.call(session, "Fetch.fulfillRequest", fmt.Sprintf(`{"requestId":%q,"responseCode":200}`, paused.RequestID), nil)
	}
}

// TestLateReset: one client's reset that reaches the page late does not end what
// another has set since.
func TestLateReset(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	a, b := join(t, s.url), join(t, s.url)
	sa, sb := a.attach(s), b.attach(s)
	a.visit(s, sa, "/one")
	a.call(sa, "Fetch.enable", "", nil)
	pass := s.debug.delay("Fetch.disable")
	defer pass()
	off := a.start(sa, "Fetch.disable", "")
	a.call("", "Target.getTargets", "", nil) // the command is under way
	on := b.start(sb, "Fetch.enable", "")
	b.call("", "Target.getTargets", "", nil)
	pass()
	a.answer(off)
	b.answer(on)
	b.evaluate(sb, "void fetch('/two'); 1")
	b.event(sb, "Fetch.requestPaused", "/two")
}

// TestNextTab: a browser's setting stays in force when the tab that received it
// closes. Pending commands of that tab get a response.
func TestNextTab(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	p := join(t, s.url)
	first := s.debug.only().target
	session := p.attach(s)
	p.call("", "Browser.setDownloadBehavior", fmt.Sprintf(`{"behavior":"allowAndName","downloadPath":%q,"eventsEnabled":true}`, t.TempDir()), nil)
	var other struct{ TargetID string }
	p.call("", "Target.createTarget", fmt.Sprintf(`{"url":%q}`, s.site+"/other"), &other)
	p.call("", "Target.setDiscoverTargets", `{"discover":true}`, nil)
	p.event("", "Target.targetCreated", other.TargetID)
	pass := s.debug.delay("Browser.getHistograms")
	defer pass()
	asked := p.start("", "Browser.getHistograms", "")
	p.call(session, "Runtime.evaluate", `{"expression":"1"}`, nil)
	p.call("", "Target.closeTarget", fmt.Sprintf(`{"targetId":%q}`, first), nil)
	if m := p.answer(asked); m.Error == nil || !strings.Contains(m.Error.Message, "target navigated or closed") {
		t.Errorf("what the tab that has closed was asked: %s %v", m.Result, m.Error)
	}
	s.debug.untilReached("Browser.setDownloadBehavior", 2)
	p.evaluate(p.attachTo(other.TargetID), "const a = document.createElement('a'); a.href = 'data:text/plain,x'; a.download = 'x'; a.click(); 1")
	p.event("", "Browser.downloadWillBegin", "")
	p.event("", "Browser.downloadProgress", `"completed"`)
}

// TestOthersThings: a client neither ends nor receives what belongs to another
// client or the debugger.
func TestOthersThings(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	a, b := join(t, s.url), join(t, s.url)
	sa, sb := a.attach(s), b.attach(s)
	var script struct{ Identifier string }
	b.call(sb, "Page.addScriptToEvaluateOnNewDocument", `{"source":"window.b = 1"}`, &script)
	if m := a.try(sa, "Page.removeScriptToEvaluateOnNewDocument", fmt.Sprintf(`{"identifier":%q}`, script.Identifier)); m.Error == nil || m.Error.Message != "Script not found" {
		t.Error("another client's script:", m.Error)
	}
	b.visit(s, sb, "/one")
	if got := b.evaluate(sb, "window.b"); got != "1" {
		t.Error(got)
	}

	a.call(sa, "Runtime.addBinding", `{"name":"told"}`, nil)
	a.call(sa, "Runtime.removeBinding", `{"name":"told"}`, nil)
	b.call(sb, "Runtime.addBinding", `{"name":"told"}`, nil)
	b.evaluate(sb, "told('secret'); 1")
	b.event(sb, "Runtime.bindingCalled", "secret")
	a.call(sa, "Tracing.getCategories", "", nil)
	b.call(sb, "Tracing.start", `{"transferMode":"ReportEvents","traceConfig":{"includedCategories":["devtools.timeline"]}}`, nil)
	b.evaluate(sb, "1")
	b.call(sb, "Tracing.end", "", nil)
	b.event(sb, "Tracing.tracingComplete", "")
	a.evaluate(sa, "1")
	if n := a.count(sa, "Runtime.bindingCalled", "") + a.count(sa, "Tracing.dataCollected", "") + a.count(sa, "Tracing.tracingComplete", ""); n > 0 {
		t.Errorf("a client heard %d events of another's", n)
	}

	shared := s.debug.only()
	s.debug.call(shared.session, "Profiler.enable", "{}")
	s.debug.call(shared.session, "Profiler.start", "{}")
	if m := a.try(sa, "Profiler.stop", ""); m.Error == nil {
		t.Error("a client took the debugger's profile")
	}
	s.debug.call(shared.session, "Profiler.stop", "{}")
	var object struct{ Result struct{ ObjectID string } }
	if err := json.Unmarshal(s.debug.call(shared.session, "Runtime.evaluate", `{"expression":"({a: 1})","objectGroup":"console"}`), &object); err != nil {
		t.Fatal(err)
	}
	a.call(sa, "Runtime.releaseObjectGroup", `{"objectGroup":"console"}`, nil)
	s.debug.call(shared.session, "Runtime.getProperties", fmt.Sprintf(`{"objectId":%q}`, object.Result.ObjectID))
}

// TestScriptOfABusyPage: a script is removed even if its identifier arrives long
// after its client has left.
func TestScriptOfABusyPage(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	p := join(t, s.url)
	session := p.attach(s)
	p.visit(s, session, "/one")
	pass := s.debug.delay("Page.addScriptToEvaluateOnNewDocument")
	defer pass()
	p.start(session, "Page.addScriptToEvaluateOnNewDocument", `{"source":"window.left = 1"}`)
	p.call("", "Target.getTargets", "", nil)
	p.leave()
	time.Sleep(1500 * time.Millisecond) // longer than the timeout for a leaving client's responses
	pass()
	s.debug.untilReached("Page.removeScriptToEvaluateOnNewDocument", 1)
}
