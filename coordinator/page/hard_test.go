package page

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"browser-coordinator/coordinator/page/input"
)

// A page with a beforeunload dialog, for every way to leave it.
func TestDialogsOnUnload(t *testing.T) {
	p, url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><title>%s</title><input id=i><a id=link href="/link">link</a>
<script>if (location.pathname === '/') addEventListener('beforeunload', e => { if (i.value) e.preventDefault() })</script>`, r.URL.Path)
	}))
	ctx := t.Context()
	for _, leave := range []struct {
		name, path string
		do         func() (Change, error)
	}{
		{"navigate", "/there", func() (Change, error) { return p.Navigate(ctx, url+"/there") }},
		{"a link", "/link", func() (Change, error) { return p.Act(ctx, p.Input().Click("#link", input.ClickOptions{})) }},
		{"reload", "/", func() (Change, error) { return p.Reload(ctx) }},
	} {
		if _, err := p.Act(ctx, p.Input().Type("#i", "unsaved", input.TypeOptions{})); err != nil {
			t.Fatalf("%s: %v", leave.name, err)
		}
		for _, accept := range []bool{false, true} {
			c, err := leave.do()
			if err != nil || c.Dialog == nil || c.Dialog.Type != "beforeunload" {
				t.Fatalf("%s: %+v %v", leave.name, c, err)
			}
			var dialog *DialogError
			if _, _, err := p.Evaluate(ctx, "1", ""); !errors.As(err, &dialog) {
				t.Errorf("%s: a script behind the dialog: %v", leave.name, err)
			}
			if c, err = p.HandleDialog(ctx, accept, ""); err != nil {
				t.Fatalf("%s: answering %v: %v", leave.name, accept, err)
			}
			if accept && (!c.Navigated || c.URL != url+leave.path) || !accept && c.Navigated {
				t.Errorf("%s: after the answer %v: %+v", leave.name, accept, c)
			}
			want := `"/ unsaved"`
			if accept {
				want = `"` + leave.path + ` "`
			}
			if got := eval(t, p, "document.title + ' ' + i.value"); got != want {
				t.Errorf("%s: after the answer %v the page is %s, want %s", leave.name, accept, got, want)
			}
		}
		if _, err := p.Navigate(ctx, url+"/"); err != nil {
			t.Fatalf("%s: back: %v", leave.name, err)
		}
	}
}

// Popups by script, by target, with and without an opener; one is blocked.
func TestPopups(t *testing.T) {
	p, url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><title>%s</title><button id=script onclick="window.open('/script')">script</button>
<button id=noopener onclick="window.open('/noopener','_blank','noopener')">noopener</button><a id=blank target=_blank href="/blank">blank</a>
<button id=two onclick="window.open('/one');window.open('/two')">two</button><button id=write onclick="window.open().document.write('<title>written</title>')">write</button>`, r.URL.Path)
	}))
	for _, test := range []struct {
		target string
		urls   []string
	}{{"#script", []string{"/script"}}, {"#noopener", []string{"/noopener"}}, {"#blank", []string{"/blank"}}, {"#write", []string{""}}} {
		c, err := p.Act(t.Context(), p.Input().Click(test.target, input.ClickOptions{}))
		if err != nil || len(c.NewPages) != len(test.urls) || c.Navigated {
			t.Errorf("%s: %+v %v", test.target, c, err)
		}
		for _, info := range c.NewPages {
			q, err := p.browser.Page(t.Context(), info.ID)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := q.WaitFor(t.Context(), WaitOptions{URL: test.urls[0], Expression: "document.title", Timeout: 5 * time.Second}); err != nil {
				t.Errorf("%s: working in the popup: %v", test.target, err)
			}
			if err := p.browser.ClosePage(t.Context(), info.ID); err != nil {
				t.Error(err)
			}
		}
	}
	_ = url
}
