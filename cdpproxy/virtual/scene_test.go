package virtual_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"browser-coordinator/cdpproxy/virtual"
	"browser-coordinator/internal/cdptest"
)

func TestMain(m *testing.M) { os.Exit(cdptest.Main(m)) }

// scene is a browser, its debugger, and the virtual browser.
type scene struct {
	t       testing.TB
	browser *virtual.Browser
	debug   *jsDebug
	url     string // of the virtual browser
	site    string // of a page with a button
}

// newScene uses a part of the shared browser: a browser context with one blank page.
// Tests with a scene run in parallel.
func newScene(t *testing.T) *scene {
	t.Helper()
	t.Parallel()
	browser, err := virtual.New(slog.New(slog.NewTextHandler(panics{t}, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{t: t, browser: browser, url: browser.URL()}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<title>%s</title><button onclick="pressed()">Press</button>
<script>
console.log("loaded " + location.pathname);
function pressed() {
  document.title = "pressed";
}
</script>`, r.URL.Path)
	}))
	t.Cleanup(site.Close)
	s.site = site.URL
	s.debug = startJSDebug(t, cdptest.BrowserURL(t), s.browser)
	t.Cleanup(func() { s.browser.Close() })
	return s
}

// panics is a log that fails the test when net/http has recovered from a panic.
type panics struct{ t testing.TB }

func (p panics) Write(line []byte) (int, error) {
	if strings.Contains(string(line), "panic") {
		p.t.Errorf("%s", line)
	}
	return len(line), nil
}

// http is the virtual browser's base URL, with its secret.
func (s *scene) http() string {
	base, _, _ := strings.Cut(s.url, "/devtools/")
	return "http" + strings.TrimPrefix(base, "ws")
}

func (s *scene) get(method, path string) (int, string) {
	s.t.Helper()
	return cdptest.Request(s.t, method, s.http()+path)
}

// client connects a client, and returns its session with the only page.
func (s *scene) client() (p *cdptest.Client, session string) {
	s.t.Helper()
	p = cdptest.Dial(s.t, s.url)
	return p, s.attach(p)
}

// attach returns a client's session with the only page.
func (s *scene) attach(p *cdptest.Client) string {
	s.t.Helper()
	return p.Attach(s.debug.only().target)
}

// visit navigates to a path of the site, and waits until it is loaded.
func (s *scene) visit(p *cdptest.Client, session, path string) {
	s.t.Helper()
	p.Call(session, "Page.enable", "", nil)
	loaded := p.Count(session, "Page.loadEventFired", "")
	p.Call(session, "Page.navigate", fmt.Sprintf(`{"url":%q}`, s.site+path), nil)
	p.EventN(session, "Page.loadEventFired", "", loaded+1)
}

// untilCreated waits until a client that discovers targets has received so many
// pages. A page counts again after its connection broke.
func untilCreated(p *cdptest.Client, pages int) { p.EventN("", "Target.targetCreated", "", pages) }
