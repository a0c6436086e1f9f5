package partial_test

import (
	"context"
	"fmt"
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
	"browser-coordinator/cdpproxy/multiplex"
	"browser-coordinator/cdpproxy/partial"
	"browser-coordinator/cdpproxy/private"
	"browser-coordinator/internal/cdptest"
	"browser-coordinator/internal/must"
)

func TestMain(m *testing.M) { os.Exit(cdptest.Main(m)) }

// user is a browser in which a user works, with its part for clients.
type user struct {
	t               *testing.T
	*cdptest.Client // who reaches all
	part            *partial.Browser
	url             string // for clients
	site            string
	chrome          string // the address of its debugging port
}

func start(t *testing.T) *user {
	t.Helper()
	return startBehind(t, func(whole browser.Browser) browser.Browser { return whole })
}

// startBehind has something between the browser and its part.
func startBehind(t *testing.T, between func(browser.Browser) browser.Browser, flags ...string) *user {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	// The answers name their host, and set a cookie.
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "of", Value: strings.ReplaceAll(r.Host, ":", "-"), MaxAge: 1000})
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/worker.js":
			w.Header().Set("Content-Type", "text/javascript")
			return
		case "/download":
			w.Header().Set("Content-Disposition", "attachment")
		case "/all":
			fmt.Fprintf(w, all, strings.Replace(r.Host, "127.0.0.1", "localhost", 1))
		}
		fmt.Fprintf(w, "<title>%s</title><a id=a href=/next target=_blank>next</a>", r.Host)
	}))
	t.Cleanup(site.Close)
	chrome := cdptest.Launch(t, flags...)
	whole := must.Get(multiplex.Serve(cdptest.DialTransport(t, chrome.URL()), log))(t)
	t.Cleanup(whole.Close)
	part := must.Get(partial.New(t.Context(), between(whole), log))(t)
	t.Cleanup(part.Close)
	served := must.Get(private.Serve(part, log))(t)
	t.Cleanup(served.Close)
	base, _, _ := strings.Cut(chrome.URL(), "/devtools/")
	return &user{t, cdptest.Dial(t, chrome.URL()), part, served.URL(), site.URL, base}
}

// all is a page with frames and workers of each kind.
const all = `<iframe id=frame src="http://%s/frame"></iframe><script>
onmessage = (event) => { if (event.data === "vault") vault = [...document.querySelectorAll("iframe")].at(-1).src };
worker = new Worker("/worker.js"); shared = new SharedWorker("/worker.js");
navigator.serviceWorker.register("/worker.js");</script>`

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
	const page = `new Promise(is => {
  const look = () => document.title ? is(document.title) : setTimeout(look, 10); look() })`
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

