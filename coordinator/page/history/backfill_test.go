package history_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/pagetest"
)

// slowServer delays its responses until the gate opens.
type slowServer struct {
	url     string
	reached chan string // the path of each delayed request
	gate    chan struct{}
}

// serveSlowly serves the texts by path. It delays paths that begin with /slow. For
// /slow/half, it sends a part before; /slow/fail is cut off.
func serveSlowly(t *testing.T, texts map[string]string) *slowServer {
	t.Helper()
	s := &slowServer{reached: make(chan string, 100), gate: make(chan struct{})}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kind := "text/html"
		switch {
		case strings.HasSuffix(r.URL.Path, ".js"):
			kind = "text/javascript"
		case strings.HasSuffix(r.URL.Path, ".svg"):
			kind = "image/svg+xml"
		}
		w.Header().Set("Content-Type", kind)
		if strings.HasPrefix(r.URL.Path, "/slow/half") {
			fmt.Fprint(w, strings.Repeat(" ", 5000))
			w.(http.Flusher).Flush()
		}
		if strings.HasPrefix(r.URL.Path, "/slow") {
			s.reached <- r.URL.Path
			select {
			case <-s.gate:
			case <-r.Context().Done():
			}
		}
		switch {
		case r.URL.Path == "/slow/fail":
			panic(http.ErrAbortHandler)
		case r.URL.Path == "/slow/old.js":
			http.Redirect(w, r, "/new.js", http.StatusFound)
			return
		}
		_, port, _ := strings.Cut(r.Host, ":")
		_, _ = io.WriteString(w, strings.ReplaceAll(texts[r.URL.Path], "PORT", port))
	}))
	s.url = server.URL
	t.Cleanup(server.Close)
	return s
}

// listed returns the requests of a page, one per line, without icons.
func listed(t *testing.T, p *page.Page, site string) []string {
	t.Helper()
	var lines []string
	for _, r := range p.History().Network.Requests(t.Context()) {
		if strings.HasSuffix(r.URL, "/favicon.ico") {
			continue
		}
		outcome := fmt.Sprint(r.Status)
		if r.Failed != "" {
			outcome = r.Failed
		}
		if !r.Done {
			outcome += " so far"
		}
		lines = append(lines, fmt.Sprintf("%s %s %s %s", r.Method, strings.TrimPrefix(r.URL, site), r.Type, outcome))
	}
	return lines
}

// untilListed waits until the page's requests are exactly these, in any order.
func untilListed(t *testing.T, p *page.Page, site string, want ...string) {
	t.Helper()
	slices.Sort(want)
	must.Await(t, strings.Join(want, "\n"), func() bool {
		lines := listed(t, p, site)
		slices.Sort(lines)
		return slices.Equal(lines, want)
	})
}

