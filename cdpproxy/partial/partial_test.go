package partial_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy/browser"
	"browser-coordinator/cdpproxy/discovery"
	"browser-coordinator/cdpproxy/multiplex"
	"browser-coordinator/cdpproxy/partial"
	"browser-coordinator/cdpproxy/private"
	"browser-coordinator/internal/cdptest"
	"browser-coordinator/internal/must"
)

func TestMain(m *testing.M) { os.Exit(cdptest.Main(m)) }

// socket is a transport over a WebSocket to a browser.
type socket struct {
	t *testing.T
	*websocket.Conn
}

func (s socket) Read() ([]byte, error) {
	_, message, err := s.Conn.Read(s.t.Context())
	if err != nil {
		return nil, io.EOF
	}
	return message, nil
}

func (s socket) Write(message []byte) error {
	return s.Conn.Write(s.t.Context(), websocket.MessageText, message)
}

func (s socket) Close() error { return s.CloseNow() }

// user is a browser in which a user works, with its part for clients.
type user struct {
	*cdptest.Client // who reaches all
	part            *partial.Browser
	url             string // for clients
	site            string
}

func start(t *testing.T) *user {
	t.Helper()
	return startBehind(t, func(whole browser.Browser) browser.Browser { return whole })
}

// startBehind has something between the browser and its part.
func startBehind(t *testing.T, between func(browser.Browser) browser.Browser) *user {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	// The answers name their host, and set a cookie.
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "of", Value: strings.ReplaceAll(r.Host, ":", "-"), MaxAge: 1000})
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<title>%s</title><a id=a href=/next target=_blank>next</a>", r.Host)
	}))
	t.Cleanup(site.Close)
	chrome := cdptest.Launch(t)
	ws, _, err := websocket.Dial(t.Context(), chrome.URL(), nil)
	must.Do(t, err)
	ws.SetReadLimit(1 << 28)
	whole := must.Get(multiplex.Serve(socket{t, ws}, log))(t)
	t.Cleanup(whole.Close)
	part := must.Get(partial.New(t.Context(), between(whole), log))(t)
	t.Cleanup(part.Close)
	served := must.Get(private.Serve(part, log))(t)
	t.Cleanup(served.Close)
	return &user{cdptest.Dial(t, chrome.URL()), part, served.URL(), site.URL}
}

// open opens one of the user's own tabs.
func (u *user) open(address string) (id string) {
	return opened(u.Client, address)
}

func opened(c *cdptest.Client, address string) string {
	var made struct {
		ID string `json:"targetId"`
	}
	c.Call("", "Target.createTarget", fmt.Sprintf(`{"url":%q}`, address), &made)
	return made.ID
}

// loaded waits until the page of a session is there, with its cookie.
func loaded(c *cdptest.Client, session string) {
	const page = `new Promise(is => { const look = () => document.title ? is(document.title) : setTimeout(look, 10); look() })`
	for c.Try(session, "Runtime.evaluate", fmt.Sprintf(`{"awaitPromise":true,"expression":%q}`, page)).Error != nil {
		continue // its first document has gone
	}
}

type infos struct {
	All []struct {
		ID  string `json:"targetId"`
		URL string `json:"url"`
	} `json:"targetInfos"`
}

func (i infos) ids() (ids []string) {
	for _, each := range i.All {
		ids = append(ids, each.ID)
	}
	return ids
}

func list(c *cdptest.Client) []string {
	var got infos
	c.Call("", "Target.getTargets", "", &got)
	return got.ids()
}

