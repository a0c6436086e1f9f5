package routing_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/emulation"
	"browser-coordinator/coordinator/page/routing"
	"browser-coordinator/internal/pagetest"
)

func TestMain(m *testing.M) { os.Exit(pagetest.Main(m)) }

// requests are those that a server has received.
type requests struct {
	mu    sync.Mutex
	lines []string
}

func (a *requests) add(r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lines = append(a.lines, fmt.Sprintf("%s %s %s %s", r.Method, r.URL.Path, r.Header.Get("X-Added"), body))
}

func (a *requests) has(line string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, l := range a.lines {
		if strings.Contains(l, line) {
			return true
		}
	}
	return false
}

func routedSite(a *requests) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.add(r)
		other := "http://" + strings.Replace(r.Host, "127.0.0.1", "localhost", 1)
		switch r.URL.Path {
		case "/":
			io.WriteString(w, "<!doctype html><title>routes</title>"+getScript)
		case "/inner":
			io.WriteString(w, `<!doctype html>
<script src="/lib.js"></script><script>parent.postMessage(typeof lib === "undefined" ? "none" : lib, "*")</script>`)
		case "/lib.js":
			w.Header().Set("Content-Type", "text/javascript")
			io.WriteString(w, `lib = "the server's"`)
		case "/worker.js":
			w.Header().Set("Content-Type", "text/javascript")
			io.WriteString(w, `fetch("/api/item").then((r) => r.text()).then(postMessage, (e) => postMessage("failed"))`)
		case "/moved":
			http.Redirect(w, r, "/api/item", http.StatusFound)
		case "/away":
			http.Redirect(w, r, other+"/inner", http.StatusFound)
		case "/sw.js":
			w.Header().Set("Content-Type", "text/javascript")
			io.WriteString(w, `onactivate = (e) => e.waitUntil(clients.claim());
				onfetch = (e) => { if (e.request.url.endsWith("/api/item")) e.respondWith(new Response("the service worker's")) }`)
		case "/api/item":
			w.Header().Set("X-Server", "real")
			io.WriteString(w, "a real item")
		}
	})
}

// getScript is the page's get: status, header and body of a response as one text.
const getScript = `<script>async function get(path, init) {
	try {
		const r = await fetch(path, init)
		return r.status + " " + (r.headers.get("X-Server") ?? "") + " " + await r.text()
	} catch { return "failed" }
}</script>`

func get(t *testing.T, p *page.Page, path string) string {
	t.Helper()
	return strings.Trim(pagetest.Evaluate(t, p, fmt.Sprintf("get(%q)", path)), `"`)
}

func expectGet(t *testing.T, description string, p *page.Page, path, want string) {
	t.Helper()
	if got := get(t, p, path); got != want {
		t.Errorf("%s: %s, want %s", description, got, want)
	}
}

func expectFramed(t *testing.T, description string, p *page.Page, url, want string) {
	t.Helper()
	if got := framed(t, p, url); got != want {
		t.Errorf("%s: %s, want %s", description, got, want)
	}
}

// framed shows a URL in a frame and returns the message that it posts.
func framed(t *testing.T, p *page.Page, url string) string {
	t.Helper()
	return pagetest.Evaluate(t, p, fmt.Sprintf(`new Promise((done) => { onmessage = (e) => done(e.data);
		const f = document.createElement("iframe"); f.src = %q; document.body.append(f) })`, url))
}

