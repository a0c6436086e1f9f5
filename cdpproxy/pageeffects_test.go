package cdpproxy_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/remote"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/internal/cdptest"
)

// recorder is a listener in front of an endpoint that records the requests.
type recorder struct {
	addr string

	mu      sync.Mutex // guards sent
	sent    strings.Builder
	changes counter // grows with sent
}

func record(t *testing.T, to string) *recorder {
	t.Helper()
	r := new(recorder)
	r.addr = passOn(t, to, r, func() {})
	return r
}

func (r *recorder) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.changes.add()
	return r.sent.Write(b)
}

// forget clears the record.
func (r *recorder) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent.Reset()
}

// request returns the first request for path with a header line, once it has come.
func (r *recorder) request(t *testing.T, path, header string) string {
	t.Helper()
	return r.requestAfter(t, path, header, func() {})
}

// requestAfter is request for one that the browser may choose not to send: again makes it
// choose once more.
func (r *recorder) requestAfter(t *testing.T, path, header string, again func()) string {
	t.Helper()
	for tries := 5; ; {
		r.mu.Lock()
		n := r.changes.count()
		requests := r.sent.String()
		r.mu.Unlock()
		for request := range strings.SplitSeq(requests, "\r\n\r\n") {
			line, headers, _ := strings.Cut(request, "\r\n")
			if _, uri, _ := strings.Cut(line, " "); strings.HasPrefix(uri, path+" ") &&
				strings.Contains("\r\n"+headers+"\r\n", "\r\n"+header+"\r\n") {
				return request
			}
		}
		if r.changes.reaches(n+1, 6*time.Second) {
			continue
		}
		if tries--; tries == 0 {
			t.Fatalf("no request for %s with %s:\n%s", path, header, requests)
		}
		again()
	}
}

// tabOf is a tab of a browser, driven by chromedp.
func tabOf(t *testing.T, url string) context.Context {
	t.Helper()
	ctx, cancel := remote.NewAllocator(testContext(t), url, remote.NoModifyURL)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	return ctx
}

