package page_test

import (
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/pagetest"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestDialogs(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><button id=a onclick="r=confirm('Sure?')">ask</button>
<button id=two onclick="alert(1);alert(2)">two</button><button id=pr onclick="r=prompt('Name?','Bob')">prompt</button>`)
	c, err := p.Act(t.Context(), p.Input().Click("#a", input.ClickOptions{}))
	if err != nil || c.Dialog == nil || c.Dialog.Type != "confirm" || c.Dialog.Message != "Sure?" {
		t.Fatalf("a click that opens a dialog: %+v %v", c, err)
	}
	var dialog *page.DialogError
	if _, err := p.Reader().Snapshot(t.Context(), snapshot.Options{}); !errors.As(err, &dialog) ||
		!strings.Contains(err.Error(), "Sure?") {
		t.Errorf("a snapshot behind a dialog: %v", err)
	}
	if c, err = p.HandleDialog(t.Context(), true, ""); err != nil || c.Dialog != nil {
		t.Errorf("accepting: %+v %v", c, err)
	}
	pagetest.Expect(t, p, "r", "true")
	if c, err = p.Act(t.Context(), p.Input().Click("#pr", input.ClickOptions{})); err != nil || c.Dialog == nil ||
		c.Dialog.Default != "Bob" {
		t.Fatalf("prompt: %+v %v", c, err)
	}
	if _, err = p.HandleDialog(t.Context(), true, "Eve"); err != nil {
		t.Error(err)
	}
	pagetest.Expect(t, p, "r", `"Eve"`)
	pagetest.Act(t, p, p.Input().Click("#two", input.ClickOptions{}))
	if c, err = p.HandleDialog(t.Context(), true, ""); err != nil || c.Dialog == nil || c.Dialog.Message != "2" {
		t.Errorf("a dialog after a dialog: %+v %v", c, err)
	}
	if c, err = p.HandleDialog(t.Context(), false, ""); err != nil || c.Dialog != nil {
		t.Errorf("dismissing: %+v %v", c, err)
	}
	// A dialog that opens during a call ends the call with an error at once.
	v, c, err := p.Evaluate(t.Context(), "() => { alert('now'); return 1 }", "", page.Bounds{})
	if err != nil || v != nil || c.Dialog == nil || c.Dialog.Message != "now" {
		t.Errorf("evaluate that opens a dialog: %s %+v %v", v, c, err)
	}
	// A connection that attaches now is not blocked, and works once the dialog is closed.
	q, err := pagetest.Connect(t).Page(t.Context(), p.ID())
	if err != nil {
		t.Fatalf("attaching behind a dialog: %v", err)
	}
	defer func() { pagetest.Contains(t, pagetest.Snapshot(t, q), `button "ask"`) }()
	if _, err = p.HandleDialog(t.Context(), true, ""); err != nil {
		t.Error(err)
	}
	if _, err = p.HandleDialog(t.Context(), true, ""); err == nil {
		t.Error("answering no dialog is no error")
	}
}

// A page with a beforeunload dialog, for every way to leave it.
func TestDialogsOnUnload(t *testing.T) {
	t.Parallel()
	p, url := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `<!doctype html><title>%s</title><input id=i><a id=link href="/link">link</a>
<script>if (location.pathname === '/')
  addEventListener('beforeunload', e => { if (i.value) e.preventDefault() })</script>`, r.URL.Path)
	}))
	ctx := t.Context()
	for _, leave := range []struct {
		name, path string
		do         func() (page.Change, error)
	}{
		{"navigate", "/there", func() (page.Change, error) { return p.Navigate(ctx, url+"/there") }},
		{"a link", "/link", func() (page.Change, error) {
			return p.Act(ctx, p.Input().Click("#link", input.ClickOptions{}))
		}},
		{"reload", "/", func() (page.Change, error) { return p.Reload(ctx) }},
	} {
		if _, err := p.Act(ctx, p.Input().Type("#i", "unsaved", input.TypeOptions{})); err != nil {
			t.Fatalf("%s: %v", leave.name, err)
		}
		for _, accept := range []bool{false, true} {
			c, err := leave.do()
			if err != nil || c.Dialog == nil || c.Dialog.Type != "beforeunload" {
				t.Fatalf("%s: %+v %v", leave.name, c, err)
			}
			var dialog *page.DialogError
			if _, _, err := p.Evaluate(ctx, "1", "", page.Bounds{}); !errors.As(err, &dialog) {
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
			pagetest.Expect(t, p, "document.title + ' ' + i.value", want)
		}
		if _, err := p.Navigate(ctx, url+"/"); err != nil {
			t.Fatalf("%s: back: %v", leave.name, err)
		}
	}
}

// A page with a beforeunload dialog stays, and the result has its title.
func TestNavigateAtDialog(t *testing.T) {
	t.Parallel()
	p, url := pagetest.Open(t, "<title>unsaved</title><input id=i>"+
		"<script>onbeforeunload = (e) => e.preventDefault()</script>")
	pagetest.Act(t, p, p.Input().Type("#i", "x", input.TypeOptions{}))
	c, err := p.Navigate(t.Context(), url+"/other")
	if err != nil || c.Dialog == nil || c.Title != "unsaved" || c.URL != url+"/" {
		t.Errorf("%+v %v", c, err)
	}
	_, err = p.Act(t.Context(), p.Input().Click("#i", input.ClickOptions{}))
	if dialog := new(page.DialogError); !errors.As(err, &dialog) ||
		!strings.Contains(err.Error(), "accept leaves it, dismiss stays") {
		t.Errorf("an act: %v", err)
	}
	// After the user stays, no navigation is pending.
	if c, err = p.HandleDialog(t.Context(), false, ""); err != nil || c.Loading != "" || c.Navigated {
		t.Errorf("staying: %+v %v", c, err)
	}
	pagetest.Evaluate(t, p, "void setTimeout(() => location.href = '/script', 1)")
	must.Await(t, "the dialog", func() bool { return p.Dialog() != nil })
	if c, err = p.HandleDialog(t.Context(), false, ""); err != nil || c.Loading != "" {
		t.Errorf("staying where a script wanted to leave: %+v %v", c, err)
	}
}

// TestDialogBeforeTheActionIsDone: a dialog may open while an action waits for its target, or
// in the middle of it. Such an action is never reported as done.
func TestDialogBeforeTheActionIsDone(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<button id=under>Under</button><div style="position:fixed;inset:0 0 auto 0;height:40px">Over</div>
<p style="margin-top:60px"><input id=fixed readonly><input id=first><input id=second disabled>
<select id=s><option>a</select><span id=grip>grip</span>
<input id=slow oninput="if (this.value.length === 3) alert('three')">
<button id=done onclick="alert('mine')">Done</button>
<script>var clicks = 0; under.onclick = () => clicks++;
const late = (delay) => setTimeout(() => alert('late'), delay)</script>`)
	ctx := t.Context()
	for name, test := range map[string]struct {
		do   func() (page.Change, error)
		done string
	}{
		"nothing there to click": {func() (page.Change, error) {
			return p.Act(ctx, p.Input().Click("#none", input.ClickOptions{}))
		}, "nothing was done"},
		"covered": {func() (page.Change, error) {
			return p.Act(ctx, p.Input().Click("#under", input.ClickOptions{}))
		}, "nothing was done"},
		"read-only": {func() (page.Change, error) {
			return p.Act(ctx, p.Input().Type("#fixed", "x", input.TypeOptions{}))
		}, "nothing was done"},
		"an option": {func() (page.Change, error) { return p.Act(ctx, p.Input().SelectOption("#none", "a")) },
			"nothing was done"},
		"a drag to nowhere": {func() (page.Change, error) { return p.Act(ctx, p.Input().Drag("#grip", "#none")) },
			"nothing was done"},
		"a text that never comes": {func() (page.Change, error) {
			result, err := p.WaitFor(ctx, page.WaitOptions{Text: "never"})
			return result.Change, err
		}, "nothing was done"},
		"the second field": {func() (page.Change, error) {
			return p.Act(ctx, p.Input().FillForm([]input.Field{{Target: "#first", Value: "x"}, {Target: "#second", Value: "y"}}))
		}, "1 of 2 fields are filled"},
	} {
		for delay := 100; ; delay *= 4 {
			script := fmt.Sprintf("late(%d)", delay)
			if name == "the second field" {
				script = "first.oninput = () => late(100)" // not before the first one is filled, however long that takes
			}
			pagetest.Evaluate(t, p, script)
			c, err := test.do()
			early := err != nil && strings.Contains(err.Error(), "is open (\"late\"): accept or dismiss it first")
			if !early && (err == nil || !strings.Contains(err.Error(), `dialog ("late") opened while`) ||
				!strings.Contains(err.Error(), test.done)) {
				t.Errorf("%s: %+v, %v", name, c, err)
			}
			if _, err := p.HandleDialog(ctx, true, ""); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if !early || delay > 2_000 {
				break
			}
		}
	}
	pagetest.Expect(t, p, "clicks", "0")

	_, err := p.Act(ctx, p.Input().Type("#slow", "abcdef", input.TypeOptions{Slowly: true}))
	if err == nil || !strings.Contains(err.Error(), "3 of 6 characters are typed") {
		t.Errorf("in the middle of typing: %v", err)
	}
	if _, err := p.HandleDialog(ctx, true, ""); err != nil {
		t.Fatal(err)
	}
	if c, err := p.Act(ctx, p.Input().Click("#done", input.ClickOptions{})); err != nil || c.Dialog == nil ||
		c.Dialog.Message != "mine" {
		t.Errorf("the action's own dialog: %+v, %v", c, err)
	}
}