// Requests that are under way during an attachment: whichever part events report, each is
// listed once, with its result.
func TestRequestsUnderWay(t *testing.T) {
	t.Parallel()
	const start = `<!doctype html><title>Here</title>`
	for _, test := range []struct {
		name, html string
		held       int
		wanted     []string
		body       string // of the last request
	}{
		{"script", `<script async src=/slow/app.js></script>`, 1, []string{"GET /slow/app.js script 200"}, "here = 1"},
		{"image", `<img src=/slow/image.svg>`, 1, []string{"GET /slow/image.svg image 200"}, ""},
		{"fetch", `<script>fetch("/slow/data", { method: "POST" }).then((r) => r.text())</script>`,
			1, []string{" /slow/data fetch 200"}, ""},
		{"fetch whose answer has begun", `<script>fetch("/slow/half").then((r) => r.text())</script>`,
			1, []string{" /slow/half fetch 200"}, ""},
		{"fetch that fails", `<script>fetch("/slow/fail").catch(() => 0)</script>`,
			1, []string{" /slow/fail fetch net::ERR_EMPTY_RESPONSE"}, ""},
		{"redirect", `<script async src=/slow/old.js></script>`,
			1, []string{"GET /slow/old.js script 302", "GET /new.js script 200"}, "here = 2"},
		{"frame of another site", `<iframe src="http://localhost:PORT/slow/frame"></iframe>`, 1,
			[]string{"GET http://localhost:PORT/slow/frame document 200", "GET http://localhost:PORT/new.js script 200"}, ""},
		{"several", `<script async src=/slow/app.js></script><img src=/slow/image.svg><img src=/done.svg>` +
			`<script>fetch("/slow/half").then((r) => r.text())</script>`, 3,
			[]string{"GET /slow/app.js script 200", "GET /slow/image.svg image 200", "GET /done.svg image 200",
				" /slow/half fetch 200"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			site := serveSlowly(t, map[string]string{
				"/": start + test.html, "/slow/app.js": "here = 1", "/new.js": "here = 2", "/slow/data": "some data",
				"/slow/frame":     `<script src=/new.js></script>`,
				"/slow/image.svg": `<svg xmlns="http://www.w3.org/2000/svg"/>`,
				"/done.svg":       `<svg xmlns="http://www.w3.org/2000/svg"/>`,
			})
			user := pagetest.NewPage(t, pagetest.Connect(t))
			if _, err := user.Session().Start(t.Context(), "Page.navigate", map[string]any{"url": site.url}); err != nil {
				t.Fatal(err)
			}
			for range test.held {
				<-site.reached
			}
			p := pagetest.Attach(t, user)
			if lines := listed(t, p, site.url); !slices.Contains(lines, "GET / document 200") {
				t.Errorf("before the answers: %q", lines)
			}
			close(site.gate)
			want := []string{"GET / document 200"}
			for _, w := range test.wanted {
				want = append(want, strings.ReplaceAll(w, "PORT", site.url[strings.LastIndex(site.url, ":")+1:]))
			}
			untilListed(t, p, site.url, want...)
			requests := p.History().Network.Requests(t.Context())
			for i, r := range requests {
				if r.Seq != int64(i+1) || r.Duration < 0 || time.Since(r.Started) > time.Minute || time.Since(r.Started) < 0 {
					t.Errorf("request %d is number %d, began %v and took %v", i+1, r.Seq, r.Started, r.Duration)
				}
				line := fmt.Sprintf("%s %s 200", strings.TrimPrefix(r.URL, site.url), r.Type)
				if test.body == "" || !strings.HasSuffix(test.wanted[len(test.wanted)-1], line) {
					continue
				}
				if d, err := p.History().Network.Request(t.Context(), r.Seq); err != nil || string(d.ResponseBody) != test.body {
					t.Errorf("the body of %s is %q (%s) %v", r.URL, d.ResponseBody, d.BodyNote, err)
				}
			}
		})
	}
}

// A document that is under way itself, before its response and in the middle of it.
func TestDocumentUnderWay(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/slow/document", "/slow/half"} {
		t.Run(path, func(t *testing.T) {
			site := serveSlowly(t, map[string]string{path: `<!doctype html>
<script>console.log("early")</script><script src=/app.js></script>`})
			user := pagetest.NewPage(t, pagetest.Connect(t))
			if _, err := user.Session().Start(t.Context(), "Page.navigate", map[string]any{"url": site.url + path}); err != nil {
				t.Fatal(err)
			}
			<-site.reached
			p := pagetest.Attach(t, user)
			close(site.gate)
			untilListed(t, p, site.url, "GET "+path+" document 200", "GET /app.js script 200")
			if messages := p.History().Console.Messages("info"); len(messages) != 1 || messages[0].Text != "early" {
				t.Errorf("the console: %+v", messages)
			}
		})
	}
}

