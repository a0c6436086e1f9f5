package page

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/snapshot"
)

func TestDialogs(t *testing.T) {
	p, _ := open(t, `<!doctype html><button id=a onclick="r=confirm('Sure?')">ask</button><button id=two onclick="alert(1);alert(2)">two</button><button id=pr onclick="r=prompt('Name?','Bob')">prompt</button>`)
	c, err := p.Act(t.Context(), p.Input().Click("#a", input.ClickOptions{}))
	if err != nil || c.Dialog == nil || c.Dialog.Type != "confirm" || c.Dialog.Message != "Sure?" {
		t.Fatalf("a click that opens a dialog: %+v %v", c, err)
	}
	var dialog *DialogError
	if _, err := p.Reader().Snapshot(t.Context(), snapshot.Options{}); !errors.As(err, &dialog) || !strings.Contains(err.Error(), "Sure?") {
		t.Errorf("a snapshot behind a dialog: %v", err)
	}
	if c, err = p.HandleDialog(t.Context(), true, ""); err != nil || c.Dialog != nil {
		t.Errorf("accepting: %+v %v", c, err)
	}
	if got := eval(t, p, "r"); got != "true" {
		t.Errorf("the page got %s", got)
	}
	if c, err = p.Act(t.Context(), p.Input().Click("#pr", input.ClickOptions{})); err != nil || c.Dialog == nil || c.Dialog.Default != "Bob" {
		t.Fatalf("prompt: %+v %v", c, err)
	}
	if _, err = p.HandleDialog(t.Context(), true, "Eve"); err != nil {
		t.Error(err)
	}
	if got := eval(t, p, "r"); got != `"Eve"` {
		t.Errorf("the page got %s", got)
	}
	if _, err := p.Act(t.Context(), p.Input().Click("#two", input.ClickOptions{})); err != nil {
		t.Fatal(err)
	}
	if c, err = p.HandleDialog(t.Context(), true, ""); err != nil || c.Dialog == nil || c.Dialog.Message != "2" {
		t.Errorf("a dialog after a dialog: %+v %v", c, err)
	}
	if c, err = p.HandleDialog(t.Context(), false, ""); err != nil || c.Dialog != nil {
		t.Errorf("dismissing: %+v %v", c, err)
	}
	// A dialog that opens during a call ends the call with an error at once.
	start := time.Now()
	if v, c, err := p.Evaluate(t.Context(), "() => { alert('now'); return 1 }", ""); err != nil || v != nil || c.Dialog == nil || c.Dialog.Message != "now" {
		t.Errorf("evaluate that opens a dialog: %s %+v %v", v, c, err)
	}
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("it took %v", took)
	}
	// A connection that attaches now is not blocked, and works once the dialog is closed.
	q, err := connect(t).Page(t.Context(), p.ID())
	if err != nil {
		t.Fatalf("attaching behind a dialog: %v", err)
	}
	defer func() { contains(t, outline(t, q), `button "ask"`) }()
	if _, err = p.HandleDialog(t.Context(), true, ""); err != nil {
		t.Error(err)
	}
	if _, err = p.HandleDialog(t.Context(), true, ""); err == nil {
		t.Error("answering no dialog is no error")
	}
}

func TestCrash(t *testing.T) {
	p, url := open(t, `<!doctype html><p>alive`)
	go func() { _ = p.session.Call(t.Context(), "Page.crash", nil, nil) }()
	_, _, err := p.Evaluate(t.Context(), "new Promise(() => {})", "")
	if !errors.Is(err, ErrCrashed) {
		t.Errorf("evaluate on a page that crashes: %v", err)
	}
	if _, err := p.Reader().Snapshot(t.Context(), snapshot.Options{}); !errors.Is(err, ErrCrashed) {
		t.Errorf("a snapshot of a crashed page: %v", err)
	}
	if _, err := p.Navigate(t.Context(), url); err != nil {
		t.Errorf("navigating a crashed page: %v", err)
	}
	contains(t, outline(t, p), "alive")
}

