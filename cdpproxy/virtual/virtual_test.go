package virtual_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"browser-coordinator/internal/cdptest"
)

func TestBrowserLevel(t *testing.T) {
	s := newScene(t)
	p := cdptest.Dial(t, s.url)
	var version struct{ Product, ProtocolVersion string }
	p.Call("", "Browser.getVersion", "", &version)
	if !strings.HasPrefix(version.Product, "Chrome/") || version.ProtocolVersion != "1.3" {
		t.Error(version)
	}
	var self struct{ TargetInfo struct{ Type string } }
	p.Call("", "Target.getTargetInfo", "", &self)
	if self.TargetInfo.Type != "browser" {
		t.Error(self)
	}
	var contexts struct {
		BrowserContextIds       []string
		DefaultBrowserContextID string
	}
	p.Call("", "Target.getBrowserContexts", "", &contexts)
	if len(contexts.BrowserContextIds) != 0 || contexts.DefaultBrowserContextID == "" {
		t.Error(contexts)
	}
	var cookies struct{ Cookies []any }
	p.Call("", "Storage.getCookies", "", &cookies) // the page responds for the browser
	for method, code := range map[string]int{
		"Target.createBrowserContext": -32000, "Target.disposeBrowserContext": -32000,
		"Target.exposeDevToolsProtocol": -32000,
		"Target.sendMessageToTarget":    -32602, "Target.nothing": -32601, "Page.enable": -32601,
		"JsDebug.subscribe":  -32601,
		"SystemInfo.getInfo": -32000,
	} {
		if m := p.Try("", method, ""); m.Error == nil || m.Error.Code != code {
			t.Error(method, m.Error)
		}
	}
	// A browser session within the browser's, as Playwright creates one.
	var below struct{ SessionID string }
	p.Call("", "Target.attachToBrowserTarget", "", &below)
	var page struct{ SessionID string }
	p.Call(below.SessionID, "Target.attachToTarget", fmt.Sprintf(`{"targetId":%q,"flatten":true}`,
		s.debug.only().target), &page)
	p.Event(below.SessionID, "Target.attachedToTarget", page.SessionID)
	if got := p.Evaluate(page.SessionID, "6*7"); got != "42" {
		t.Error(got)
	}
	p.Call(below.SessionID, "Target.detachFromTarget", fmt.Sprintf(`{"sessionId":%q}`, page.SessionID), nil)
	p.Event(below.SessionID, "Target.detachedFromTarget", page.SessionID)
	if m := p.Try(page.SessionID, "Runtime.evaluate", `{"expression":"1"}`); m.Error == nil || m.Error.Code != -32001 {
		t.Error(m)
	}
}

// TestCloseEndsOneClient: Browser.close closes only the connection of its client.
func TestCloseEndsOneClient(t *testing.T) {
	s := newScene(t)
	p, other := cdptest.Dial(t, s.url), cdptest.Dial(t, s.url)
	session := s.attach(other)
	p.Call("", "Browser.close", "", nil)
	if err := p.Ended(); websocket.CloseStatus(err) != websocket.StatusNormalClosure {
		t.Error(err)
	}
	if got := other.Evaluate(session, "6*7"); got != "42" {
		t.Error(got)
	}
	if s.debug.reached("Browser.close") != 0 {
		t.Error("the browser was closed")
	}
}