// A context that was disposed, by a client or with one, is no client's any longer.
func TestDisposedContexts(t *testing.T) {
	u := start(t)
	c, leaves := cdptest.Dial(t, u.url), cdptest.Dial(t, u.url)
	type made struct {
		ID string `json:"browserContextId"`
	}
	var disposed, temporary, within made
	c.Call("", "Target.createBrowserContext", "", &disposed)
	leaves.Call("", "Target.createBrowserContext", `{"disposeOnDetach":true}`, &temporary)
	var root struct {
		ID string `json:"sessionId"`
	}
	c.Call("", "Target.attachToBrowserTarget", "", &root)
	c.Call(root.ID, "Target.createBrowserContext", `{"disposeOnDetach":true}`, &within)
	contexts := func() (ids []string) {
		var list struct {
			IDs []string `json:"browserContextIds"`
		}
		c.Call("", "Target.getBrowserContexts", "", &list)
		return list.IDs
	}
	if ids := contexts(); len(ids) != 3 {
		t.Errorf("the contexts of the clients: %v", ids)
	}
	c.Call("", "Target.disposeBrowserContext", fmt.Sprintf(`{"browserContextId":%q}`, disposed.ID), nil)
	if ids := contexts(); len(ids) != 2 || slices.Contains(ids, disposed.ID) {
		t.Errorf("after one was disposed: %v", ids)
	}
	c.Call("", "Target.detachFromTarget", fmt.Sprintf(`{"sessionId":%q}`, root.ID), nil)
	leaves.Leave()
	must.Await(t, "the end of the contexts of the session, and of the client that has left", func() bool {
		return len(contexts()) == 0
	})
	for _, id := range []string{disposed.ID, temporary.ID, within.ID} {
		parameters := fmt.Sprintf(`{"browserContextId":%q}`, id)
		if m := c.Try("", "Target.disposeBrowserContext", parameters); m.Error == nil {
			t.Errorf("the context %s can be disposed once more", id)
		}
	}
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
	tab := opened(c, u.site+"/own")
	c.Event("", "Target.targetCreated", tab)
	c.Event("", "Target.attachedToTarget", tab)
	if ids := list(c); !slices.Equal(ids, []string{tab}) {
		t.Errorf("own tabs: %v", ids)
	}
	session := c.Attach(tab)
	loaded(c, session)
	c.Call(session, "Target.setDiscoverTargets", `{"discover":true}`, nil)
	if c.Event(session, "Target.targetCreated", tab); c.Count(session, "Target.targetCreated", bank) > 0 {
		t.Error("the user's tab, in a page's session")
	}
	for _, script := range []string{`window.open("/popup")`, `a.click()`} { // the link has no opener
		c.Call(session, "Runtime.evaluate", fmt.Sprintf(`{"userGesture":true,"expression":%q}`, script), nil)
	}
	c.Event("", "Target.targetInfoChanged", "/popup")
	c.Event("", "Target.targetInfoChanged", "/next")

	if tabs := u.part.UserTabs(); !slices.ContainsFunc(tabs,
		func(each partial.UserTab) bool { return each.ID == bank && !each.HandedOver }) ||
		slices.ContainsFunc(tabs, func(each partial.UserTab) bool { return each.ID == tab }) {
		t.Fatalf("what the user can hand over: %v", tabs)
	}
	must.Do(t, u.part.HandOver(bank))
	c.Event("", "Target.targetCreated", bank)
	c.Event("", "Target.attachedToTarget", bank)
	bankSession := c.Attach(bank)
	if got := c.Evaluate(bankSession, "location.pathname"); got != "/bank" {
		t.Errorf("the tab that was handed over: %s", got)
	}
	for _, m := range []cdptest.Message{
		c.Try("", "Target.closeTarget", fmt.Sprintf(`{"targetId":%q}`, bank)), c.Try(bankSession, "Page.close", ""),
	} {
		if m.Error == nil {
			t.Error("a client closes the user's tab")
		}
	}
	must.Do(t, u.part.TakeBack(bank))
	c.Event("", "Target.targetDestroyed", bank)
	c.Event("", "Target.detachedFromTarget", bankSession)
	if u.part.TakeBack(bank) == nil || u.part.TakeBack(tab) == nil {
		t.Error("a tab is taken back that was not handed over")
	}
	must.Do(t, u.part.HandOver(bank))
	c.EventN("", "Target.targetCreated", bank, 2)
	bankSession = c.Attach(bank)
	// A page of the browser itself is out of reach, also in that tab.
	u.Call(u.Attach(bank), "Page.navigate", `{"url":"chrome://version"}`, nil)
	c.EventN("", "Target.targetDestroyed", bank, 2)
	c.Event("", "Target.detachedFromTarget", bankSession)
	c.Call("", "Target.closeTarget", fmt.Sprintf(`{"targetId":%q}`, tab), nil)
	c.Event("", "Target.targetDestroyed", tab)
}

