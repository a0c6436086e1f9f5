package page

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/snapshot"
)

// impatient connects to the shared browser with short deadlines.
func impatient(t *testing.T) *Browser {
	t.Helper()
	b, err := Connect(t.Context(), shared.URL(), &Options{ActionTimeout: time.Second, CallTimeout: 2 * time.Second, NavigateTimeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// hang makes the page compute forever.
func hang(t *testing.T, p *Page) {
	t.Helper()
	if _, _, err := p.Evaluate(t.Context(), "setTimeout(() => { for (;;); }), 1", ""); err != nil {
		t.Fatal(err)
	}
}

func TestHungTab(t *testing.T) {
	b := impatient(t)
	p, q := newPage(t, b), newPage(t, b)
	_, url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<title>%s</title><button id=b>Button</button>", r.URL.Path)
	}))
	for _, page := range []*Page{p, q} {
		if _, err := page.Navigate(t.Context(), url); err != nil {
			t.Fatal(err)
		}
	}
	hang(t, p)
	var hung *HungError
	for name, call := range map[string]func() error{
		"click":    func() error { _, err := p.Act(t.Context(), p.Input().Click("#b", input.ClickOptions{})); return err },
		"snapshot": func() error { _, err := p.Reader().Snapshot(t.Context(), snapshot.Options{}); return err },
		"evaluate": func() error { _, _, err := p.Evaluate(t.Context(), "1", ""); return err },
	} {
		start := time.Now()
		err := call()
		if !errors.As(err, &hung) || !strings.Contains(err.Error(), "hangs") {
			t.Errorf("%s on a hung tab: %v", name, err)
		}
		if took := time.Since(start); took > 8*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
	// A hung page does not block others: neither an attached page, nor an attachment, nor the
	// search for the page that the user sees.
	start := time.Now()
	if got := eval(t, q, "1 + 1"); got != "2" {
		t.Errorf("the other page says %s", got)
	}
	other := impatient(t)
	if _, err := other.Pages(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := other.Current(t.Context()); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > 6*time.Second {
		t.Errorf("the others took %v", took)
	}
	// A connection can attach to the hung tab itself. A connection that was attached before
	// can free it.
	late, err := other.Page(t.Context(), p.ID())
	if err != nil {
		t.Fatalf("attaching to the hung tab: %v", err)
	}
	start = time.Now()
	if c, err := p.Navigate(t.Context(), url+"/free"); err != nil || c.Title != "/free" {
		t.Errorf("navigating away: %+v %v", c, err)
	}
	t.Log("freed after", time.Since(start))
	if got := eval(t, late, "document.title"); got != `"/free"` {
		t.Errorf("the later connection sees %s", got)
	}
}

// An endless script of the agent is stopped, and the page stays usable.
func TestEndlessScript(t *testing.T) {
	p := newPage(t, impatient(t))
	var late *TimeoutError
	if _, _, err := p.Evaluate(t.Context(), "() => { for (;;); }", ""); !errors.As(err, &late) || !strings.Contains(err.Error(), "was stopped") {
		t.Errorf("an endless script: %v", err)
	}
	if got := eval(t, p, "2"); got != "2" {
		t.Errorf("afterwards the page says %s", got)
	}
	if _, _, err := p.Evaluate(t.Context(), "new Promise(() => {})", ""); !errors.As(err, &late) || !strings.Contains(err.Error(), "running the script") {
		t.Errorf("a promise that is never kept: %v", err)
	}
}

// A call that sent nothing may be retried.
func TestUnsent(t *testing.T) {
	b := connect(t)
	p := newPage(t, b)
	if _, err := p.Navigate(t.Context(), "data:text/html,<button id=b>b</button>"); err != nil {
		t.Fatal(err)
	}
	b.Close()
	for name, call := range map[string]func() error{
		"click":    func() error { _, err := p.Act(t.Context(), p.Input().Click("#b", input.ClickOptions{})); return err },
		"navigate": func() error { _, err := p.Navigate(t.Context(), "about:blank"); return err },
		"evaluate": func() error { _, _, err := p.Evaluate(t.Context(), "1", ""); return err },
	} {
		if err := call(); !errors.Is(err, ErrBrowserGone) || !errors.Is(err, ErrUnsent) {
			t.Errorf("%s after the end: %v", name, err)
		}
	}
	c := connect(t)
	q := newPage(t, c)
	go func() { _ = c.Close() }()
	_, _, err := q.Evaluate(context.Background(), "new Promise(() => {})", "")
	if !errors.Is(err, ErrBrowserGone) {
		t.Errorf("evaluate while the connection ends: %v", err)
	}
}
