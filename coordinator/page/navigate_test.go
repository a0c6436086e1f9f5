package page_test

import (
	"context"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/pagetest"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// Apps with fragment routing: the result is for the requested URL, although the browser
// reports it only after its response.
func TestNavigateWithin(t *testing.T) {
	t.Parallel()
	p, url := pagetest.Open(t, `<!doctype html><title>start</title><h1 id=h></h1>
<script>onhashchange = () => { document.title = 'view ' + location.hash; h.textContent = location.hash }</script>`)
	for i := range 5 {
		want := fmt.Sprintf("#/view/%d", i)
		c, err := p.Navigate(t.Context(), url+"/"+want)
		if err != nil || c.URL != url+"/"+want || c.Title != "view "+want || !c.Navigated || c.Loading != "" {
			t.Errorf("%s: %+v %v", want, c, err)
		}
	}
	c, err := p.Traverse(t.Context(), true)
	if want := "#/view/3"; err != nil || c.URL != url+"/"+want || c.Title != "view "+want {
		t.Errorf("back: %+v %v", c, err)
	}
	// To the current URL.
	c, err = p.Navigate(t.Context(), c.URL)
	if err != nil || c.Title != "view #/view/3" {
		t.Errorf("again: %+v %v", c, err)
	}
	// Within the document, whose script then leaves it.
	pagetest.Evaluate(t, p, "onhashchange = () => { location.href = '/?other' }, 1")
	if c, err = p.Navigate(t.Context(), url+"/#/away"); err != nil || c.URL != url+"/?other" || c.Title != "start" {
		t.Errorf("on to another document: %+v %v", c, err)
	}
}

// A navigation that is a download leaves the page unchanged.
func TestNavigateToDownload(t *testing.T) {
	t.Parallel()
	p, url := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/file" {
			w.Header().Set("Content-Disposition", "attachment; filename=report.csv")
			fmt.Fprint(w, "a,b")
			return
		}
		fmt.Fprintf(w, "<title>stays</title><a id=a href=/file>file</a><button id=b onclick=1>b</button>")
	}))
	for range 2 {
		c, err := p.Navigate(t.Context(), url+"/file")
		if err != nil || c.Download != url+"/file" || c.Loading != "" || c.Navigated || c.URL != url+"/" ||
			c.Title != "stays" {
			t.Errorf("a download: %+v %v", c, err)
		}
		if c, err = p.Act(t.Context(), p.Input().Click("#b", input.ClickOptions{})); err != nil || c.Loading != "" ||
			c.Download != "" {
			t.Errorf("afterwards: %+v %v", c, err)
		}
	}
}

// A part of a page may never finish loading: the result is what has loaded.
func TestNavigateToWhatNeverEnds(t *testing.T) {
	t.Parallel()
	// Longer than any test: nothing waits for that.
	b := pagetest.ConnectWith(t, &page.Options{NavigateTimeout: time.Hour})
	p, url := pagetest.ServeIn(t, b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/hang":
			<-r.Context().Done()
		case "/image":
			fmt.Fprint(w, "<!doctype html><title>IH</title><h1>main here</h1><img src=/hang>")
		case "/tail":
			fmt.Fprint(w, "<!doctype html><title>Tail</title><h1>main here</h1>")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	}))
	c, err := p.Navigate(t.Context(), url+"/image")
	if err != nil || c.Title != "IH" || c.Loading == "" {
		t.Errorf("an image that never ends: %+v %v", c, err)
	}
	pagetest.Contains(t, pagetest.Snapshot(t, p), "main here")
	p = pagetest.NewPage(t, pagetest.ConnectWith(t, &page.Options{NavigateTimeout: 4 * time.Second}))
	if c, err = p.Navigate(t.Context(), url+"/tail"); err != nil || c.Title != "Tail" || c.Loading == "" {
		t.Errorf("a document that never ends: %+v %v", c, err)
	}
}