// Pages of the browser and of extensions are in no list, neither of a client nor of its user.
func TestInvisible(t *testing.T) {
	u := startBehind(t, func(whole browser.Browser) browser.Browser { return whole },
		"--load-extension="+extension(t), "--disable-features=DisableLoadExtensionCommandLineSwitch")
	bank := u.open(u.site + "/bank")
	const frame = `new Promise(is => { const look = () => { const frame = document.querySelector("iframe");
		frame ? is(frame.src) : setTimeout(look, 10) }; look() })`
	session := u.Attach(bank)
	loaded(u.Client, session)
	var vault struct{ Result struct{ Value string } }
	u.Call(session, "Runtime.evaluate",
		fmt.Sprintf(`{"awaitPromise":true,"returnByValue":true,"expression":%q}`, frame), &vault)
	if !strings.HasPrefix(vault.Result.Value, "chrome-extension://") {
		t.Fatalf("the extension's frame: %+v", vault)
	}
	for _, address := range []string{vault.Result.Value, "chrome://version", "chrome://settings"} {
		u.open(address)
	}
	must.Do(t, u.part.HandOver(bank))
	c := cdptest.Dial(t, u.url)
	all := `{"filter":[{}]}`
	c.Call("", "Target.setDiscoverTargets", `{"discover":true,"filter":[{}]}`, nil)
	for what, text := range map[string]string{
		"Target.getTargets": string(c.Try("", "Target.getTargets", all).Result),
		"/json/list":        get(t, u.url, "/json/list"), "/json": get(t, u.url, "/json"),
		"events": fmt.Sprint(c.Messages()), "the user's tabs": fmt.Sprint(u.part.UserTabs()),
	} {
		if strings.Contains(text, "chrome:") || strings.Contains(text, "chrome-extension:") {
			t.Errorf("%s: %s", what, text)
		}
		if what != "events" && !strings.Contains(text, bank) {
			t.Errorf("%s has no tab of the web: %s", what, text)
		}
	}
}

// get requests a path beside a CDP URL.
func get(t *testing.T, address, path string) string {
	t.Helper()
	base, _, _ := strings.Cut(strings.Replace(address, "ws:", "http:", 1), "/devtools/")
	status, text := cdptest.Request(t, http.MethodGet, base+path)
	if status != http.StatusOK {
		t.Errorf("%s: %d %s", path, status, text)
	}
	return text
}

// Puppeteer wants to be attached to the targets around pages.
func TestTabsAroundPages(t *testing.T) {
	u := start(t)
	c := cdptest.Dial(t, u.url)
	const tabs = `{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true,` +
		`"filter":[{"type":"page","exclude":true},{}]}`
	c.Call("", "Target.setAutoAttach", tabs, nil)
	tab := opened(c, u.site+"/own")
	c.Event("", "Target.attachedToTarget", tab)
}

