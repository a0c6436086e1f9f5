package page_test

import (
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/fetch"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/pagetest"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestErrorsOfAsyncHandlers: errors are reported as soon as they are known, and never as
// the errors of another action.
func TestErrorsOfAsyncHandlers(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<button id=throws onclick="(async () => { await 0; throw new Error('in between') })()">Throw</button>
<button id=rejects onclick="Promise.reject(new Error('rejected'))">Reject</button>
<button id=late onclick="setTimeout(() => { throw new Error('late') }, 50)">Late</button>
<button id=logs onclick="setTimeout(() => console.error('logged'))">Log</button><button id=fine>Fine</button>`)
	for i, test := range []struct{ target, want string }{
		{"#throws", "in between"}, {"#rejects", "rejected"}, {"#late", "late"}, {"#logs", "logged"},
	} {
		c, err := p.Act(t.Context(), p.Input().Click(test.target, input.ClickOptions{}))
		if err != nil {
			t.Errorf("%s: %+v, %v", test.target, c, err)
		}
		must.Await(t, "the message", func() bool { return p.History().Console.Last() > int64(i) })
		next, err := p.Act(t.Context(), p.Input().Click("#fine", input.ClickOptions{}))
		if err != nil || len(next.Console) > 0 {
			t.Errorf("after %s: %+v, %v", test.target, next, err)
		}
		reported := append(next.Late.Errors, c.Late.Errors...)
		reported = append(reported, c.Console...)
		if len(reported) != 1 || !strings.Contains(reported[0].Text, test.want) {
			t.Errorf("%s: reported is %+v", test.target, reported)
		}
	}
}

// What the agent was told in other words is not reported as late.
func TestFailureThatWasTheAnswer(t *testing.T) {
	t.Parallel()
	p, url := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			w.WriteHeader(http.StatusTeapot)
		}
		fmt.Fprint(w, `<!doctype html><button id=fine>Fine</button>`)
	}))
	pagetest.Act(t, p, p.Input().Click("#fine", input.ClickOptions{}))
	if r, err := p.Fetcher().Fetch(t.Context(), fetch.Request{URL: "/tea"}); err != nil || r.Status != http.StatusTeapot {
		t.Errorf("%+v %v", r, err)
	}
	if effects := p.LateEffects(t.Context()); len(effects.Failed) > 0 {
		t.Errorf("after a fetch: %+v", effects)
	}
	if _, err := p.Navigate(t.Context(), "http://shop.invalid/"); err == nil {
		t.Error("the host is known")
	}
	pagetest.Navigate(t, p, url)
	c, err := p.Act(t.Context(), p.Input().Click("#fine", input.ClickOptions{}))
	if err != nil || len(c.Failed)+len(c.Late.Failed) > 0 {
		t.Errorf("after a navigation: %+v %v", c, err)
	}
}

// What went wrong between two actions is not counted as the later one's.
func TestLateFailures(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	p, _ := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			fmt.Fprint(w, `<!doctype html><button id=slow onclick="fetch('/slow').then(() => null.x)">Slow</button>
<button id=bad onclick="fetch('/bad')">Bad</button>`)
			return
		}
		if r.URL.Path == "/slow" {
			<-hold
		}
		w.WriteHeader(http.StatusTeapot)
	}))
	first, err := p.Act(t.Context(), p.Input().Click("#slow", input.ClickOptions{}))
	close(hold)
	if err != nil || len(first.Waiting) != 1 {
		t.Errorf("%+v %v", first, err)
	}
	// and the browser's message of the request
	must.Await(t, "the error", func() bool { return len(p.History().Console.After(0, "error")) == 2 })
	second, err := p.Act(t.Context(), p.Input().Click("#bad", input.ClickOptions{}))
	effects := second.Late
	if err != nil || len(effects.Failed) != 1 || !strings.HasSuffix(effects.Failed[0].URL, "/slow") ||
		len(effects.Errors) != 1 || !strings.Contains(effects.Errors[0].Text, "TypeError") {
		t.Errorf("late: %+v %v", effects, err)
	}
	if len(second.Failed) != 1 || !strings.HasSuffix(second.Failed[0].URL, "/bad") || len(second.Console) > 0 {
		t.Errorf("the action's own: %+v", second.Effects)
	}
	if effects := p.LateEffects(t.Context()); len(effects.Errors)+len(effects.Failed) > 0 {
		t.Errorf("again: %+v", effects)
	}
}

func TestWhatAnActionChanged(t *testing.T) {
	t.Parallel()
	b := pagetest.Connect(t)
	p, url := pagetest.ServeIn(t, b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `<!doctype html><title>page %s</title><a id=next href="/next">next</a> <a id=hash href="#here">hash</a>
<a id=tab target=_blank href="/tab">tab</a> <button id=err onclick="null.x">err</button>
<a id=file href="data:text/plain,x" download=x.txt>file</a> <button id=quiet>quiet</button>`, r.URL.Path)
	}))
	click := func(target string) page.Change {
		t.Helper()
		c, err := p.Act(t.Context(), p.Input().Click(target, input.ClickOptions{}))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if c := click("#quiet"); c.Navigated || c.Loading != "" || len(c.Console) > 0 || len(c.Tabs.Open) > 0 ||
		c.Dialog != nil {
		t.Errorf("a click without effect: %+v", c)
	}
	if c := click("#hash"); !c.Navigated || c.URL != url+"/#here" {
		t.Errorf("a click on a fragment: %+v", c)
	}
	if c := click("#err"); len(c.Console) != 1 || !strings.Contains(c.Console[0].Text, "TypeError") ||
		c.Console[0].Source != "exception" {
		t.Errorf("a click whose handler throws: %+v", c)
	}
	c := click("#tab")
	if len(c.Tabs.Open) != 1 || c.Navigated {
		t.Fatalf("a click that opens a tab: %+v", c)
	}
	if err := b.ClosePage(t.Context(), c.Tabs.Open[0].ID); err != nil {
		t.Error(err)
	}
	if c := click("#next"); !c.Navigated || c.Loading != "" || c.URL != url+"/next" || c.Title != "page /next" {
		t.Errorf("a click on a link: %+v", c)
	}
	if c, err := p.Traverse(t.Context(), true); err != nil || c.URL != url+"/#here" {
		t.Errorf("back: %+v %v", c, err)
	}
	if c, err := p.Traverse(t.Context(), false); err != nil || c.URL != url+"/next" {
		t.Errorf("forward: %+v %v", c, err)
	}
	if c, err := p.Reload(t.Context()); err != nil || !c.Navigated {
		t.Errorf("reload: %+v %v", c, err)
	}
	if _, err := p.Traverse(t.Context(), false); err == nil {
		t.Error("forward at the end is no error")
	}
}

// The answer to an action has what an animation shows or hides; an endless, a long or a
// coloured one delays no answer.
func TestAnimatedParts(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<style>.part{overflow:hidden} #max{max-height:0;transition:max-height .3s} .on #max{max-height:99px}
#grid{display:grid;grid-template-rows:0fr;transition:grid-template-rows .3s}
#grid p{min-height:0;overflow:hidden;margin:0} .on #grid{grid-template-rows:1fr}
#seen{visibility:hidden;transition:visibility 0s .25s} .on #seen{visibility:visible}
#frames{height:0} .on #frames{height:20px;animation:open .3s} @keyframes open{from{height:0}}
@keyframes ever{from{width:9px}} #ever{animation:ever .2s infinite}
#long{width:9px;transition:width 9s} .on #long{width:99px} #quiet{transition:color .9s} .on #quiet{color:red}</style>
<button id=b onclick="document.body.classList.toggle('on')">Toggle</button><div id=max class=part>Height</div>
<div id=grid><p>Rows</p></div><div id=seen>Visible</div><div id=frames class=part>Frames</div>
<div id=ever></div><div id=long></div><button id=quiet onclick="document.body.classList.toggle('on')">Quiet</button>`)
	pagetest.Snapshot(t, p)
	toggle := func(target string) string {
		pagetest.Act(t, p, p.Input().Click(target, input.ClickOptions{}))
		return p.Look(t.Context()).Text
	}
	pagetest.Contains(t, toggle("#b"), "+ - Height", "+ - Rows", "+ - Visible", "+ - Frames")
	pagetest.Contains(t, toggle("#b"), "- - Height", "- - Rows", "- - Visible", "- - Frames")
	pagetest.Evaluate(t, p, "document.querySelectorAll('.part, #grid, #seen').forEach((e) => e.remove())")
	// What is waited for takes half a second. A busy machine has several tries for less.
	must.Await(t, "an answer that other animations do not delay", func() bool {
		start := time.Now()
		toggle("#quiet")
		return time.Since(start) < 450*time.Millisecond
	})
}

