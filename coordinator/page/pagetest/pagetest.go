// Package pagetest provides the tests of a page's capabilities with a real browser, and
// with pages that show the test's content.
package pagetest

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
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/snapshot"
)

// shared is the only browser of a test program; each test has its own connection and
// its own page in it.
var shared *chrome.Browser

// Main runs the tests of a package with a browser, and returns the exit code.
func Main(m *testing.M) int {
	found, err := chrome.Find(chrome.FindOptions{})
	if err == nil {
		shared, err = chrome.Launch(context.Background(), chrome.Options{
			Executable: found.Path, Headless: true, Viewport: "1000x800", Args: []string{"--disable-gpu", "--site-per-process"},
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "these tests need a browser:", err)
		return 1
	}
	defer shared.Close(context.Background())
	return m.Run()
}

// Connect returns a connection to the shared browser.
func Connect(t testing.TB) *page.Browser {
	t.Helper()
	b, err := page.Connect(t.Context(), shared.URL(), &page.Options{ActionTimeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// NewPage returns a new page, which is closed at the end of the test.
func NewPage(t testing.TB, b *page.Browser) *page.Page {
	t.Helper()
	p, err := b.NewPage(t.Context(), "about:blank")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.ClosePage(context.Background(), p.ID()) })
	return p
}

// Open shows the HTML on a new page.
func Open(t testing.TB, html string) (b *page.Browser, p *page.Page, url string) {
	t.Helper()
	return Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, html)
	}))
}

// Serve shows the root of a site on a new page. The browser may request an icon at any
// time, so Serve handles that: an error would appear among the test's messages.
func Serve(t testing.TB, handler http.Handler) (b *page.Browser, p *page.Page, url string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/favicon.ico" {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	b = Connect(t)
	p = NewPage(t, b)
	if _, err := p.Navigate(t.Context(), server.URL); err != nil {
		t.Fatal(err)
	}
	return b, p, server.URL
}

// Evaluate runs a script and returns its JSON.
func Evaluate(t testing.TB, p *page.Page, script string) string {
	t.Helper()
	v, _, err := p.Evaluate(t.Context(), script, "")
	if err != nil {
		t.Fatal(err)
	}
	return string(v)
}

// Snapshot returns the text of a snapshot of the page.
func Snapshot(t testing.TB, p *page.Page) string {
	t.Helper()
	s, err := p.Reader().Snapshot(t.Context(), snapshot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s.Text
}

// Ref finds the ref on the line of a snapshot that contains the words.
func Ref(t testing.TB, text, words string) string {
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

// Contains fails the test for each wanted text that the text lacks.
func Contains(t testing.TB, text string, wanted ...string) {
	t.Helper()
	for _, w := range wanted {
		if !strings.Contains(text, w) {
			t.Errorf("%q is missing in:\n%s", w, text)
		}
	}
}
