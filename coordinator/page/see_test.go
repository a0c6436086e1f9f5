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

func TestEvaluate(t *testing.T) {
	p, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'nonce-x'")
		fmt.Fprint(w, `<!doctype html><title>Tight</title><button id=b>Öl "x"</button><script nonce=x>own = 7; Array.prototype.map = null; Element.prototype.querySelector = null</script>`)
	}))
	for _, test := range []struct{ script, target, want string }{
		{"() => document.title", "", `"Tight"`},
		{"async () => { await 0; return [1, {a: null}] }", "", `[1,{"a":null}]`},
		{"function() { return own }", "", "7"},
		{"function f() { return own + 1 };", "", "8"},
		{"x => typeof x", "", `"undefined"`},
		{"own * 2", "", "14"},
		{"({a: 1})", "", `{"a":1}`},
		{"[1,2].filter(x => x > 1)", "", "[2]"},
		{"await Promise.resolve(3)", "", "3"},
		{"Promise.resolve(4)", "", "4"},
		{"() => undefined", "", "null"},
		{"() => NaN", "", `"NaN"`},
		{"() => 10n", "", `"10n"`},
		{"() => { let a = 1; return a } // comment", "", "1"},
		{"(element) => element.textContent", "#b", `"Öl \"x\""`},
		{"element => element.id", "#b", `"b"`},
		{"element.id", "#b", `"b"`},
		{"async function(e) { return e === document.getElementById('b') }", "#b", "true"},
		{"() => '\\u0001\\ud83c\\udf89<'", "", `"\u0001🎉<"`},
		{"eval('1+1')", "", "2"},
	} {
		got, _, err := p.Evaluate(t.Context(), test.script, test.target)
		if err != nil || string(got) != test.want {
			t.Errorf("%s: got %s %v, want %s", test.script, got, err, test.want)
		}
	}
	var script *ScriptError
	for _, bad := range []string{"() => nothing.here", "() => { throw 'text' }", "async () => { throw new Error('later') }", "((", "Promise.reject(new RangeError('far'))"} {
		if _, _, err := p.Evaluate(t.Context(), bad, ""); !errors.As(err, &script) {
			t.Errorf("%s: %v", bad, err)
		} else {
			t.Log(err)
		}
	}
	// None of this prevents snapshots and clicks.
	text := outline(t, p)
	if _, err := p.Act(t.Context(), p.Input().Click(ref(t, text, "Öl"), input.ClickOptions{})); err != nil {
		t.Error(err)
	}
}

func TestTwoTabs(t *testing.T) {
	b := connect(t)
	one, two := newPage(t, b), newPage(t, b)
	for i, p := range []*Page{one, two} {
		if _, err := p.Navigate(t.Context(), fmt.Sprintf("data:text/html,<title>T%d</title><button onclick='n=%d'>B%d</button><input>", i, i, i)); err != nil {
			t.Fatal(err)
		}
	}
	pages, err := b.Pages(t.Context())
	if err != nil || len(pages) < 2 {
		t.Fatalf("pages: %+v %v", pages, err)
	}
	if again, err := b.Page(t.Context(), one.ID()); err != nil || again != one {
		t.Errorf("the same page is attached to twice: %v", err)
	}
	// Both work at the same time, whichever is in front.
	for range 5 {
		done := make(chan error, 2)
		for _, p := range []*Page{one, two} {
			go func() {
				_, err := p.Act(t.Context(), p.Input().Click("button", input.ClickOptions{}))
				if err == nil {
					_, err = p.Act(t.Context(), p.Input().Type("input", p.ID(), input.TypeOptions{}))
				}
				done <- err
			}()
		}
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
	for i, p := range []*Page{one, two} {
		if got := eval(t, p, "n + document.querySelector('input').value"); got != fmt.Sprintf(`"%d%s"`, i, p.ID()) {
			t.Errorf("tab %d: %s", i, got)
		}
	}
	if err := b.Activate(t.Context(), two.ID()); err != nil {
		t.Fatal(err)
	}
	if current, err := connect(t).Current(t.Context()); err != nil || current.ID() == "" {
		t.Errorf("the current page: %v", err)
	}
	if _, err := b.Page(t.Context(), "0123"); err == nil {
		t.Error("an unknown page is no error")
	}
}

// Documents without an element: at their start, and after a script has removed all
// elements.
func TestSnapshotOfNothing(t *testing.T) {
	begun := make(chan struct{})
	release := make(chan struct{})
	p, url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/slow" {
			w.(http.Flusher).Flush()
			close(begun)
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}
		fmt.Fprint(w, "<p>there")
	}))
	eval(t, p, "document.open(), 1")
	if got := outline(t, p); got != "" {
		t.Errorf("an empty document shows %q", got)
	}
	go func() { _, _ = p.Navigate(t.Context(), url+"/slow") }()
	<-begun
	if err := p.await(t.Context(), func() bool { return p.commits > 1 && !p.parsed }); err != nil {
		t.Fatal(err)
	}
	shown := make(chan string, 1)
	go func() {
		s, err := p.Reader().Snapshot(t.Context(), snapshot.Options{})
		shown <- fmt.Sprint(s.Text, err)
	}()
	time.AfterFunc(200*time.Millisecond, func() { close(release) })
	if got := <-shown; !strings.Contains(got, "there") {
		t.Errorf("a document that has just begun: %s", got)
	}
}
