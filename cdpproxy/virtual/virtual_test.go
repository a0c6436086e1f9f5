package virtual_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

func TestBrowserLevel(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	p := join(t, s.url)
	var version struct{ Product, ProtocolVersion string }
	p.call("", "Browser.getVersion", "", &version)
	if !strings.HasPrefix(version.Product, "Chrome/") || version.ProtocolVersion != "1.3" {
		t.Error(version)
	}
	var self struct{ TargetInfo struct{ Type string } }
	p.call("", "Target.getTargetInfo", "", &self)
	if self.TargetInfo.Type != "browser" {
		t.Error(self)
	}
	var contexts struct {
		BrowserContextIds       []string
		DefaultBrowserContextID string
	}
	p.call("", "Target.getBrowserContexts", "", &contexts)
	if len(contexts.BrowserContextIds) != 0 || contexts.DefaultBrowserContextID == "" {
		t.Error(contexts)
	}
	var cookies struct{ Cookies []any }
	p.call("", "Storage.getCookies", "", &cookies) // the page responds for the browser
	for method, code := range map[string]int{
		"Target.createBrowserContext": -32000, "Target.disposeBrowserContext": -32000, "Target.exposeDevToolsProtocol": -32000,
		"Target.sendMessageToTarget": -32000, "Target.nothing": -32601, "Page.enable": -32601, "JsDebug.subscribe": -32601,
		"SystemInfo.getInfo": -32000,
	} {
		if m := p.try("", method, ""); m.Error == nil || m.Error.Code != code {
			t.Error(method, m.Error)
		}
	}
	for text, code := range map[string]int{
		`{"id":1,"method":"Browser.getVersion"`:                                              -32700,
		`{"id":1,"method":"Browser.getVersion","method":"Browser.close"}`:                    -32700,
		`{"method":"Browser.getVersion"}`:                                                    -32600,
		`{"id":"x","method":"Browser.getVersion"}`:                                           -32600,
		`{"id":5,"METHOD":"Browser.getVersion"}`:                                             -32600,
		`{"id":6,"method":"Runtime.evaluate","sessionId":"` + strings.Repeat("A", 32) + `"}`: -32001,
	} {
		p.mu.Lock()
		p.replies = map[int]said{}
		p.mu.Unlock()
		p.write(text)
		p.await(text, func() bool {
			for _, m := range p.replies {
				if m.Error == nil || m.Error.Code != code {
					t.Error(text, m.Error)
				}
				return true
			}
			return false
		})
	}

	// A browser session within the browser's, as Playwright creates one.
	var below struct{ SessionID string }
	p.call("", "Target.attachToBrowserTarget", "", &below)
	var page struct{ SessionID string }
	p.call(below.SessionID, "Target.attachToTarget", fmt.Sprintf(`{"targetId":%q,"flatten":true}`, s.debug.only().target), &page)
	p.event(below.SessionID, "Target.attachedToTarget", page.SessionID)
	if got := p.evaluate(page.SessionID, "6*7"); got != "42" {
		t.Error(got)
	}
	p.call(below.SessionID, "Target.detachFromTarget", fmt.Sprintf(`{"sessionId":%q}`, page.SessionID), nil)
	p.event(below.SessionID, "Target.detachedFromTarget", page.SessionID)
	if m := p.try(page.SessionID, "Runtime.evaluate", `{"expression":"1"}`); m.Error == nil || m.Error.Code != -32001 {
		t.Error(m)
	}
}

// TestOddMethod: every method name gets a response.
func TestOddMethod(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	p := join(t, s.url)
	session := p.attach(s)
	p.write(fmt.Sprintf(`{"id":1000,"method":"Page.\u0007\u0000\u2028","sessionId":%q}`, session))
	if m := p.answer(1000); m.Error == nil {
		t.Error(m)
	}
}

// TestCloseEndsOneClient: Browser.close closes only the connection of its client.
func TestCloseEndsOneClient(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	p, other := join(t, s.url), join(t, s.url)
	session := other.attach(s)
	p.call("", "Browser.close", "", nil)
	<-p.done
	if websocket.CloseStatus(p.err) != websocket.StatusNormalClosure {
		t.Error(p.err)
	}
	if got := other.evaluate(session, "6*7"); got != "42" {
		t.Error(got)
	}
	if s.debug.reached("Browser.close") != 0 {
		t.Error("the browser was closed")
	}
}