func TestNavigationErrors(t *testing.T) {
	t.Parallel()
	p, url := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/redirect":
			http.Redirect(w, r, "/landed", http.StatusFound)
		case "/script":
			fmt.Fprint(w, `<script>location.replace('/landed')</script>`)
		case "/none":
			w.WriteHeader(http.StatusNoContent)
		default:
			fmt.Fprintf(w, "<title>%s</title>", r.URL.Path)
		}
	}))
	var failed *page.NavigationError
	_, err := p.Navigate(t.Context(), "http://127.0.0.1:1/")
	if !errors.As(err, &failed) || failed.Code != "net::ERR_UNSAFE_PORT" {
		t.Errorf("an unsafe port: %v", err)
	}
	server := httptest.NewServer(nil)
	server.Close()
	closed := server.URL
	if _, err = p.Navigate(t.Context(), closed); !errors.As(err, &failed) ||
		failed.Code != "net::ERR_CONNECTION_REFUSED" || !strings.Contains(err.Error(), "server running") {
		t.Errorf("a closed port: %v", err)
	}
	for _, test := range []struct{ address, url, title string }{
		{strings.TrimPrefix(url, "http://"), url + "/", "/"},
		{"/redirect", url + "/landed", "/landed"},
		{"about:blank", "about:blank", ""},
		{"data:text/html,<title>D</title>", "data:text/html,<title>D</title>", "D"},
		{url + "/script", url + "/landed", "/landed"},
	} {
		c, err := p.Navigate(t.Context(), test.address)
		if err != nil || c.Title != test.title && test.address != url+"/script" || c.URL != test.url && test.address != url+
			"/script" {
			t.Errorf("%s: %+v %v", test.address, c, err)
		}
	}
	if _, err := p.Navigate(t.Context(), url+"/none"); !errors.As(err, &failed) {
		t.Errorf("an answer without content: %v", err)
	}
	if _, err := p.Navigate(t.Context(), " "); err == nil {
		t.Error("an empty URL is no error")
	}
}

// The title is the document's title after its load, however late a script has set it, and
// also if the document did not change.
func TestTitleOfWhatWasOpened(t *testing.T) {
	t.Parallel()
	const long = `<ul id=l></ul><script>for (let n=0;n<2000;n++) l.insertAdjacentHTML('beforeend','<li>Item '+n)</script>`
	bodies := map[string]string{
		"/plain":  `<!doctype html><title>plain</title>` + long,
		"/blanks": "<!doctype html><title>  in \n  words </title>" + long,
		"/none":   `<!doctype html><p>none` + long,
		"/script": `<!doctype html><title>before</title>` + long + `<script>document.title = 'by the last script'</script>`,
		"/load": `<!doctype html><title>before</title>` + long +
			`<script>onload = () => document.title = 'by onload'</script>`,
		"/parsed": `<!doctype html><title>before</title>` + long +
			`<script>document.addEventListener('DOMContentLoaded', () => document.title = 'by ready')</script>`,
		"/push": `<!doctype html><title>before</title>` + long +
			`<button onclick="history.pushState(0, '', '/pushed'); document.title = 'pushed'">Push</button>`,
	}
	p, url := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, bodies[r.URL.Path])
	}))
	for path, title := range map[string]string{
		"/plain": "plain", "/blanks": "in words", "/none": "", "/script": "by the last script", "/load": "by onload",
		"/parsed": "by ready", "/push": "before",
	} {
		if c, err := p.Navigate(t.Context(), url+path); err != nil || c.Title != title {
			t.Errorf("%s: title %q, want %q (%v)", path, c.Title, title, err)
		}
	}
	pagetest.Navigate(t, p, url+"/push")
	if c, err := p.Act(t.Context(), p.Input().Click("button", input.ClickOptions{})); err != nil || !c.Navigated ||
		c.Title != "pushed" {
		t.Errorf("pushed: %+v %v", c, err)
	}
	if c, err := p.Traverse(t.Context(), true); err != nil || c.Title != "pushed" { // no script resets it
		t.Errorf("back: %+v %v", c, err)
	}
	if c, err := p.Reload(t.Context()); err != nil || c.Title != "before" {
		t.Errorf("reloaded: %+v %v", c, err)
	}
}