// TestPagesHaveNoEffect: pages in a real browser cause GETs as a hostile site
// would, also ones that look like an address typed by the user. No browser is
// launched for them, and no tab is closed.
func TestPagesHaveNoEffect(t *testing.T) {
	t.Parallel()
	victim := cdptest.Shared(t)
	_, driven := serve(t, newSource(victim.URL()), nil)
	tab := openTab(t, driven)
	closes := "/json/close/" + tab

	var launches counter
	_, launching := serve(t, newSource(""), &cdpproxy.Options{HoldTimeout: cdpproxy.NoHold,
		Demand: func() <-chan struct{} {
			launches.add()
			return nil
		}})
	toDriven, toLaunching := record(t, driven), record(t, launching)
	doors := map[*recorder]string{toDriven: closes, toLaunching: "/json/version"}

	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		io.WriteString(w, "<title>site</title>")
		mode := strings.TrimPrefix(r.URL.Path, "/")
		for door, path := range doors {
			url := "http://" + door.addr + path
			switch mode {
			case "prefetch", "prerender":
				fmt.Fprintf(w, `<script type="speculationrules">{%q: [{"source": "list", "urls": [%q]}]}</script>`, mode,
					url)
			case "elements":
				fmt.Fprintf(w,
					`<link rel=preconnect href=%[1]q><link rel=icon href=%[1]q><link rel=prefetch href=%[1]q><img src=%[1]q>`+
						`<iframe src=%[1]q></iframe><script src=%[1]q></script>`, url)
			}
		}
	}))
	defer site.Close()
	defer site.CloseClientConnections() // Chromium keeps idle ones

	ctx := tabOf(t, victim.URL())
	visit := func(url string) {
		t.Helper()
		if _, err := chromedp.Call(ctx, cdppage.Navigate, cdppage.NavigateParams{URL: url,
			TransitionType: cdppage.TransitionTypeTyped}); err != nil {
			t.Fatal(err)
		}
	}
	// shows returns the text of the page at url.
	shows := func(url string) string {
		t.Helper()
		visit(url)
		text, err := chromedp.Run(ctx,
			chromedp.Evaluate[string](`new Promise((loaded) =>
  document.readyState === "complete" ? loaded() : addEventListener("load", loaded))
  .then(() => document.documentElement.innerText)`, chromedp.EvalAwaitPromise))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for mode, purpose := range map[string]string{"prefetch": "prefetch", "prerender": "prefetch;prerender"} {
		visit(site.URL + "/" + mode)
		for door, path := range doors {
			if request := door.requestAfter(t, path, "Sec-Purpose: "+purpose,
				func() { visit(site.URL + "/" + mode) }); !strings.Contains(request, "Sec-Fetch-Site: none") {
				t.Logf("this browser tells the page's request from a typed one:\n%s", request)
			}
		}
	}
	visit(site.URL + "/elements")
	for door, path := range doors {
		for _, dest := range []string{"image", "iframe", "script"} {
			door.request(t, path, "Sec-Fetch-Dest: "+dest)
		}
	}
	for door, path := range doors {
		want := map[string]string{closes: "a web browser may look at this endpoint, but not change anything",
			"/json/version": "no browser that can be driven"}[path]
		for _, url := range []string{"http://" + door.addr + path, site.URL + "/?to=http://" + door.addr + path} {
			door.forget()
			if text := shows(url); !strings.Contains(text, want) {
				t.Errorf("%s: the user sees %q", url, text)
			}
			door.request(t, path, "Sec-Fetch-Site: none")
		}
		if text := shows("http://" + door.addr + "/"); !strings.Contains(text, "CDP endpoint of this window") {
			t.Errorf("the status page shows %q", text)
		}
	}
	if n := launches.count(); n != 0 {
		t.Errorf("pages had a browser launched %d times", n)
	}
	if _, list := get(t, driven, "/json/list", nil); !strings.Contains(list, tab) {
		t.Error("a page has closed a tab")
	}

	// What a page cannot send has an effect.
	get(t, launching, "/json/version", nil)
	get(t, launching, "/devtools/browser/x", map[string]string{"Connection": "Upgrade", "Upgrade": "websocket",
		"Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "x"})
	if n := launches.count(); n != 2 {
		t.Errorf("two CDP clients had a browser launched %d times", n)
	}
	if status, body := get(t, driven, closes, nil); status != http.StatusOK {
		t.Errorf("a CDP client cannot close a tab: HTTP %d %s", status, body)
	}
}

// TestNoEffectOfBrowsers: a request with any sign of a web browser is read-only and
// is not held. A speculative request is refused. Node's requests are a CDP client's.
func TestNoEffectOfBrowsers(t *testing.T) {
	var launches counter
	demand := func() <-chan struct{} {
		launches.add()
		return nil
	}
	_, empty := serve(t, newSource(""), &cdpproxy.Options{HoldTimeout: time.Hour, Demand: demand})
	fake := startFake(t, "127.0.0.1:0", "fake", nil)
	_, driven := serve(t, newSource(fake.url()), nil)
	for _, headers := range []map[string]string{
		{"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"},
		{"Sec-Fetch-Site": "same-origin"},
		{"Sec-Fetch-Dest": "document"},
		{"Sec-Fetch-Site": "none", "Origin": cdpproxy.DevToolsOrigin},
		{"User-Agent": "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:78.0) Gecko/20100101 Firefox/78.0"},
	} {
		if status, body := get(t, empty, "/json/version", headers); status != http.StatusServiceUnavailable {
			t.Errorf("%v: HTTP %d %s", headers, status, body)
		}
		if status, body := get(t, driven, "/json/version", headers); status != http.StatusOK {
			t.Errorf("%v: HTTP %d %s", headers, status, body)
		}
		before := fake.asked.count()
		for _, command := range []string{"close", "activate", "new"} {
			for _, slash := range []string{"", "/"} {
				if status, body := get(t, driven, "/json/"+command+"/1"+slash+"?x",
					headers); status != http.StatusForbidden ||
					!strings.Contains(body, "any web page could have caused") {
					t.Errorf("%s, %v: HTTP %d %s", command, headers, status, body)
				}
			}
		}
		if after := fake.asked.count(); after != before {
			t.Errorf("%v: the browser was asked %d times", headers, after-before)
		}
	}
	for _, header := range []string{"Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"} {
		for _, path := range []string{"/", "/json/version", "/json/close/1"} {
			if status, body := get(t, driven, path,
				map[string]string{header: "prefetch"}); status != http.StatusForbidden ||
				!strings.Contains(body, "fetches ahead") {
				t.Errorf("%s: HTTP %d %s", header, status, body)
			}
		}
	}
	if n := launches.count(); n != 0 {
		t.Errorf("a browser was launched %d times", n)
	}

	// The fetch of Node sends one of a web browser's headers, but counts as a CDP client.
	node := map[string]string{"User-Agent": "node", "Accept": "*/*", "Accept-Language": "*", "Sec-Fetch-Mode": "cors"}
	_, unheld := serve(t, newSource(""), &cdpproxy.Options{HoldTimeout: cdpproxy.NoHold, Demand: demand})
	get(t, unheld, "/json/version", node)
	if n := launches.count(); n != 1 {
		t.Errorf("for Node a browser was launched %d times", n)
	}
	before := fake.asked.count()
	if status, body := get(t, driven, "/json/close/1", node); strings.Contains(body,
		"any web page could have caused") || fake.asked.count() == before {
		t.Errorf("Node closes a tab: HTTP %d %s", status, body)
	}
}

// TestWebPage: real pages in a real browser try the attacks of a hostile site.
func TestWebPage(t *testing.T) {
	c := cdptest.Shared(t)
	_, addr := serve(t, newSource(c.URL()), nil)
	_, port, _ := net.SplitHostPort(addr)

	ctx := tabOf(t, c.URL())

	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<title>site</title>")
	}))
	defer site.Close()
	defer site.CloseClientConnections() // Chromium keeps idle ones
	if err := chromedp.Do(ctx, chromedp.Navigate(site.URL)); err != nil {
		t.Fatal(err)
	}
	victim := openTab(t, addr)
	script := `(async () => {
		const out = {};
		const base = "http://` + addr + `";
		try { out.fetch = await (await fetch(base + "/json/version")).text(); } catch (e) { out.fetch = e.name; }
		const close = base + "/json/close/` + victim + `";
		try { await fetch(close, {mode: "no-cors"}); out.close = "sent"; } catch (e) { out.close = e.name; }
		out.image = await new Promise(r => {
			const i = new Image(); i.onload = i.onerror = e => r(e.type); i.src = close; });
		out.ws = await new Promise(r => {
			const w = new WebSocket("ws://` + addr + `/devtools/browser/x");
			w.onopen = () => r("open"); w.onerror = () => r("error"); });
		return JSON.stringify(out);
	})()`
	got, err := chromedp.Run(ctx, chromedp.Evaluate[string](script, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"fetch":"TypeError","close":"sent","image":"error","ws":"error"}`; got != want {
		t.Errorf("a page got %s, want %s", got, want)
	}
	if _, body := get(t, addr, "/json/list", nil); !strings.Contains(body, victim) {
		t.Error("a page has closed a tab")
	}

	// The name rebound.test resolves to 127.0.0.1 in this browser.
	if err := chromedp.Do(ctx, chromedp.Navigate("http://rebound.test:"+port+"/json/version")); err != nil {
		t.Fatal(err)
	}
	got, err = chromedp.Run(ctx, chromedp.Evaluate[string]("document.body.innerText"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(got, `Host "rebound.test:`) || strings.Contains(got, "devtools/browser") {
		t.Errorf("a rebound name got %q", got)
	}
}