// A tab in which the user opens a file is the user's from then on, so that clients cannot go
// back to that file. The user may hand it over again, without its history.
func TestTabWithAFile(t *testing.T) {
	u := start(t)
	file := filepath.Join(t.TempDir(), "taxes.html")
	must.Do(t, os.WriteFile(file, []byte("<title>taxes</title>"), 0o600))
	c := cdptest.Dial(t, u.url)
	c.Call("", "Target.setDiscoverTargets", `{"discover":true}`, nil)
	tab := opened(c, u.site+"/own")
	loaded(c, c.Attach(tab))
	userSession := u.Attach(tab)
	u.Call(userSession, "Page.navigate", fmt.Sprintf(`{"url":%q}`, "file://"+file), nil)
	c.Event("", "Target.targetDestroyed", tab)
	u.Call(userSession, "Page.navigate", fmt.Sprintf(`{"url":%q}`, u.site+"/after"), nil)
	loaded(u.Client, userSession)
	if ids := list(c); len(ids) > 0 {
		t.Errorf("a client is back at a tab with a file in its history: %v", ids)
	}
	must.Do(t, u.part.HandOver(tab))
	session := c.Attach(tab)
	for method, params := range map[string]string{
		"Page.getNavigationHistory": "", "Page.navigateToHistoryEntry": `{"entryId":1}`,
		"Page.addScriptToEvaluateOnNewDocument": `{"source":"1"}`, "Page.resetNavigationHistory": "",
		"Page.reload":                 `{"scriptToEvaluateOnLoad":"1"}`,
		"Debugger.setBreakpointByUrl": `{"lineNumber":0,"urlRegex":".*","condition":"1"}`,
	} {
		if m := c.Try(session, method, params); m.Error == nil || !strings.Contains(m.Error.Message, "handed this tab over") {
			t.Errorf("%s in a tab that was handed over: %+v", method, m)
		}
	}
	c.Call(session, "Runtime.evaluate", `{"expression":"history.back()"}`, nil)
	c.EventN("", "Target.targetDestroyed", tab, 2)
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
	tab := opened(c, u.site+"/own")
	session := c.Attach(tab)
	loaded(c, session)
	c.Call(session, "Target.setAutoAttach", `{"autoAttach":true,"waitForDebuggerOnStart":false,"flatten":true}`, nil)
	const worker = `new Worker(URL.createObjectURL(new Blob(["onmessage = () => {}"]))).onerror = null`
	c.Call(session, "Runtime.evaluate", fmt.Sprintf(`{"expression":%q}`, "w = "+worker), nil)
	var attached struct {
		Session string `json:"sessionId"`
	}
	c.Event(session, "Target.attachedToTarget", "worker").Decode(t, &attached)
	c.Call(attached.Session, "Runtime.evaluate", `{"expression":"1"}`, nil)
	u.Call(u.Attach(tab), "Page.navigate", `{"url":"chrome://version"}`, nil)
	c.Event("", "Target.targetDestroyed", tab)
	for _, id := range []string{session, attached.Session} {
		if m := c.Try(id, "Runtime.evaluate", `{"expression":"1"}`); m.Error == nil {
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
			"Target.createTarget":               `{"url":"chrome://settings"}`,
			"Target.createTarget ":              `{"url":"about:settings"}`,
			"Target.createTarget  ":             `{"url":"http://127.0.0.1/","hidden":true}`,
			"Page.navigate ":                    `{"url":"blob:chrome-extension://abc/def"}`,
			"Page.captureScreenshot":            `{"fromSurface":false}`,
			"Page.setRPHRegistrationMode":       `{"mode":"autoAccept"}`,
			"Page.setSPCTransactionMode":        `{"mode":"autoAccept"}`,
			"Page.deleteCookie":                 `{"cookieName":"of","url":"http://localhost/"}`,
			"DOMStorage.getDOMStorageItems":     `{"storageId":{"securityOrigin":"http://localhost","isLocalStorage":true}}`,
			"ServiceWorker.stopAllWorkers":      "",
			"Network.enableDeviceBoundSessions": `{"enable":true}`,
			"Page.navigate":                     `{"url":"file:///etc/passwd"}`,
			"Page.\\u006eavigate":               `{"\u0075rl":"\u0063hrome://settings"}`,
			"Storage.clearDataForOrigin":        `{"origin":"http://localhost","storageTypes":"all"}`,
			"Storage.setCookies":                `{"cookies":[{"name":"a","value":"b","domain":"localhost"}]}`,
			"Network.setCookie":                 `{"name":"a","value":"b","url":"http://localhost/"}`,
			"Fetch.continueRequest":             `{"requestId":"1","url":"file:///etc/passwd"}`,
			"Network.loadNetworkResource": `{"url":"http://127.0.0.1/",` +
				`"options":{"disableCache":true,"includeCredentials":true}}`,
			"Network.getCookies":            `{"urls":["http://localhost/"]}`,
			"Browser.grantPermissions":      `{"permissions":["geolocation"]}`,
			"Tethering.bind":                `{"port":12345}`,
			"Target.setRemoteLocations":     `{"locations":[]}`,
			"Target.autoAttachRelated":      `{"targetId":"x","waitForDebuggerOnStart":true}`,
			"Browser.getBrowserCommandLine": "",
			"HeapProfiler.takeHeapSnapshot": "",
			"Tracing.start":                 `{"categories":"*"}`,
			"DOM.setFileInputFiles":         `{"files":["/etc/passwd"],"nodeId":1}`,
			"Input.dispatchDragEvent": `{"type":"drop","x":1,"y":1,` +
				`"data":{"items":[],"files":["/etc/passwd"],"dragOperationsMask":1}}`,
		} {
			if m := c.Try(in, strings.TrimSpace(method), params); m.Error == nil {
				t.Errorf("%s in session %q: %s", method, in, m.Result)
			}
		}
		if m := c.Try(in, "Browser.setDownloadBehavior", `{"behavior":"allow","downloadPath":"/tmp"}`); m.Error != nil {
			t.Errorf("a client connects: %v", m.Error)
		}
	}
	// The browser ignores another spelling of a name.
	own := opened(c, u.site+"/own")
	c.Call("", "Target.getTargetInfo", fmt.Sprintf(`{"targetId":%q,"targetid":"x"}`, own), nil)
	var context struct {
		ID string `json:"browserContextId"`
	}
	c.Call("", "Target.createBrowserContext", "", &context)
	for params, method := range map[string]string{
		`{"url":"file:///etc/passwd","Url":"http://127.0.0.1/"}`: "Target.createTarget",
		fmt.Sprintf(`{"browsercontextid":%q}`, context.ID):       "Storage.clearCookies",
		fmt.Sprintf(`{"targetid":%q}`, own):                      "Target.closeTarget",
		`{"targetId":"x","targetId":"x"}`:                        "Target.getTargetInfo",
	} {
		if m := c.Try("", method, params); m.Error == nil {
			t.Errorf("%s %s: %s", method, params, m.Result)
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

// A client that gives several commands the same id gets no response unfiltered.
func TestSameID(t *testing.T) {
	u := start(t)
	u.open(strings.Replace(u.site, "127.0.0.1", "localhost", 1) + "/bank")
	ws, _, err := websocket.Dial(t.Context(), u.url, nil)
	must.Do(t, err)
	defer ws.CloseNow()
	ws.SetReadLimit(-1)
	await := func(id string, count int) {
		t.Helper()
		for got := 0; got < count; {
			_, text, err := ws.Read(t.Context())
			must.Do(t, err)
			if strings.Contains(string(text), "localhost") {
				t.Errorf("a response: %.300s", text)
			}
			if strings.HasPrefix(string(text), `{"id":`+id+`,`) {
				got++
			}
		}
	}
	for _, method := range []string{"Target.getTargets", "Storage.getCookies"} {
		for _, before := range []string{method, "Browser.getVersion"} {
			for _, each := range []string{before, method, method} {
				must.Do(t, ws.Write(t.Context(), websocket.MessageText, []byte(`{"id":7,"method":"`+each+`"}`)))
			}
			await("7", 3)
		}
	}
}

// extension puts a frame of its own into each page, as password managers do.
func extension(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for name, text := range map[string]string{
		"manifest.json": `{"manifest_version":3,"name":"vault","version":"1",
			"content_scripts":[{"matches":["<all_urls>"],"js":["content.js"]}],
			"web_accessible_resources":[{"resources":["vault.html"],"matches":["<all_urls>"]}]}`,
		"content.js": `const frame = document.createElement("iframe"); frame.src = chrome.runtime.getURL("vault.html");
			document.documentElement.append(frame)`,
		"vault.html": `<title>vault</title><script src=vault.js></script>`,
		"vault.js":   `parent.postMessage("vault", "*")`,
	} {
		must.Do(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	return folder
}

// A client reaches the frames and workers of its page, but neither the frames of extensions in
// it, nor workers that serve the user's tabs too.
func TestWithinPage(t *testing.T) {
	for name, wait := range map[string]bool{"waiting": true, "not waiting": false} {
		t.Run(name, func(t *testing.T) {
			u := startBehind(t, func(whole browser.Browser) browser.Browser { return whole },
				"--load-extension="+extension(t), "--disable-features=DisableLoadExtensionCommandLineSwitch")
			c := cdptest.Dial(t, u.url)
			session := c.Attach(opened(c, ""))
			c.Call(session, "Target.setAutoAttach",
				fmt.Sprintf(`{"autoAttach":true,"waitForDebuggerOnStart":%v,"flatten":true}`, wait), nil)
			c.Call(session, "Page.navigate", fmt.Sprintf(`{"url":%q}`, u.site+"/all"), nil)
			c.Event(session, "Target.attachedToTarget", `"worker"`)
			var frame struct {
				Session string `json:"sessionId"`
			}
			c.Event(session, "Target.attachedToTarget", `"iframe"`).Decode(t, &frame)
			if got := c.Evaluate(frame.Session, "location.hostname"); got != "localhost" {
				t.Errorf("the frame of the page: %s", got)
			}
			const vault = `new Promise(is => {
				const look = () => window.vault ? is("is here") : setTimeout(look, 10); look() })`
			c.Call(session, "Runtime.evaluate", fmt.Sprintf(`{"awaitPromise":true,"expression":%q}`, vault), nil)
			const registered = `navigator.serviceWorker.ready.then(() => "runs")`
			c.Call(session, "Runtime.evaluate", fmt.Sprintf(`{"awaitPromise":true,"expression":%q}`, registered), nil)
			c.Call(session, "Runtime.evaluate", `{"expression":"1"}`, nil)
			for _, other := range []string{"service_worker", "shared_worker", "chrome-extension:"} {
				if c.Count(session, "Target.attachedToTarget", other) > 0 {
					t.Errorf("the client is attached to a %s", other)
				}
			}
			if n := c.Count(session, "Target.attachedToTarget", `"iframe"`); n != 1 {
				t.Errorf("%d frames", n)
			}
			// A frame that shows an extension's page later.
			c.Call(session, "Runtime.evaluate", `{"expression":"document.querySelector('#frame').src = vault"}`, nil)
			c.Event(session, "Target.detachedFromTarget", frame.Session)
			if m := c.Try(frame.Session, "Runtime.evaluate", `{"expression":"1"}`); m.Error == nil {
				t.Errorf("a frame of an extension: %s", m.Result)
			}
		})
	}
}

// A client that intercepts the requests of its tab gets none for a file that the user opens there.
func TestRequestForAFile(t *testing.T) {
	u := start(t)
	file := filepath.Join(t.TempDir(), "taxes.html")
	must.Do(t, os.WriteFile(file, []byte("<title>taxes</title>"), 0o600))
	c := cdptest.Dial(t, u.url)
	c.Call("", "Target.setDiscoverTargets", `{"discover":true}`, nil)
	tab := opened(c, u.site+"/own")
	session := c.Attach(tab)
	loaded(c, session)
	c.Call(session, "Fetch.enable", `{"patterns":[{"requestStage":"Request"},{"requestStage":"Response"}]}`, nil)
	u.Call(u.Attach(tab), "Page.navigate", fmt.Sprintf(`{"url":%q}`, "file://"+file), nil)
	c.Event("", "Target.targetDestroyed", tab)
	if n := c.Count(session, "Fetch.requestPaused", "taxes"); n > 0 {
		t.Errorf("%d requests", n)
	}
}

// The result of a command that was under way when its tab went out of reach is not the client's.
func TestResultOutOfReach(t *testing.T) {
	u := startBehind(t, func(whole browser.Browser) browser.Browser { return late{whole} })
	tab := u.open(u.site + "/bank")
	users := u.Attach(tab)
	loaded(u.Client, users)
	must.Do(t, u.part.HandOver(tab))
	c := cdptest.Dial(t, u.url)
	c.Call("", "Target.setDiscoverTargets", `{"discover":true}`, nil)
	session := c.Attach(tab)
	c.Call(session, "Runtime.enable", "", nil)
	c.Start(session, "Runtime.evaluate", `{"awaitPromise":true,"expression":"new Promise(is => resolve = is)"}`)
	c.Call(session, "Runtime.evaluate", `{"expression":"1"}`, nil) // the promise is there
	must.Do(t, u.part.TakeBack(tab))
	c.Event("", "Target.targetDestroyed", tab)
	u.Evaluate(users, `resolve("secret"); console.log("secret")`)
	c.Call("", "Browser.getVersion", "", nil)
	for _, m := range c.Messages() {
		if text := string(m.Result) + string(m.Params); strings.Contains(text, "secret") {
			t.Errorf("the client gets %s", text)
		}
	}
}