// Documents without an element: at their start, and after a script has removed all
// elements.
func TestSnapshotOfNothing(t *testing.T) {
	t.Parallel()
	started := make(chan struct{})
	release := make(chan struct{})
	p, url := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			w.(http.Flusher).Flush()
			close(started)
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}
		fmt.Fprint(w, "<p>there")
	}))
	pagetest.Evaluate(t, p, "document.open(), 1")
	if got := pagetest.Snapshot(t, p); got != "" {
		t.Errorf("an empty document shows %q", got)
	}
	go func() { _, _ = p.Navigate(t.Context(), url+"/slow") }()
	<-started
	must.Await(t, "the next document", func() bool { return p.URL() == url+"/slow" })
	shown := make(chan string, 2)
	go func() {
		s, err := p.Reader().Snapshot(t.Context(), snapshot.Options{})
		shown <- fmt.Sprint(s.Text, err)
	}()
	go func() {
		found, err := p.Reader().Find(t.Context(), snapshot.FindOptions{Text: "there"})
		shown <- fmt.Sprint(found.Text, err)
	}()
	time.AfterFunc(200*time.Millisecond, func() { close(release) })
	for range 2 {
		if got := <-shown; !strings.Contains(got, "there") {
			t.Errorf("a document that has just begun: %s", got)
		}
	}
}

func TestAddressThatIsAScript(t *testing.T) {
	t.Parallel()
	p, url := pagetest.Open(t, "<title>x</title>")
	if _, err := p.Navigate(t.Context(), "JavaScript:document.title='y'"); err == nil ||
		!strings.Contains(err.Error(), "is a script") {
		t.Errorf("%v", err)
	}
	if p.URL() != url+"/" {
		t.Errorf("at %s", p.URL())
	}
}

// A document from the back/forward cache repeats its messages to the debugger. They are no
// result of going back.
func TestBackToErrors(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			fmt.Fprint(w, `<!doctype html><title>A</title><a href=/b id=b>B</a><script>
				fetch('/missing').then(() => { console.error('logged'); console.error('logged'); document.title = 'failed' })
				addEventListener('pageshow', e => { if (e.persisted) document.title = 'kept' })
				setTimeout(() => { throw new Error('thrown') })</script>`)
		case "/b":
			fmt.Fprint(w, `<!doctype html><title>B</title>`)
		default:
			http.NotFound(w, r)
		}
	}))
	if _, err := p.WaitFor(t.Context(), page.WaitOptions{Expression: "document.title == 'failed'"}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Act(t.Context(), p.Input().Click("#b", input.ClickOptions{})); err != nil {
		t.Fatal(err)
	}
	messages := p.History().Console.Messages("debug")
	before := len(messages)
	c, err := p.Traverse(t.Context(), true)
	if err != nil || len(c.Console)+len(c.Failed)+len(c.Late.Errors)+len(c.Late.Failed) > 0 {
		t.Errorf("back: %+v %v", c, err)
	}
	if title := pagetest.Evaluate(t, p, "document.title"); title != `"kept"` {
		t.Fatalf("the document is a new one: %s", title)
	}
	if after := len(p.History().Console.Messages("debug")); after != before {
		t.Errorf("%d messages after %d: %+v", after, before, messages)
	}
}

// A navigation that its caller cancels is stopped, whenever that is: its document does not arrive later.
func TestCancelledNavigation(t *testing.T) {
	t.Parallel()
	requested, release := make(chan struct{}, 10), make(chan struct{})
	p, url := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			requested <- struct{}{}
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}
		fmt.Fprintf(w, `<title>%s</title><a href="/slow">slow</a>`, r.URL.Path)
	}))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-requested
		cancel()
	}()
	if c, err := p.Navigate(ctx, url+"/slow"); err == nil {
		t.Errorf("cancelled: %+v", c)
	}
	close(release)
	pagetest.Expect(t, p, "document.title", `"/"`)
	if c, err := p.Act(t.Context(), p.Input().Hover("a", input.HoverOptions{})); err != nil || c.Navigated ||
		c.Loading != "" || p.URL() != url+"/" {
		t.Errorf("afterwards: %+v %v", c, err)
	}
	pagetest.Navigate(t, p, url+"/slow")
	pagetest.Expect(t, p, "document.title", `"/slow"`)
}