// TestExtension: the worker of an extension with access to every site tries what
// Origin does not show.
func TestExtension(t *testing.T) {
	t.Parallel()
	reported := make(chan string, 1)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost {
			return // from a stopped worker, or Chromium's own
		}
		select {
		case reported <- string(body):
		default: // the worker was started twice
		}
	}))
	defer site.Close()
	defer site.CloseClientConnections() // Chromium keeps idle ones
	_, addr := serve(t, newSource(cdptest.BrowserURL(t)), nil)
	id := openTab(t, addr)

	dir := t.TempDir()
	for name, text := range map[string]string{
		"manifest.json": `{"manifest_version": 3, "name": "driver", "version": "1", ` +
			`"background": {"service_worker": "worker.js"}, "host_permissions": ["<all_urls>"]}`,
		"worker.js": `(async () => {
			let out = "";
			for (const mode of ["cors", "no-cors"])
				for (const path of ["/json/version", "/json/close/` + id + `"])
					try {
						const r = await fetch("http://` + addr + `" + path, {mode});
						out += r.status + " " + await r.text() + "\n";
					} catch (e) { out += e.name + "\n"; }
			await fetch("` + site.URL + `", {method: "POST", body: out});
		})()`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cdptest.Launch(t, "--load-extension="+dir)
	select {
	case got := <-reported:
		if strings.Count(got, "an extension (Sec-Fetch-Site") != 4 || strings.Contains(got, "webSocketDebuggerUrl") {
			t.Errorf("an extension got %s", got)
		}
	case <-testContext(t).Done():
		t.Fatal("the extension reported nothing")
	}
	if _, body := get(t, addr, "/json/list", nil); !strings.Contains(body, id) {
		t.Error("an extension has closed a tab")
	}
}
