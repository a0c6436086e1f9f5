package page

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"browser-coordinator/coordinator/page/input"
)

// TestDialogBeforeTheActIsDone: a dialog may open while an action waits for its target, or
// in the middle of it. Such an action is never reported as done.
func TestDialogBeforeTheActIsDone(t *testing.T) {
	p, _ := open(t, `<!doctype html><button id=under>Under</button><div style="position:fixed;inset:0 0 auto 0;height:40px">Over</div>
<p style="margin-top:60px"><input id=fixed readonly><input id=first><input id=second disabled><select id=s><option>a</select><span id=grip>grip</span>
<input id=slow oninput="if (this.value.length === 3) alert('three')"><button id=done onclick="alert('mine')">Done</button>
<script>var clicks = 0; under.onclick = () => clicks++; const late = () => setTimeout(() => alert('late'), 300)</script>`)
	ctx := t.Context()
	for name, test := range map[string]struct {
		do   func() (Change, error)
		done string
	}{
		"nothing there to click": {func() (Change, error) { return p.Act(ctx, p.Input().Click("#none", input.ClickOptions{})) }, "nothing was done"},
		"covered":                {func() (Change, error) { return p.Act(ctx, p.Input().Click("#under", input.ClickOptions{})) }, "nothing was done"},
		"read-only":              {func() (Change, error) { return p.Act(ctx, p.Input().Type("#fixed", "x", input.TypeOptions{})) }, "nothing was done"},
		"an option":              {func() (Change, error) { return p.Act(ctx, p.Input().SelectOption("#none", "a")) }, "nothing was done"},
		"a drag to nowhere":      {func() (Change, error) { return p.Act(ctx, p.Input().Drag("#grip", "#none")) }, "nothing was done"},
		"a text that never comes": {func() (Change, error) {
			return p.WaitFor(ctx, WaitOptions{Text: "never"})
		}, "nothing was done"},
		"the second field": {func() (Change, error) {
			return p.Act(ctx, p.Input().FillForm([]input.Field{{Target: "#first", Value: "x"}, {Target: "#second", Value: "y"}}))
		}, "1 of 2 fields are filled"},
	} {
		eval(t, p, "late()")
		c, err := test.do()
		var interrupted *InterruptedError
		if !errors.As(err, &interrupted) || interrupted.Dialog.Message != "late" || !strings.Contains(err.Error(), test.done) {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
		if _, err := p.HandleDialog(ctx, true, ""); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	if got := eval(t, p, "clicks"); got != "0" {
		t.Errorf("the covered button was clicked: %s", got)
	}

	_, err := p.Act(ctx, p.Input().Type("#slow", "abcdef", input.TypeOptions{Slowly: true}))
	var interrupted *InterruptedError
	if !errors.As(err, &interrupted) || interrupted.Done != "3 of 6 characters are typed" {
		t.Errorf("in the middle of typing: %v", err)
	}
	if _, err := p.HandleDialog(ctx, true, ""); err != nil {
		t.Fatal(err)
	}
	if c, err := p.Act(ctx, p.Input().Click("#done", input.ClickOptions{})); err != nil || c.Dialog == nil || c.Dialog.Message != "mine" {
		t.Errorf("the act's own dialog: %+v, %v", c, err)
	}
}

// TestServerThatDoesNotAnswer: an action that opens such a server's page is done. No error
// calls the page hung, and Escape cancels the navigation.
func TestServerThatDoesNotAnswer(t *testing.T) {
	release := make(chan struct{})
	p, url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/never" {
			select {
			case <-release:
			case <-r.Context().Done():
			}
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><title>Start</title><a id=a href=/never>Go</a>`)
	}))
	defer close(release)
	ctx := t.Context()
	c, err := p.Act(ctx, p.Input().Click("#a", input.ClickOptions{}))
	if err != nil || !c.Loading || c.Navigated {
		t.Fatalf("the click: %+v, %v", c, err)
	}
	p.browser.opts.CallTimeout = 2 * time.Second
	_, _, err = p.Evaluate(ctx, "1", "")
	var loading *LoadingError
	if !errors.As(err, &loading) || loading.URL != url+"/never" || !strings.Contains(err.Error(), "Escape") {
		t.Errorf("a script meanwhile: %v", err)
	}
	p.browser.opts.CallTimeout = 10 * time.Second
	if c, err := p.Act(ctx, p.Input().PressKey("Escape")); err != nil || c.Loading {
		t.Fatalf("Escape: %+v, %v", c, err)
	}
	if got := eval(t, p, "document.title"); got != `"Start"` {
		t.Errorf("after Escape the page is %s", got)
	}
	p.browser.opts.NavigateTimeout = 2 * time.Second
	if _, err := p.Navigate(ctx, url+"/never"); !errors.As(err, &loading) {
		t.Errorf("a navigation: %v", err)
	}
}

// TestDialogInAnotherTab: a dialog blocks all tabs of its process. A call in another tab
// reports the dialog's tab long before its own timeout.
func TestDialogInAnotherTab(t *testing.T) {
	p, url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><title>Start</title><button id=b onclick="window.open('/other')">Open</button>`)
	}))
	ctx := t.Context()
	c, err := p.Act(ctx, p.Input().Click("#b", input.ClickOptions{}))
	if err != nil || len(c.NewPages) != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	other, err := p.browser.Page(ctx, c.NewPages[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	eval(t, other, "setTimeout(() => alert('over there'))")
	if err := other.await(ctx, func() bool { return other.dialog != nil }); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	_, _, err = p.Evaluate(ctx, "1", "")
	var hung *HungError
	if !errors.As(err, &hung) || time.Since(start) > 6*time.Second || !strings.Contains(err.Error(), "over there") || !strings.Contains(err.Error(), url+"/other") {
		t.Errorf("a script: %v after %v", err, time.Since(start))
	}
	if _, err := p.HandleDialog(ctx, true, ""); err == nil || !strings.Contains(err.Error(), url+"/other") {
		t.Errorf("answering a dialog that is elsewhere: %v", err)
	}
	if _, err := other.HandleDialog(ctx, true, ""); err != nil {
		t.Error(err)
	}
}
