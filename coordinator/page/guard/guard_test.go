package guard_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/guard"
	"browser-coordinator/internal/pagetest"
)

func TestMain(m *testing.M) { os.Exit(pagetest.Main(m)) }

// bounded is a page with a forbidden server, whose document it has shown before the
// bounds were set.
func bounded(t *testing.T) (b *page.Browser, p *page.Page, allowed, forbidden string, restored chan string) {
	t.Helper()
	restored = make(chan string, 20)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/restored", "/from-network":
			restored <- r.URL.Path
		case "/sw.js":
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, `onfetch = e => e.respondWith(new Response("<title>Forbidden</title>forbidden fruit", {
  headers: {"Content-Type": "text/html"}}));
oninstall = () => skipWaiting(); onactivate = e => e.waitUntil(clients.claim())`)
			return
		}
		fmt.Fprint(w, `<title>Forbidden</title>forbidden fruit<script>onpageshow = e => {
  if (e.persisted) navigator.sendBeacon("/restored") }</script>`)
	}))
	t.Cleanup(other.Close)
	b = pagetest.Connect(t)
	p, allowed = pagetest.ServeIn(t, b, pagetest.HTML("<title>Allowed</title>allowed"))
	for _, address := range []string{other.URL, allowed} {
		pagetest.Navigate(t, p, address)
	}
	return b, p, allowed, other.URL, restored
}

// bind forbids the page all URLs of the forbidden server.
func bind(t *testing.T, p *page.Page, forbidden string) {
	t.Helper()
	if err := p.Guard().Limit(t.Context(), guard.Bounds{Open: func(address string) error {
		if strings.Contains(address, strings.TrimPrefix(forbidden, "http://")) {
			return &guard.LimitError{Text: address + " is not allowed: the test forbids it"}
		}
		return nil
	}}); err != nil {
		t.Fatal(err)
	}
}

// leaves waits until the page has left a document that is refused.
func leaves(t *testing.T, p *page.Page) {
	t.Helper()
	watcher := pagetest.Attach(t, p)
	blank := page.WaitOptions{URL: "about:blank", Timeout: 20 * time.Second}
	if _, err := watcher.WaitFor(t.Context(), blank); err != nil {
		t.Fatalf("the page shows %s: %v", p.URL(), err)
	}
}

// The bounds also apply to a page from the history, although no request is paused for it:
// nothing of it can be read, and the page leaves it.
func TestHistoryStaysWithinBounds(t *testing.T) {
	t.Parallel()
	t.Run("the agent goes back", func(t *testing.T) {
		_, p, allowed, forbidden, _ := bounded(t)
		bind(t, p, forbidden)
		if c, err := p.Traverse(t.Context(), true); !errors.As(err, new(*guard.LimitError)) {
			t.Errorf("back: %+v %v", c, err)
		}
		if !strings.HasPrefix(p.URL(), allowed) {
			t.Errorf("the page shows %s", p.URL())
		}
	})
	t.Run("a script goes back", func(t *testing.T) {
		_, p, _, forbidden, restored := bounded(t)
		bind(t, p, forbidden)
		value, change, err := p.Evaluate(t.Context(), "() => { history.back(); "+
			"return new Promise(() => {}) }", "", page.Bounds{})
		if !errors.As(errors.Join(err, change.Refused), new(*guard.LimitError)) ||
			strings.Contains(string(value)+change.Title, "orbidden") {
			t.Errorf("%s %+v %v", value, change, err)
		}
		leaves(t, p)
		if text := pagetest.Snapshot(t, p); strings.Contains(text, "forbidden") {
			t.Errorf("it is shown: %s", text)
		}
		select { // otherwise the browser has requested it again, and the test does not apply
		case <-restored:
		case <-time.After(time.Minute):
			t.Error("the page was not restored from the history")
		}
	})
	t.Run("the user goes back while the agent reads", func(t *testing.T) {
		_, p, _, forbidden, _ := bounded(t)
		bind(t, p, forbidden)
		user := pagetest.Attach(t, p)
		read := make(chan error, 1)
		go func() {
			_, err := p.WaitFor(t.Context(), page.WaitOptions{Text: "forbidden fruit", Timeout: 20 * time.Second})
			read <- err
		}()
		_, _ = user.Traverse(t.Context(), true)
		if err := <-read; !errors.As(err, new(*guard.LimitError)) {
			t.Errorf("reading what was restored: %v", err)
		}
		leaves(t, p)
	})
}

// No request is paused for a navigation that a service worker responds to, or for the URL
// of a blob.
func TestDocumentsWithoutRequestStayWithinBounds(t *testing.T) {
	t.Parallel()
	b, p, allowed, forbidden, _ := bounded(t)
	other := pagetest.NewPage(t, b)
	pagetest.Navigate(t, other, forbidden)
	pagetest.Evaluate(t, other, `async () => {
  await navigator.serviceWorker.register("/sw.js"); await navigator.serviceWorker.ready }`)
	blob := strings.Trim(pagetest.Evaluate(t, other,
		`() => URL.createObjectURL(new Blob(["<title>Forbidden</title>forbidden fruit"], {type: "text/html"}))`), `"`)
	if c, err := p.Navigate(t.Context(), forbidden+"/worker"); err != nil || c.Title != "Forbidden" {
		t.Fatalf("the worker does not answer: %+v %v", c, err)
	}
	pagetest.Navigate(t, p, allowed)
	bind(t, p, forbidden)
	for _, address := range []string{forbidden + "/worker", blob} {
		if c, err := p.Navigate(t.Context(), address); !errors.As(err, new(*guard.LimitError)) || c.Title == "Forbidden" {
			t.Errorf("%s: %+v %v", address, c, err)
		}
		leaves(t, p)
		if text := pagetest.Snapshot(t, p); strings.Contains(text, "forbidden") {
			t.Errorf("%s is shown: %s", address, text)
		}
	}
}