// So it has what a response shows with an animation while another one runs, and what the next
// document shows with one.
func TestPartsThatAreAnimatedLate(t *testing.T) {
	t.Parallel()
	p, url := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/rows" {
			time.Sleep(150 * time.Millisecond) // half of the first animation
		}
		fmt.Fprint(w, `<!doctype html>
<style>p{overflow:hidden;animation:open .3s} @keyframes open{from{height:0}to{height:20px}}</style>
<button id=load onclick="load.insertAdjacentHTML('afterend', '<p>Loading</p>');
  fetch('/rows').then(() => load.insertAdjacentHTML('afterend', '<p>Rows</p>'))">Load</button>
<a id=next href=/next>Next</a>
<script>if (location.pathname === "/next")
  onload = () => document.body.insertAdjacentHTML("beforeend", "<p>Panel</p>")</script>`)
	}))
	for target, parts := range map[string]int{"#load": 2, "#next": 1} {
		// A busy machine has several tries: what is waited for takes half a second there.
		must.Await(t, "the end of the animations after a click on "+target, func() bool {
			pagetest.Navigate(t, p, url)
			pagetest.Act(t, p, p.Input().Click(target, input.ClickOptions{}))
			counts := "[document.querySelectorAll('p').length, document.getAnimations().length]"
			return pagetest.Evaluate(t, p, counts) == fmt.Sprintf("[%d,0]", parts)
		})
	}
}

// A form in a frame that an action sends is answered in that frame.
func TestFormInAFrame(t *testing.T) {
	t.Parallel()
	p, url := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/frame":
			fmt.Fprint(w, `<!doctype html><form action=/posted method=post><button>Submit</button></form>`)
		case "/posted":
			time.Sleep(100 * time.Millisecond) // a server that needs longer than the click
			fmt.Fprint(w, `<!doctype html><h1>Posted</h1>`)
		default:
			fmt.Fprint(w, `<!doctype html><h1>Shop</h1><iframe src=/frame></iframe>`)
		}
	}))
	// A busy machine has several tries: an action waits for half a second.
	must.Await(t, "the answer in the frame", func() bool {
		pagetest.Navigate(t, p, url)
		text := pagetest.Snapshot(t, p)
		pagetest.Act(t, p, p.Input().Click(pagetest.Ref(t, text, "Submit"), input.ClickOptions{}))
		return strings.Contains(p.Look(t.Context()).Text, `+   - heading "Posted"`)
	})
}