// A client learns of its own tabs, of what these open, and of those that the user hands over.
func TestTabs(t *testing.T) {
	u := start(t)
	bank := u.open(u.site + "/bank")
	c := cdptest.Dial(t, u.url)
	c.Call("", "Target.setDiscoverTargets", `{"discover":true}`, nil)
	c.Call("", "Target.setAutoAttach", `{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}`, nil)
	if ids := list(c); len(ids) > 0 {
		t.Fatalf("the user's tabs: %v", ids)
	}
	for _, command := range []string{"attachToTarget", "closeTarget", "activateTarget", "getTargetInfo"} {
		if m := c.Try("", "Target."+command, fmt.Sprintf(`{"targetId":%q,"flatten":true}`, bank)); m.Error == nil {
			t.Errorf("%s reaches the user's tab", command)
		}
	}
	own := opened(c, u.site+"/own")
	c.Event("", "Target.targetCreated", own)
	c.Event("", "Target.attachedToTarget", own)
	if ids := list(c); !slices.Equal(ids, []string{own}) {
		t.Errorf("own tabs: %v", ids)
	}
	session := c.Attach(own)
	loaded(c, session)
	c.Call(session, "Target.setDiscoverTargets", `{"discover":true}`, nil)
	if c.Event(session, "Target.targetCreated", own); c.Count(session, "Target.targetCreated", bank) > 0 {
		t.Error("the user's tab, in a page's session")
	}
	for _, script := range []string{`window.open("/popup")`, `a.click()`} { // the link has no opener
		c.Call(session, "Runtime.evaluate", fmt.Sprintf(`{"userGesture":true,"expression":%q}`, script), nil)
	}
	c.Event("", "Target.targetInfoChanged", "/popup")
	c.Event("", "Target.targetInfoChanged", "/next")

	if hidden := u.part.Hidden(); !slices.ContainsFunc(hidden, func(tab discovery.Target) bool { return tab.ID == bank }) {
		t.Fatalf("what the user can hand over: %v", hidden)
	}
	must.Do(t, u.part.HandOver(bank))
	c.Event("", "Target.targetCreated", bank)
	c.Event("", "Target.attachedToTarget", bank)
	given := c.Attach(bank)
	if got := c.Evaluate(given, "location.pathname"); got != "/bank" {
		t.Errorf("the tab that was handed over: %s", got)
	}
	for _, m := range []cdptest.Message{
		c.Try("", "Target.closeTarget", fmt.Sprintf(`{"targetId":%q}`, bank)), c.Try(given, "Page.close", ""),
	} {
		if m.Error == nil {
			t.Error("a client closes the user's tab")
		}
	}
	// A page of the browser itself is out of reach, also in that tab.
	u.Call(u.Attach(bank), "Page.navigate", `{"url":"chrome://version"}`, nil)
	c.Event("", "Target.targetDestroyed", bank)
	c.Event("", "Target.detachedFromTarget", given)
	c.Call("", "Target.closeTarget", fmt.Sprintf(`{"targetId":%q}`, own), nil)
	c.Event("", "Target.targetDestroyed", own)
}

// Puppeteer wants to be attached to the targets around pages.
func TestTabsAroundPages(t *testing.T) {
	u := start(t)
	c := cdptest.Dial(t, u.url)
	const tabs = `{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true,"filter":[{"type":"page","exclude":true},{}]}`
	c.Call("", "Target.setAutoAttach", tabs, nil)
	own := opened(c, u.site+"/own")
	c.Event("", "Target.attachedToTarget", own)
}

// A tab in which the user opens a file is the user's from then on, so that clients cannot go
// back to that file. The user may hand it over again, without its history.
func TestTabWithAFile(t *testing.T) {
	u := start(t)
	file := filepath.Join(t.TempDir(), "taxes.html")
	must.Do(t, os.WriteFile(file, []byte("<title>taxes</title>"), 0o600))
	c := cdptest.Dial(t, u.url)
	c.Call("", "Target.setDiscoverTargets", `{"discover":true}`, nil)
	own := opened(c, u.site+"/own")
	loaded(c, c.Attach(own))
	of := u.Attach(own)
	u.Call(of, "Page.navigate", fmt.Sprintf(`{"url":%q}`, "file://"+file), nil)
	c.Event("", "Target.targetDestroyed", own)
	u.Call(of, "Page.navigate", fmt.Sprintf(`{"url":%q}`, u.site+"/after"), nil)
	loaded(u.Client, of)
	if ids := list(c); len(ids) > 0 {
		t.Errorf("a client is back at a tab with a file in its history: %v", ids)
	}
	must.Do(t, u.part.HandOver(own))
	session := c.Attach(own)
	for method, params := range map[string]string{
		"Page.getNavigationHistory": "", "Page.navigateToHistoryEntry": `{"entryId":1}`,
		"Page.addScriptToEvaluateOnNewDocument": `{"source":"1"}`,
	} {
		if m := c.Try(session, method, params); m.Error == nil || !strings.Contains(m.Error.Message, "handed this tab over") {
			t.Errorf("%s in a tab that was handed over: %+v", method, m)
		}
	}
	c.Call(session, "Runtime.evaluate", `{"expression":"history.back()"}`, nil)
	c.EventN("", "Target.targetDestroyed", own, 2)
}

// late is a browser that never detaches a session.
type late struct{ browser.Browser }

type lateConn struct{ browser.Conn }

func (l late) Open(ctx context.Context, page string, to browser.Client) (browser.Conn, error) {
	c, err := l.Browser.Open(ctx, page, to)
	return lateConn{c}, err
}

func (l lateConn) Send(m browser.Message) bool {
	return m.Method == "Target.detachFromTarget" || l.Conn.Send(m)
}

