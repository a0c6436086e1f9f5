package page_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/capture"
	"browser-coordinator/coordinator/page/guard"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/internal/pagetest"
)

// A tab that has shown a prerendered document: its main frame has another id than the tab, and
// going back through the history changes the main frame. Reading, acting, frames, history and
// the guard work there.
func TestPrerenderedDocument(t *testing.T) { // alone in the browser, because it activates a tab
	prerendered, activated := make(chan struct{}), make(chan struct{})
	began, shown := sync.OnceFunc(func() { close(prerendered) }), sync.OnceFunc(func() { close(activated) })
	var forbidden atomic.Int32
	b := pagetest.Connect(t)
	opener, url := pagetest.ServeIn(t, b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		wait := func(c chan struct{}) {
			select {
			case <-c:
			case <-r.Context().Done():
			}
		}
		switch r.URL.Path {
		case "/first":
			fmt.Fprint(w, `<title>first</title><a id=go href=/second>go</a><iframe src=/inner?first></iframe>
<script type=speculationrules>{"prerender":[{"urls":["/second"],"eagerness":"immediate"}]}</script>
<script>fetch('/prerendered').then(() => sessionStorage.went ||= (document.getElementById('go').click(), 1))</script>`)
		case "/second":
			fmt.Fprint(w, `<title>second</title><button onclick="this.textContent='Pressed'">Press</button>
<iframe src=/inner?second></iframe><a href=/forbidden>forbidden</a>
<script>if (document.prerendering) {
  fetch('/began', {method: 'POST'});
  document.addEventListener('prerenderingchange', () => fetch('/activated', {method: 'POST'})) }</script>`)
		case "/began":
			began()
		case "/prerendered":
			wait(prerendered)
		case "/activated":
			shown()
		case "/forbidden":
			forbidden.Add(1)
		case "/inner":
			fmt.Fprintf(w, `<button onclick="this.textContent='Inner was pressed'">Inner %s</button>`, r.URL.RawQuery)
		default:
			fmt.Fprint(w, `<a target=_blank rel=noopener href=/first>open</a>`)
		}
	}))
	opened := pagetest.Act(t, opener, opener.Input().Click("text=open", input.ClickOptions{})).Tabs.Open
	if len(opened) != 1 {
		t.Fatalf("the link has opened %v", opened)
	}
	id := opened[0].ID
	defer func() { _ = b.ClosePage(context.Background(), id) }()
	select {
	case <-activated:
	case <-time.After(time.Minute):
		t.Fatal("the browser has not shown the prerendered document")
	}
	if err := b.Activate(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if front, err := b.InFront(t.Context()); err != nil || front != id {
		t.Errorf("in front: %s %v, want %s", front, err, id)
	}
	p, err := b.Page(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if p.ID() != id || !strings.HasSuffix(p.URL(), "/second") {
		t.Errorf("the page is %s at %s, want %s", p.ID(), p.URL(), id)
	}
	if info, err := p.Info(t.Context()); err != nil || info.Title != "second" {
		t.Errorf("%+v %v", info, err)
	}
	text := pagetest.Snapshot(t, p)
	pagetest.Contains(t, text, `button "Press"`, `button "Inner second"`)
	c := pagetest.Act(t, p, p.Input().Click(pagetest.Ref(t, text, "Press"), input.ClickOptions{}))
	if c.Navigated {
		t.Errorf("a click on a button: %+v", c)
	}
	pagetest.Act(t, p, p.Input().Click("text=Inner second", input.ClickOptions{}))
	pagetest.Contains(t, pagetest.Snapshot(t, p), `button "Pressed"`, `button "Inner was pressed"`)
	pagetest.Expect(t, p, "document.title", `"second"`)
	if img, err := p.Screen().Screenshot(t.Context(), capture.Options{}); err != nil || img.Width == 0 {
		t.Errorf("screenshot: %+v %v", img, err)
	}

	// Back to the main frame of before, and forward again: from the page cache, or loaded again.
	for _, to := range []string{"first", "second"} {
		c, err := p.Traverse(t.Context(), to == "first")
		if err != nil || !c.Navigated || c.Title != to || !strings.HasSuffix(c.URL, "/"+to) || c.Loading != "" {
			t.Fatalf("to the %s: %+v %v", to, c, err)
		}
		text := pagetest.Snapshot(t, p)
		if to == "first" || !strings.Contains(text, `button "Inner was pressed"`) {
			pagetest.Contains(t, text, `button "Inner `+to+`"`)
		}
		pagetest.Act(t, p, p.Input().Click("text=Inner", input.ClickOptions{}))
		pagetest.WaitFor(t, p, page.WaitOptions{Text: "Inner was pressed"})
	}

	// The guard refuses what this main frame opens.
	bounds := guard.Bounds{Open: func(address string) error {
		if strings.HasSuffix(address, "/forbidden") {
			return &guard.LimitError{Text: address + " is not allowed: the test forbids it"}
		}
		return nil
	}}
	if err := p.Guard().Limit(t.Context(), bounds); err != nil {
		t.Fatal(err)
	}
	c = pagetest.Act(t, p, p.Input().Click("text=forbidden", input.ClickOptions{}))
	if !errors.As(c.Refused, new(*guard.LimitError)) || forbidden.Load() != 0 {
		t.Errorf("a refused address: %+v, %d requests of it", c, forbidden.Load())
	}
	if c, err := p.Navigate(t.Context(), url+"/inner"); err != nil || !c.Navigated || c.Loading != "" {
		t.Errorf("another document: %+v %v", c, err)
	}
}