func mustRoute(t *testing.T, b *page.Browser, r routing.Route) {
	t.Helper()
	if err := b.Routing().Add(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	var a requests
	b := pagetest.Connect(t)
	p, url := pagetest.ServeIn(t, b, routedSite(&a))
	other := strings.Replace(url, "127.0.0.1", "localhost", 1)
	expectGet(t, "without a route", p, "/api/item", "200 real a real item")
	body := `{"mocked":true}`
	mustRoute(t, b, routing.Route{Pattern: "/api/*", Status: 201, Body: &body, ContentType: "application/json",
		Headers: []routing.Header{{"X-Server", "none"}}})
	if got := get(t, p, "/api/item"); got != `201 none {\"mocked\":true}` {
		t.Errorf("answered: %s", got)
	}
	if got := get(t, p, other+"/api/item"); !strings.Contains(got, "mocked") {
		t.Errorf("another origin's: %s", got)
	}
	put := fmt.Sprintf("get(%q, {method: 'PUT', headers: {'X-Own': '1'}, credentials: 'include'})", other+"/api/item")
	if got := pagetest.Evaluate(t, p, put); !strings.Contains(got, "mocked") {
		t.Errorf("another origin's, with a preflight: %s", got)
	}
	if got := get(t, p, "/moved"); !strings.Contains(got, "mocked") {
		t.Errorf("what a redirect leads to: %s", got)
	}
	inWorker := `new Promise((done) => { new Worker("/worker.js").onmessage = (e) => done(e.data) })`
	if got := pagetest.Evaluate(t, p, inWorker); !strings.Contains(got, "mocked") {
		t.Errorf("in a worker: %s", got)
	}

	// The last route is checked first, and is removed after its last use.
	mustRoute(t, b, routing.Route{Pattern: "**/item", Abort: "connectionrefused", Times: 1})
	if len(b.Routing().Routes()) != 2 {
		t.Errorf("routes %+v", b.Routing().Routes())
	}
	expectGet(t, "aborted", p, "/api/item", "failed")
	if got := get(t, p, "/api/item"); !strings.Contains(got, "mocked") {
		t.Errorf("after the one time: %s", got)
	}
	if n, err := b.Routing().RemoveRoutes(t.Context(), "/api/*"); n != 1 || err != nil {
		t.Errorf("unroute: %d %v", n, err)
	}
	expectGet(t, "after unroute", p, "/api/item", "200 real a real item")
	if n, err := b.Routing().RemoveRoutes(t.Context(), ""); n != 1 || err != nil {
		t.Errorf("unroute all: %d %v", n, err)
	}
	if len(b.Routing().Routes()) != 0 {
		t.Errorf("routes %+v", b.Routing().Routes())
	}
}

func TestRoutesInFrames(t *testing.T) {
	t.Parallel()
	var a requests
	b := pagetest.Connect(t)
	p, url := pagetest.ServeIn(t, b, routedSite(&a))
	other := strings.Replace(url, "127.0.0.1", "localhost", 1)
	expectFramed(t, "without a route", p, other+"/inner", `"the server's"`)
	script := "lib = 'mocked'"
	mustRoute(t, b, routing.Route{Pattern: "**/lib.js", Body: &script, ContentType: "text/javascript"})
	for name, address := range map[string]string{"same origin": "/inner", "other process": other + "/inner",
		"by a redirect": "/away"} {
		if got := framed(t, p, address); got != `"mocked"` {
			t.Errorf("%s: %s", name, got)
		}
	}
	// A frame that existed before, and a page that opens later.
	if got := pagetest.Evaluate(t, p, `new Promise((done) => { onmessage = (e) => done(e.data);
		document.querySelector("iframe").src += "?again" })`); got != `"mocked"` {
		t.Errorf("an old frame: %s", got)
	}
	later := pagetest.NewPage(t, b)
	pagetest.Navigate(t, later, url)
	expectFramed(t, "a page that was opened later", later, other+"/inner", `"mocked"`)
	if _, err := b.Routing().RemoveRoutes(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	expectFramed(t, "after unroute", p, other+"/inner?last", `"the server's"`)
}

func TestRoutesChange(t *testing.T) {
	t.Parallel()
	var a requests
	b := pagetest.Connect(t)
	p, _ := pagetest.ServeIn(t, b, routedSite(&a))
	body := "another"
	mustRoute(t, b, routing.Route{Pattern: "**/item", Status: 418, Body: &body,
		Headers: []routing.Header{{"X-Server", "changed"}}})
	expectGet(t, "an answer, across a redirect", p, "/moved", "418 changed another")
	mustRoute(t, b, routing.Route{Pattern: "**/post", Headers: []routing.Header{{"X-Added", "yes"}}})
	pagetest.Evaluate(t, p, "get('/post', {method: 'POST', body: 'first'})")
	if !a.has("POST /post yes first") {
		t.Errorf("the server received %q", a.lines)
	}
	for _, wrong := range []routing.Route{{}, {Pattern: "**", Abort: "boredom"}, {Pattern: "**", Status: 1000},
		{Pattern: "{"}, {Pattern: "**", Times: -1}} {
		if err := b.Routing().Add(t.Context(), wrong); err == nil {
			t.Errorf("%+v is accepted", wrong)
		}
	}
	if len(b.Routing().Routes()) != 2 {
		t.Errorf("routes %+v", b.Routing().Routes())
	}
}

// A service worker does not respond to requests with a route, and responds again when
// the route is removed.
func TestRoutesBeforeServiceWorkers(t *testing.T) {
	t.Parallel()
	var a requests
	b := pagetest.Connect(t)
	p, _ := pagetest.ServeIn(t, b, routedSite(&a))
	pagetest.Evaluate(t, p, `new Promise((done) => {
  navigator.serviceWorker.oncontrollerchange = () => done(1); navigator.serviceWorker.register("/sw.js") })`)
	expectGet(t, "without a route", p, "/api/item", "200  the service worker's")
	body := "mocked"
	mustRoute(t, b, routing.Route{Pattern: "/api/*", Body: &body})
	expectGet(t, "with a route", p, "/api/item", "200  mocked")
	if _, err := b.Routing().RemoveRoutes(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	expectGet(t, "after the route", p, "/api/item", "200  the service worker's")
}

func TestOffline(t *testing.T) {
	t.Parallel()
	var a requests
	b := pagetest.Connect(t)
	p, url := pagetest.ServeIn(t, b, routedSite(&a))
	if err := b.Routing().SetOffline(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	expectGet(t, "offline", p, "/api/item", "failed")
	pagetest.Expect(t, p, "navigator.onLine", "false")
	visited := pagetest.NewPage(t, pagetest.Connect(t))
	pagetest.Navigate(t, visited, url)
	expectGet(t, "another connection's page", visited, "/api/item", "200 real a real item")
	if err := b.Routing().SetOffline(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	expectGet(t, "online again", p, "/api/item", "200 real a real item")
}

// A slow network and offline mode are independent: neither a route nor an emulation ends
// offline mode, and the slow network applies again afterwards.
func TestOfflineAndEmulation(t *testing.T) {
	t.Parallel()
	var a requests
	b := pagetest.Connect(t)
	p, _ := pagetest.ServeIn(t, b, routedSite(&a))
	took := func() float64 {
		t.Helper()
		var ms float64
		took := pagetest.Evaluate(t, p, `(async () => { const t = performance.now();
			await get("/api/item"); return performance.now() - t })().then((ms) => ms)`)
		if err := json.Unmarshal([]byte(took), &ms); err != nil {
			t.Fatal(err)
		}
		return ms
	}
	if _, err := p.Emulate(t.Context(), emulation.Settings{Network: "fast 3g"}); err != nil {
		t.Fatal(err)
	}
	if err := b.Routing().SetOffline(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	mustRoute(t, b, routing.Route{Pattern: "**/nothing", Abort: "failed"})
	if _, err := p.Emulate(t.Context(), emulation.Settings{Network: "fast 3g"}); err != nil {
		t.Fatal(err)
	}
	expectGet(t, "offline", p, "/api/item", "failed")
	if err := b.Routing().SetOffline(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if ms := took(); ms < 500 {
		t.Errorf("the slow network answers in %v ms", ms)
	}
}
