package page_test

import (
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/internal/pagetest"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// connectShort connects to the shared browser with short deadlines.
func connectShort(t *testing.T) *page.Browser {
	t.Helper()
	return pagetest.ConnectWith(t, &page.Options{ActionTimeout: time.Second, CallTimeout: 2 * time.Second,
		NavigateTimeout: 10 * time.Second})
}

// hang makes the page compute forever.
func hang(t *testing.T, p *page.Page) {
	t.Helper()
	if _, _, err := p.Evaluate(t.Context(), "setTimeout(() => { for (;;); }), 1", "", page.Bounds{}); err != nil {
		t.Fatal(err)
	}
}

func TestHungTab(t *testing.T) {
	t.Parallel()
	b := connectShort(t)
	p, q := pagetest.NewPage(t, b), pagetest.NewPage(t, b)
	_, url := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "<title>%s</title><button id=b>Button</button>", r.URL.Path)
	}))
	for _, tab := range []*page.Page{p, q} {
		pagetest.Navigate(t, tab, url)
	}
	hang(t, p)
	var hung *page.HungError
	for name, call := range map[string]func() error{
		"click":    func() error { _, err := p.Act(t.Context(), p.Input().Click("#b", input.ClickOptions{})); return err },
		"snapshot": func() error { _, err := p.Reader().Snapshot(t.Context(), snapshot.Options{}); return err },
		"evaluate": func() error { _, _, err := p.Evaluate(t.Context(), "1", "", page.Bounds{}); return err },
	} {
		if err := call(); !errors.As(err, &hung) || !strings.Contains(err.Error(), "hangs") {
			t.Errorf("%s on a hung tab: %v", name, err)
		}
	}
	// A hung page does not block others: neither an attached page, nor an attachment, nor the
	// search for the page that the user sees.
	pagetest.Expect(t, q, "1 + 1", "2")
	other := connectShort(t)
	if _, err := other.Pages(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := other.InFront(t.Context()); err != nil {
		t.Error(err)
	}
	// A connection can attach to the hung tab itself. A connection that was attached before
	// can free it.
	latePage, err := other.Page(t.Context(), p.ID())
	if err != nil {
		t.Fatalf("attaching to the hung tab: %v", err)
	}
	if c, err := p.Navigate(t.Context(), url+"/free"); err != nil || c.Title != "/free" {
		t.Errorf("navigating away: %+v %v", c, err)
	}
	pagetest.Expect(t, latePage, "document.title", `"/free"`)
}

// A call that sent nothing may be retried.
func TestUnsent(t *testing.T) {
	t.Parallel()
	b := pagetest.Connect(t)
	p := pagetest.NewPage(t, b)
	pagetest.Navigate(t, p, "data:text/html,<button id=b>b</button>")
	b.Close()
	for name, call := range map[string]func() error{
		"click":    func() error { _, err := p.Act(t.Context(), p.Input().Click("#b", input.ClickOptions{})); return err },
		"navigate": func() error { _, err := p.Navigate(t.Context(), "about:blank"); return err },
		"evaluate": func() error { _, _, err := p.Evaluate(t.Context(), "1", "", page.Bounds{}); return err },
	} {
		if err := call(); !errors.Is(err, page.ErrBrowserGone) || !errors.Is(err, page.ErrUnsent) {
			t.Errorf("%s after the end: %v", name, err)
		}
	}
}

// TestServerThatDoesNotAnswer: an action that opens such a server's page is done. No error
// calls the page hung, and Escape cancels the navigation.
func TestServerThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	hasty := pagetest.ConnectWith(t, &page.Options{CallTimeout: 5 * time.Second, NavigateTimeout: 5 * time.Second})
	p, url := pagetest.ServeIn(t, hasty, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/never" {
			select {
			case <-release:
			case <-r.Context().Done():
			}
			return
		}
		fmt.Fprint(w, `<!doctype html><title>Start</title><a id=a href=/never>Go</a>`)
	}))
	defer close(release)
	ctx := t.Context()
	c, err := p.Act(ctx, p.Input().Click("#a", input.ClickOptions{}))
	if err != nil || c.Loading == "" || c.Navigated {
		t.Fatalf("the click: %+v, %v", c, err)
	}
	_, _, err = p.Evaluate(ctx, "1", "", page.Bounds{})
	isLoading := func(err error) bool {
		return err != nil && strings.Contains(err.Error(), "on its way to "+url+"/never") &&
			strings.Contains(err.Error(), "Escape")
	}
	if !isLoading(err) {
		t.Errorf("a script meanwhile: %v", err)
	}
	if c, err := p.Act(ctx, p.Input().PressKey("Escape")); err != nil || c.Loading != "" {
		t.Fatalf("Escape: %+v, %v", c, err)
	}
	pagetest.Expect(t, p, "document.title", `"Start"`)
	if _, err := p.Navigate(ctx, url+"/never"); !isLoading(err) {
		t.Errorf("a navigation: %v", err)
	}
}