// The past requests of a page are read later if the page could not report them at once.
func TestPastBehindADialog(t *testing.T) {
	t.Parallel()
	user, url := pagetest.Open(t, `<!doctype html>
<script>onload = () => setTimeout(() => alert("first"))</script><img src=/image.svg>`)
	must.Await(t, "a dialog", func() bool { return user.Dialog() != nil })
	p, err := pagetest.ConnectWith(t, &page.Options{CallTimeout: 3 * time.Second}).Page(t.Context(), user.ID())
	if err != nil {
		t.Fatal(err)
	}
	if lines := listed(t, p, url); len(lines) != 0 {
		t.Errorf("behind the dialog: %q", lines)
	}
	if _, err := user.HandleDialog(t.Context(), true, ""); err != nil {
		t.Fatal(err)
	}
	untilListed(t, p, url, "GET / document 200", "GET /image.svg image 200")
}

// Frames of other sites and workers, of a page that is attached from the start: all their
// requests are listed and end.
func TestRequestsOfFramesAndWorkers(t *testing.T) {
	t.Parallel()
	site := serveSlowly(t, map[string]string{
		"/": `<!doctype html><iframe src="http://localhost:PORT/frame"></iframe>` +
			`<script>new Worker("/worker.js")</script>`,
		"/frame":     `<!doctype html><script src=/frame.js></script>`,
		"/worker.js": `importScripts("/part.js"); fetch("/data").then((r) => r.text())`,
		"/data":      "data",
	})
	p := pagetest.NewPage(t, pagetest.Connect(t))
	pagetest.Navigate(t, p, site.url)
	pagetest.WaitFor(t, p, page.WaitOptions{Idle: true, Timeout: 15 * time.Second})
	// On a busy machine the document lists a worker's script later.
	must.Await(t, "each request, once and with its response", func() bool {
		wanted := map[string]string{"/": "document", "/frame": "document",
			"/frame.js": "script", "/worker.js": "script", "/part.js": "", "/data": ""}
		for _, r := range p.History().Network.Requests(t.Context()) {
			path := r.URL[strings.LastIndex(r.URL, "/"):]
			if path == "/favicon.ico" {
				continue
			}
			if kind, ok := wanted[path]; !ok || r.Status != 200 || !r.Done || r.Failed != "" || kind != "" && r.Type != kind {
				return false
			}
			delete(wanted, path)
		}
		return len(wanted) == 0
	})
}

// The requests of a window that the page opens are listed from the first one on. The test
// is not parallel: a tab of another test counts as opened too.
func TestPopup(t *testing.T) {
	for name, link := range map[string]string{
		"script":    `<button onclick="window.open('/popup')">Open</button>`,
		"link":      `<a href=/popup target=_blank>Open</a>`,
		"of a site": `<a href="http://localhost:PORT/popup" target=_blank>Open</a>`,
		"form":      `<form action=/popup target=_blank><button>Open</button></form>`,
	} {
		for _, recorded := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, recorded %v", name, recorded), func(t *testing.T) {
				site := serveSlowly(t, map[string]string{
					"/":      "<!doctype html>" + link,
					"/popup": `<!doctype html><script>console.warn("early")</script><script src=/app.js></script>`,
				})
				b := pagetest.ConnectWith(t, &page.Options{Record: recorded})
				p := pagetest.NewPage(t, b)
				pagetest.Navigate(t, p, site.url)
				c, err := p.Act(t.Context(), p.Input().Click("button, a", input.ClickOptions{}))
				if err != nil || len(c.Tabs.Open) != 1 {
					t.Fatalf("%+v %v", c, err)
				}
				popup, err := b.Page(t.Context(), c.Tabs.Open[0].ID)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = b.ClosePage(context.Background(), popup.ID()) })
				pagetest.WaitFor(t, popup, page.WaitOptions{Idle: true})
				lines := listed(t, popup, popup.URL()[:strings.LastIndex(popup.URL(), "/")])
				if len(lines) != 2 ||
					strings.TrimSuffix(lines[0], "?") != "GET /popup document 200" &&
						!strings.HasPrefix(lines[0], "GET /popup? document 200") ||
					lines[1] != "GET /app.js script 200" {
					t.Errorf("the requests: %q", lines)
				}
				if messages := popup.History().Console.Messages("warning"); len(messages) != 1 || messages[0].Text != "early" {
					t.Errorf("the console: %+v", messages)
				}
			})
		}
	}
}