func TestPageAndBrowserThatGo(t *testing.T) {
	p, _ := open(t, `<!doctype html><p>x`)
	go func() { _ = p.browser.ClosePage(t.Context(), p.ID()) }()
	if v, _, err := p.Evaluate(t.Context(), "new Promise(() => {})", ""); !errors.Is(err, ErrPageClosed) {
		t.Errorf("evaluate on a page that is closed: %v %s", err, v)
	}
	q, _ := open(t, `<!doctype html><p>x`)
	go func() { _ = q.browser.Close() }()
	if _, _, err := q.Evaluate(t.Context(), "new Promise(() => {})", ""); !errors.Is(err, ErrBrowserGone) {
		t.Errorf("evaluate while the connection ends: %v", err)
	}
	if _, err := q.Reader().Snapshot(t.Context(), snapshot.Options{}); !errors.Is(err, ErrBrowserGone) {
		t.Errorf("a snapshot after the connection has ended: %v", err)
	}
}

func TestPausedInDebugger(t *testing.T) {
	p, url := open(t, `<!doctype html><button id=b onclick="stop()">b</button><script>function stop(){ debugger; done=true }; done=false</script>`)
	other := connect(t)
	s, err := other.conn.Attach(t.Context(), p.id)
	if err != nil {
		t.Fatal(err)
	}
	paused := s.Listen("Debugger.paused", "Debugger.resumed")
	if err := s.Call(t.Context(), "Debugger.enable", nil, nil); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	c, err := p.Act(t.Context(), p.Input().Click("#b", input.ClickOptions{}))
	if err != nil || c.Paused == nil || c.Paused.Function != "stop" || c.Paused.Line != 1 || c.Paused.URL != url+"/" {
		t.Errorf("a click that stops at a breakpoint: %+v %v", c, err)
	}
	t.Log("told after", time.Since(start), err)
	if e := <-paused.C(); e.Method != "Debugger.paused" {
		t.Fatalf("the debugger saw %s", e.Method)
	}
	if _, err := p.Act(t.Context(), p.Input().Click("#b", input.ClickOptions{})); !errors.Is(err, ErrPaused) {
		t.Errorf("a click while paused: %v", err)
	}
	start = time.Now()
	if _, err := p.Reader().Snapshot(t.Context(), snapshot.Options{}); err != nil && !errors.Is(err, ErrPaused) {
		t.Errorf("a snapshot while paused: %v", err)
	}
	t.Log("snapshot while paused", time.Since(start))
	select {
	case e := <-paused.C():
		t.Errorf("asking disturbed the debugger: %s", e.Method)
	default:
	}
	if err := s.Call(t.Context(), "Debugger.resume", nil, nil); err != nil {
		t.Errorf("the debugger cannot continue: %v", err)
	}
	if got := eval(t, p, "done"); got != "true" {
		t.Errorf("after continuing: %s", got)
	}
}

func TestNavigationErrors(t *testing.T) {
	p, url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/redirect":
			http.Redirect(w, r, "/landed", http.StatusFound)
		case "/script":
			fmt.Fprint(w, `<script>location.replace('/landed')</script>`)
		case "/none":
			w.WriteHeader(http.StatusNoContent)
		default:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, "<title>%s</title>", r.URL.Path)
		}
	}))
	var failed *NavigationError
	_, err := p.Navigate(t.Context(), "http://127.0.0.1:1/")
	if !errors.As(err, &failed) || failed.Code != "net::ERR_UNSAFE_PORT" {
		t.Errorf("an unsafe port: %v", err)
	}
	closed := newClosedPort(t)
	if _, err = p.Navigate(t.Context(), closed); !errors.As(err, &failed) || failed.Code != "net::ERR_CONNECTION_REFUSED" || !strings.Contains(err.Error(), "server running") {
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
		if err != nil || c.Title != test.title && test.address != url+"/script" || c.URL != test.url && test.address != url+"/script" {
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