// Before the browser has detached a client from a tab that is out of reach, its session has no
// effect any longer, nor have those within it.
func TestSessionOutOfReach(t *testing.T) {
	u := startBehind(t, func(whole browser.Browser) browser.Browser { return late{whole} })
	c := cdptest.Dial(t, u.url)
	c.Call("", "Target.setDiscoverTargets", `{"discover":true}`, nil)
	own := opened(c, u.site+"/own")
	session := c.Attach(own)
	loaded(c, session)
	c.Call(session, "Target.setAutoAttach", `{"autoAttach":true,"waitForDebuggerOnStart":false,"flatten":true}`, nil)
	const worker = `new Worker(URL.createObjectURL(new Blob(["onmessage = () => {}"]))).onerror = null`
	c.Call(session, "Runtime.evaluate", fmt.Sprintf(`{"expression":%q}`, "w = "+worker), nil)
	var attached struct {
		Session string `json:"sessionId"`
	}
	c.Event(session, "Target.attachedToTarget", "worker").Decode(t, &attached)
	c.Call(attached.Session, "Runtime.evaluate", `{"expression":"1"}`, nil)
	u.Call(u.Attach(own), "Page.navigate", `{"url":"chrome://version"}`, nil)
	c.Event("", "Target.targetDestroyed", own)
	for _, each := range []string{session, attached.Session} {
		if m := c.Try(each, "Runtime.evaluate", `{"expression":"1"}`); m.Error == nil {
			t.Errorf("a session of a tab out of reach: %s", m.Result)
		}
	}
}

// What reaches the user's data or the browser itself is refused, in each kind of session.
func TestRefused(t *testing.T) {
	u := start(t)
	u.open(strings.Replace(u.site, "127.0.0.1", "localhost", 1) + "/bank")
	c := cdptest.Dial(t, u.url)
	session := c.Attach(opened(c, u.site+"/own"))
	loaded(c, session)
	var root struct {
		Session string `json:"sessionId"`
	}
	c.Call("", "Target.attachToBrowserTarget", "", &root)
	for _, in := range []string{"", root.Session, session} {
		for method, params := range map[string]string{
			"Browser.close": "", "Browser.crash": "", "Network.getAllCookies": "", "Network.clearBrowserCookies": "",
			"Storage.clearCookies": "", "SystemInfo.getInfo": "", "Extensions.loadUnpacked": `{"path":"/tmp"}`,
			"Target.exposeDevToolsProtocol": "", "Target.sendMessageToTarget": `{"message":"{}"}`,
			"Target.createTarget":           `{"url":"chrome://settings"}`,
			"Page.navigate":                 `{"url":"file:///etc/passwd"}`,
			"Page.\\u006eavigate":           `{"\u0075rl":"\u0063hrome://settings"}`,
			"Storage.clearDataForOrigin":    `{"origin":"http://localhost","storageTypes":"all"}`,
			"Storage.setCookies":            `{"cookies":[{"name":"a","value":"b","domain":"localhost"}]}`,
			"Network.setCookie":             `{"name":"a","value":"b","url":"http://localhost/"}`,
			"Network.getCookies":            `{"urls":["http://localhost/"]}`,
			"Browser.grantPermissions":      `{"permissions":["geolocation"]}`,
			"Tethering.bind":                `{"port":12345}`,
			"Target.setRemoteLocations":     `{"locations":[]}`,
			"Target.autoAttachRelated":      `{"targetId":"x","waitForDebuggerOnStart":true}`,
			"Browser.getBrowserCommandLine": "",
			"Tracing.start":                 `{"categories":"*"}`,
			"DOM.setFileInputFiles":         `{"files":["/etc/passwd"],"nodeId":1}`,
			"Input.dispatchDragEvent":       `{"type":"drop","x":1,"y":1,"data":{"items":[],"files":["/etc/passwd"],"dragOperationsMask":1}}`,
		} {
			if m := c.Try(in, method, params); m.Error == nil {
				t.Errorf("%s in session %q: %s", method, in, m.Result)
			}
		}
		if m := c.Try(in, "Browser.setDownloadBehavior", `{"behavior":"allow","downloadPath":"/tmp"}`); m.Error != nil {
			t.Errorf("a client connects: %v", m.Error)
		}
	}
	// Another spelling of a name is read by Go, not by the browser.
	for method, params := range map[string]string{
		"Target.createTarget":  `{"url":"file:///etc/passwd","Url":"http://127.0.0.1/"}`,
		"Storage.clearCookies": `{"browsercontextid":"x"}`,
		"Target.getTargetInfo": `{"targetId":"x","targetid":"y"}`,
	} {
		if m := c.Try("", method, params); m.Error == nil || m.Error.Message != "Invalid parameters" {
			t.Errorf("%s %s: %+v", method, params, m.Error)
		}
	}
	for _, in := range []string{"", session} {
		m := c.Try(in, "Storage.getCookies", "")
		if text := string(m.Result); m.Error != nil || strings.Contains(text, "localhost") ||
			!strings.Contains(text, "127.0.0.1-") {
			t.Errorf("cookies in session %q: %v %s", in, m.Error, text)
		}
	}
}