// TestPagesComeAndGo: pages open and close as the debugger attaches to them, for
// two clients at once.
func TestPagesComeAndGo(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	first := s.debug.only().target
	a, b := join(t, s.url), join(t, s.url)
	for _, p := range []*peer{a, b} {
		p.call("", "Target.setDiscoverTargets", `{"discover":true}`, nil)
		p.call("", "Target.setAutoAttach", `{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}`, nil)
		p.event("", "Target.targetCreated", first)
		p.event("", "Target.attachedToTarget", first)
	}
	var made struct{ TargetID string }
	a.call("", "Target.createTarget", fmt.Sprintf(`{"url":%q}`, s.site+"/second"), &made)
	// When the response comes the client is attached, as with a browser.
	if a.count("", "Target.attachedToTarget", made.TargetID) != 1 {
		t.Error("createTarget was answered before the client was attached")
	}
	sessions := map[*peer]string{}
	for _, p := range []*peer{a, b} {
		var e struct {
			SessionID          string
			WaitingForDebugger bool
		}
		if err := json.Unmarshal(p.event("", "Target.attachedToTarget", made.TargetID).Params, &e); err != nil || e.WaitingForDebugger {
			t.Error(err, e)
		}
		sessions[p] = e.SessionID
		var info struct{ TargetInfo struct{ Title, Type string } }
		for info.TargetInfo.Title != "/second" { // the page is loading
			p.call("", "Target.getTargetInfo", fmt.Sprintf(`{"targetId":%q}`, made.TargetID), &info)
		}
	}
	if sessions[a] == sessions[b] {
		t.Error("two clients share a session id")
	}
	a.visit(s, sessions[a], "/third")
	b.event("", "Target.targetInfoChanged", "/third")
	b.call("", "Target.activateTarget", fmt.Sprintf(`{"targetId":%q}`, made.TargetID), nil)
	var closed struct{ Success bool }
	b.call("", "Target.closeTarget", fmt.Sprintf(`{"targetId":%q}`, made.TargetID), &closed)
	if !closed.Success {
		t.Error("not closed")
	}
	for _, p := range []*peer{a, b} {
		p.event("", "Target.detachedFromTarget", sessions[p])
		p.event("", "Target.targetDestroyed", made.TargetID)
		var list struct{ TargetInfos []struct{ TargetID string } }
		p.call("", "Target.getTargets", "", &list)
		if len(list.TargetInfos) != 1 || list.TargetInfos[0].TargetID != first {
			t.Error(list)
		}
		if m := p.try("", "Target.getTargetInfo", fmt.Sprintf(`{"targetId":%q}`, made.TargetID)); m.Error == nil || m.Error.Code != -32602 {
			t.Error(m)
		}
	}
	a.call("", "Target.setAutoAttach", `{"autoAttach":false,"flatten":true}`, nil)
	a.event("", "Target.detachedFromTarget", first)
	if m := a.try("", "Target.setAutoAttach", `{"autoAttach":true}`); m.Error == nil || !strings.Contains(m.Error.Message, "flatten") {
		t.Error(m)
	}
}

// TestTabs: each page has a tab around it, as Puppeteer expects.
func TestTabs(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	p := join(t, s.url)
	p.call("", "Target.setDiscoverTargets", `{"discover":true,"filter":[{}]}`, nil)
	p.event("", "Target.targetCreated", `"type":"browser"`)
	p.event("", "Target.targetCreated", `"type":"tab"`)
	p.call("", "Target.setAutoAttach", `{"autoAttach":true,"flatten":true,"waitForDebuggerOnStart":true,"filter":[{"type":"page","exclude":true},{}]}`, nil)
	var tab, page struct{ SessionID string }
	if err := json.Unmarshal(p.event("", "Target.attachedToTarget", `"type":"tab"`).Params, &tab); err != nil {
		t.Fatal(err)
	}
	if p.count("", "Target.attachedToTarget", "") != 1 {
		t.Error("attached to more than the tab")
	}
	p.call(tab.SessionID, "Target.setAutoAttach", `{"autoAttach":true,"flatten":true,"waitForDebuggerOnStart":true,"filter":[{}]}`, nil)
	p.call(tab.SessionID, "Runtime.runIfWaitingForDebugger", "", nil)
	if err := json.Unmarshal(p.event(tab.SessionID, "Target.attachedToTarget", `"type":"page"`).Params, &page); err != nil {
		t.Fatal(err)
	}
	if got := p.evaluate(page.SessionID, "6*7"); got != "42" {
		t.Error(got)
	}
	p.call("", "Target.closeTarget", fmt.Sprintf(`{"targetId":%q}`, "tab-"+s.debug.only().target), nil)
	p.event("", "Target.targetDestroyed", "tab-")
	var order []string
	p.mu.Lock()
	for _, e := range p.events[len(p.events)-4:] {
		order = append(order, strings.TrimPrefix(e.Method, "Target."))
	}
	p.mu.Unlock()
	if got := strings.Join(order, " "); got != "detachedFromTarget targetDestroyed detachedFromTarget targetDestroyed" {
		t.Error(got)
	}
}

// TestPageEndpoint: a connection to one page ends with the page.
func TestPageEndpoint(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	if status, _ := s.get("GET", "/json/list"); status != 200 {
		t.Fatal(status)
	}
	p := join(t, strings.Replace(s.http(), "http", "ws", 1)+"/devtools/page/"+s.debug.only().target)
	if got := p.evaluate("", "6*7"); got != "42" {
		t.Error(got)
	}
	p.visit(s, "", "/seen")
	if m := p.try("", "Target.attachToBrowserTarget", ""); m.Error == nil {
		t.Error("attached to the browser from a page")
	}
	p.start("", "Page.close", "") // its response may be lost with the page
	<-p.done
	var closed websocket.CloseError
	if !errors.As(p.err, &closed) || closed.Code != websocket.StatusGoingAway || closed.Reason != "the page has closed" {
		t.Error(p.err)
	}
}

// TestConnectionBreaks: the debugger drops a page's connections and the page lives
// on; sessions end, and the page is offered again.
func TestConnectionBreaks(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	p := join(t, s.url)
	p.call("", "Target.setDiscoverTargets", `{"discover":true}`, nil)
	session := p.attach(s)
	p.evaluate(session, "window.kept = 1")
	s.debug.breakOff(s.debug.only())
	p.event("", "Target.detachedFromTarget", session)
	p.untilCreated(2)
	if got := p.evaluate(p.attach(s), "window.kept"); got != "1" {
		t.Error(got)
	}
}

// TestClose: clients are notified, and nothing keeps running.
func TestClose(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	p := join(t, s.url)
	p.attach(s)
	s.browser.Close()
	<-p.done
	if websocket.CloseStatus(p.err) != websocket.StatusGoingAway {
		t.Error(p.err)
	}
	if _, _, err := websocket.Dial(t.Context(), s.url, nil); err == nil {
		t.Error("a closed browser answers")
	}
}