// Past requests of the page and its frames are read in an isolated world, which the page
// can neither manipulate nor detect. A worker has one world only.
func TestPastIsReadUnseen(t *testing.T) {
	t.Parallel()
	const patch = `const real = performance.getEntriesByType.bind(performance), asked = [];
Performance.prototype.getEntriesByType = performance.getEntriesByType = (kind) => {
  asked.push(kind); return real(kind).map((e) => ({ ...e.toJSON(), name: "http://lie.example/" })); };
JSON.stringify = () => { asked.push("stringify"); return "lie"; };
`
	site := serveSlowly(t, map[string]string{
		"/": `<!doctype html><script>` + patch + `</script><script src=/app.js></script>` +
			`<iframe src="http://localhost:PORT/frame"></iframe><script>worker = new Worker("/worker.js")</script>`,
		"/app.js":    "here = 1",
		"/frame":     `<!doctype html><script>` + patch + `</script><script src=/app.js></script>`,
		"/worker.js": `performance.getEntriesByType = () => { throw 0 }; fetch("/data").then((r) => r.text())`,
		"/data":      "data",
	})
	user := pagetest.NewPage(t, pagetest.Connect(t))
	pagetest.Navigate(t, user, site.url)
	pagetest.WaitFor(t, user, page.WaitOptions{Idle: true, Timeout: 15 * time.Second})
	p := pagetest.Attach(t, user)
	other := strings.Replace(site.url, "127.0.0.1", "http://localhost", 1)[len("http://"):]
	untilListed(t, p, site.url, "GET / document 200", "GET /app.js script 200", " /worker.js other 200",
		"GET "+other+"/frame document 200", "GET "+other+"/app.js script 200")
	if count := pagetest.Evaluate(t, p, "asked.length"); count != "0" {
		t.Errorf("the page was asked %s times", count)
	}
}

// A page whose responses come from a service worker: the network log lists them, with
// bodies from the second on, and snapshots show the current page.
func TestServiceWorker(t *testing.T) {
	t.Parallel()
	p, url := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/worker.js":
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, `oninstall = () => skipWaiting(); onactivate = (e) => e.waitUntil(clients.claim());
onfetch = (e) => {
  if (e.request.url.includes('/made')) e.respondWith(new Response('made by the worker', { status: 203 })) }`)
		case "/made":
			t.Error("the server was asked")
		default:
			fmt.Fprint(w, `<!doctype html><p id=out>Nothing</p><script>
navigator.serviceWorker.register('/worker.js');
navigator.serviceWorker.ready.then(() =>
  navigator.serviceWorker.controller || new Promise((r) => navigator.serviceWorker.oncontrollerchange = r))
.then(() => fetch('/made?first')).then((r) => r.text()).then((text) => out.textContent = text)</script>`)
		}
	}))
	pagetest.WaitFor(t, p, page.WaitOptions{Text: "made by the worker"})
	pagetest.Contains(t, pagetest.Snapshot(t, p), "made by the worker")
	// The first body from a worker is lost (see keepWorkersBodies in history/requests.go).
	pagetest.Expect(t, p, "() => fetch('/made').then((r) => r.text())", `"made by the worker"`)
	for _, r := range p.History().Network.Requests(t.Context()) {
		if r.URL == url+"/made" {
			d, err := p.History().Network.Request(t.Context(), r.Seq)
			if err != nil || d.Status != 203 || string(d.ResponseBody) != "made by the worker" {
				t.Errorf("%+v %v", d, err)
			}
			return
		}
	}
	t.Errorf("the request is not in the log: %+v", p.History().Network.Requests(t.Context()))
}