// TestPagesComeAndGo: pages open and close as the debugger attaches to them, for
// two clients at once.
func TestPagesComeAndGo(t *testing.T) {
	s := newScene(t)
	first := s.debug.only().target
	a, b := cdptest.Dial(t, s.url), cdptest.Dial(t, s.url)
	for _, p := range []*cdptest.Client{a, b} {
		p.Call("", "Target.setDiscoverTargets", `{"discover":true}`, nil)
		p.Call("", "Target.setAutoAttach", `{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}`, nil)
		p.Event("", "Target.targetCreated", first)
		p.Event("", "Target.attachedToTarget", first)
	}
	var made struct{ TargetID string }
	a.Call("", "Target.createTarget", fmt.Sprintf(`{"url":%q}`, s.site+"/second"), &made)
	// When the response comes the client is attached, as with a browser.
	if a.Count("", "Target.attachedToTarget", made.TargetID) != 1 {
		t.Error("createTarget was answered before the client was attached")
	}
	sessions := map[*cdptest.Client]string{}
	for _, p := range []*cdptest.Client{a, b} {
		var e struct {
			SessionID          string
			WaitingForDebugger bool
		}
		if err := json.Unmarshal(p.Event("", "Target.attachedToTarget", made.TargetID).Params, &e); err != nil ||
			e.WaitingForDebugger {
			t.Error(err, e)
		}
		sessions[p] = e.SessionID
		var info struct{ TargetInfo struct{ Title, Type string } }
		for info.TargetInfo.Title != "/second" { // the page is loading
			p.Call("", "Target.getTargetInfo", fmt.Sprintf(`{"targetId":%q}`, made.TargetID), &info)
		}
	}
	if sessions[a] == sessions[b] {
		t.Error("two clients share a session id")
	}
	s.visit(a, sessions[a], "/third")
	b.Event("", "Target.targetInfoChanged", "/third")
	b.Call("", "Target.activateTarget", fmt.Sprintf(`{"targetId":%q}`, made.TargetID), nil)
	var closed struct{ Success bool }
	b.Call("", "Target.closeTarget", fmt.Sprintf(`{"targetId":%q}`, made.TargetID), &closed)
	if !closed.Success {
		t.Error("not closed")
	}
	for _, p := range []*cdptest.Client{a, b} {
		p.Event("", "Target.detachedFromTarget", sessions[p])
		p.Event("", "Target.targetDestroyed", made.TargetID)
		var list struct{ TargetInfos []struct{ TargetID string } }
		p.Call("", "Target.getTargets", "", &list)
		if len(list.TargetInfos) != 1 || list.TargetInfos[0].TargetID != first {
			t.Error(list)
		}
		if m := p.Try("", "Target.getTargetInfo", fmt.Sprintf(`{"targetId":%q}`, made.TargetID)); m.Error == nil ||
			m.Error.Code != -32602 {
			t.Error(m)
		}
	}
	a.Call("", "Target.setAutoAttach", `{"autoAttach":false,"flatten":true}`, nil)
	a.Event("", "Target.detachedFromTarget", first)
	if m := a.Try("", "Target.setAutoAttach", `{"autoAttach":true}`); m.Error == nil ||
		!strings.Contains(m.Error.Message, "flatten") {
		t.Error(m)
	}
}

// TestTabs: each page has a tab around it, as Puppeteer expects.
func TestTabs(t *testing.T) {
	s := newScene(t)
	p := cdptest.Dial(t, s.url)
	p.Call("", "Target.setDiscoverTargets", `{"discover":true,"filter":[{}]}`, nil)
	p.Event("", "Target.targetCreated", `"type":"browser"`)
	p.Event("", "Target.targetCreated", `"type":"tab"`)
	p.Call("", "Target.setAutoAttach",
		`{"autoAttach":true,"flatten":true,"waitForDebuggerOnStart":true,"filter":[{"type":"page","exclude":true},{}]}`, nil)
	var tab, page struct{ SessionID string }
	p.Event("", "Target.attachedToTarget", `"type":"tab"`).Decode(t, &tab)
	if p.Count("", "Target.attachedToTarget", "") != 1 {
		t.Error("attached to more than the tab")
	}
	p.Call(tab.SessionID, "Target.setAutoAttach",
		`{"autoAttach":true,"flatten":true,"waitForDebuggerOnStart":true,"filter":[{}]}`, nil)
	p.Call(tab.SessionID, "Runtime.runIfWaitingForDebugger", "", nil)
	p.Event(tab.SessionID, "Target.attachedToTarget", `"type":"page"`).Decode(t, &page)
	if got := p.Evaluate(page.SessionID, "6*7"); got != "42" {
		t.Error(got)
	}
	p.Call("", "Target.closeTarget", fmt.Sprintf(`{"targetId":%q}`, "tab-"+s.debug.only().target), nil)
	p.Event("", "Target.targetDestroyed", "tab-")
	var order []string
	events := p.Methods()
	for _, method := range events[len(events)-4:] {
		order = append(order, strings.TrimPrefix(method, "Target."))
	}
	if got := strings.Join(order, " "); got != "detachedFromTarget targetDestroyed detachedFromTarget targetDestroyed" {
		t.Error(got)
	}
}

// TestPageEndpoint: a connection to one page ends with the page.
func TestPageEndpoint(t *testing.T) {
	s := newScene(t)
	if status, _ := s.get("GET", "/json/list"); status != 200 {
		t.Fatal(status)
	}
	p := cdptest.Dial(t, strings.Replace(s.http(), "http", "ws", 1)+"/devtools/page/"+s.debug.only().target)
	if got := p.Evaluate("", "6*7"); got != "42" {
		t.Error(got)
	}
	s.visit(p, "", "/seen")
	if m := p.Try("", "Target.attachToBrowserTarget", ""); m.Error == nil {
		t.Error("attached to the browser from a page")
	}
	p.Start("", "Page.close", "") // its response may be lost with the page
	err := p.Ended()
	var closed websocket.CloseError
	if !errors.As(err, &closed) || closed.Code != websocket.StatusGoingAway || closed.Reason != "the page has closed" {
		t.Error(err)
	}
}

// TestClose: Close disconnects the clients and returns, also while they wait.
func TestClose(t *testing.T) {
	s := newScene(t)
	p := cdptest.Dial(t, s.url)
	p.Start(s.attach(p), "Runtime.evaluate", `{"expression":"new Promise(() => {})","awaitPromise":true}`)
	s.browser.Close()
	if err := p.Ended(); websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Error(err)
	}
}