// TestDialogInAnotherTab: a dialog blocks all tabs of its process. A call in another tab
// reports the dialog's tab long before its own timeout.
func TestDialogInAnotherTab(t *testing.T) { // alone in the browser, because it opens a tab
	b := pagetest.Connect(t)
	p, url := pagetest.ServeIn(t, b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `<!doctype html><title>Start</title><button id=b onclick="window.open('/other')">Open</button>`)
	}))
	ctx := t.Context()
	c, err := p.Act(ctx, p.Input().Click("#b", input.ClickOptions{}))
	if err != nil || len(c.Tabs.Open) != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	other, err := b.Page(ctx, c.Tabs.Open[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	pagetest.Evaluate(t, other, "setTimeout(() => alert('over there'))")
	must.Await(t, "the dialog", func() bool { return other.Dialog() != nil })
	_, _, err = p.Evaluate(ctx, "1", "", page.Bounds{})
	var hung *page.HungError
	if !errors.As(err, &hung) || !strings.Contains(err.Error(), "over there") ||
		!strings.Contains(err.Error(), url+"/other") {
		t.Errorf("a script: %v", err)
	}
	// Also where the tab is told to leave for another document, which waits too.
	if _, err = p.Navigate(ctx, url+"/next"); !errors.As(err, &hung) || !strings.Contains(err.Error(), "over there") {
		t.Errorf("a navigation: %v", err)
	}
	if _, err := p.HandleDialog(ctx, true, ""); err == nil || !strings.Contains(err.Error(), url+"/other") {
		t.Errorf("answering a dialog that is elsewhere: %v", err)
	}
	if _, err := other.HandleDialog(ctx, true, ""); err != nil {
		t.Error(err)
	}
}