func TestCrash(t *testing.T) {
	t.Parallel()
	p, url := pagetest.Open(t, `<!doctype html><p>alive`)
	go func() { _ = p.Session().Call(t.Context(), "Page.crash", nil, nil) }()
	_, _, err := p.Evaluate(t.Context(), "new Promise(() => {})", "", page.Bounds{})
	if !errors.Is(err, page.ErrCrashed) {
		t.Errorf("evaluate on a page that crashes: %v", err)
	}
	if _, err := p.Reader().Snapshot(t.Context(), snapshot.Options{}); !errors.Is(err, page.ErrCrashed) {
		t.Errorf("a snapshot of a crashed page: %v", err)
	}
	if _, err := p.Navigate(t.Context(), url); err != nil {
		t.Errorf("navigating a crashed page: %v", err)
	}
	pagetest.Contains(t, pagetest.Snapshot(t, p), "alive")
}

func TestPageAndBrowserThatGo(t *testing.T) {
	t.Parallel()
	b := pagetest.Connect(t)
	p := pagetest.NewPage(t, b)
	go func() { _ = b.ClosePage(t.Context(), p.ID()) }()
	v, _, err := p.Evaluate(t.Context(), "new Promise(() => {})", "", page.Bounds{})
	if !errors.Is(err, page.ErrPageClosed) {
		t.Errorf("evaluate on a page that is closed: %v %s", err, v)
	}
	q := pagetest.NewPage(t, b)
	go func() { _ = b.Close() }()
	_, _, err = q.Evaluate(t.Context(), "new Promise(() => {})", "", page.Bounds{})
	if !errors.Is(err, page.ErrBrowserGone) {
		t.Errorf("evaluate while the connection ends: %v", err)
	}
	if _, err := q.Reader().Snapshot(t.Context(), snapshot.Options{}); !errors.Is(err, page.ErrBrowserGone) {
		t.Errorf("a snapshot after the connection has ended: %v", err)
	}
}

func TestPausedInDebugger(t *testing.T) {
	t.Parallel()
	p, url := pagetest.Open(t, `<!doctype html><button id=b onclick="stop()">b</button>`+
		`<script>function stop(){ debugger; done=true }; done=false</script>`)
	other := pagetest.Attach(t, p)
	s := other.Session()
	paused := s.Listen("Debugger.paused", "Debugger.resumed")
	if err := s.Call(t.Context(), "Debugger.enable", nil, nil); err != nil {
		t.Fatal(err)
	}
	c, err := p.Act(t.Context(), p.Input().Click("#b", input.ClickOptions{}))
	if err != nil || c.Paused == nil || c.Paused.Function != "stop" || c.Paused.Location.Line != 1 ||
		c.Paused.Location.URL != url+"/" {
		t.Errorf("a click that stops at a breakpoint: %+v %v", c, err)
	}
	if e := <-paused.C(); e.Method != "Debugger.paused" {
		t.Fatalf("the debugger saw %s", e.Method)
	}
	if _, err := p.Act(t.Context(), p.Input().Click("#b", input.ClickOptions{})); !errors.Is(err, page.ErrPaused) {
		t.Errorf("a click while paused: %v", err)
	}
	if _, err := p.Reader().Snapshot(t.Context(), snapshot.Options{}); err != nil && !errors.Is(err, page.ErrPaused) {
		t.Errorf("a snapshot while paused: %v", err)
	}
	select {
	case e := <-paused.C():
		t.Errorf("asking disturbed the debugger: %s", e.Method)
	default:
	}
	if err := s.Call(t.Context(), "Debugger.resume", nil, nil); err != nil {
		t.Errorf("the debugger cannot continue: %v", err)
	}
	pagetest.Expect(t, p, "done", "true")
	// A pause is found as well when the call is slow before it.
	_, c, err = p.Evaluate(t.Context(), "new Promise((ready) => setTimeout(() => ready(stop()), 1200))", "", page.Bounds{})
	if err != nil || c.Paused == nil || c.Paused.Function != "stop" {
		t.Errorf("a script that stops later: %+v %v", c, err)
	}
	if err := s.Call(t.Context(), "Debugger.resume", nil, nil); err != nil {
		t.Errorf("the debugger cannot continue: %v", err)
	}
}
