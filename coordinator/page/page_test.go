package page

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"browser-coordinator/coordinator/chrome"
	"browser-coordinator/coordinator/page/snapshot"
)

// shared is the only Chromium of this package's tests; each test has its own
// connection and its own page in it.
var shared *chrome.Browser

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	browser, err := launch(chrome.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, "these tests need a browser:", err)
		return 1
	}
	shared = browser
	defer shared.Close(context.Background())
	return m.Run()
}

// launch starts a browser for these tests, with additional options.
func launch(opts chrome.Options) (*chrome.Browser, error) {
	found, err := chrome.Find(chrome.FindOptions{})
	if err != nil {
		return nil, err
	}
	opts.Executable, opts.Headless, opts.Viewport = found.Path, true, "1000x800"
	opts.Args = append(opts.Args, "--disable-gpu", "--site-per-process")
	return chrome.Launch(context.Background(), opts)
}

// useBrowser replaces the shared browser for one test.
func useBrowser(t *testing.T, opts chrome.Options) {
	t.Helper()
	browser, err := launch(opts)
	if err != nil {
		t.Fatal(err)
	}
	before := shared
	shared = browser
	t.Cleanup(func() {
		shared = before
		browser.Close(context.Background())
	})
}

// connect connects to the shared browser.
func connect(t testing.TB) *Browser {
	t.Helper()
	b, err := Connect(t.Context(), shared.URL(), &Options{ActionTimeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// open shows the HTML on a new page, which is closed at the end.
func open(t testing.TB, html string) (*Page, string) {
	t.Helper()
	return serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, html)
	}))
}

// serve opens the site's root. The browser may request an icon at any time, so serve
// handles that: an error would appear among the test's messages.
func serve(t testing.TB, handler http.Handler) (*Page, string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/favicon.ico" {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	p := newPage(t, connect(t))
	if _, err := p.Navigate(t.Context(), server.URL); err != nil {
		t.Fatal(err)
	}
	return p, server.URL
}

func newPage(t testing.TB, b *Browser) *Page {
	t.Helper()
	p, err := b.NewPage(t.Context(), "about:blank")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.ClosePage(context.Background(), p.ID()) })
	return p
}

func outline(t testing.TB, p *Page) string {
	t.Helper()
	s, err := p.Reader().Snapshot(t.Context(), snapshot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s.Text
}

// ref finds the ref on the line of a snapshot that contains the words.
func ref(t testing.TB, text, words string) string {
	t.Helper()
	for line := range strings.Lines(text) {
		if strings.Contains(line, words) {
			if _, rest, ok := strings.Cut(line, "[ref="); ok {
				r, _, _ := strings.Cut(rest, "]")
				return r
			}
		}
	}
	t.Fatalf("no ref for %q in:\n%s", words, text)
	return ""
}

// eval runs a script and returns its JSON.
func eval(t testing.TB, p *Page, script string) string {
	t.Helper()
	v, _, err := p.Evaluate(t.Context(), script, "")
	if err != nil {
		t.Fatal(err)
	}
	return string(v)
}

func contains(t *testing.T, text string, wanted ...string) {
	t.Helper()
	for _, w := range wanted {
		if !strings.Contains(text, w) {
			t.Errorf("%q is missing in:\n%s", w, text)
		}
	}
}

// newClosedPort returns a URL without a listener.
func newClosedPort(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(nil)
	s.Close()
	return s.URL
}
