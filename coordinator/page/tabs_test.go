package page_test

import (
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/internal/pagetest"
	"context"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Tabs keep their order: the order in which they opened, whichever is in front, for every
// connection.
func TestPagesKeepTheirOrder(t *testing.T) { // alone in the browser, because it counts tabs
	b := pagetest.Connect(t)
	p, url := pagetest.ServeIn(t, b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `<title>%s</title><button onclick="window.open('/popup%s')">open</button>`, r.URL.Path, r.URL.Path)
	}))
	want := []string{p.ID()}
	order := func(b *page.Browser) []string {
		t.Helper()
		pages, err := b.Pages(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, info := range pages {
			if slices.Contains(want, info.ID) {
				ids = append(ids, info.ID)
			}
		}
		return ids
	}
	for range 4 {
		want = append(want, pagetest.NewPage(t, b).ID())
	}
	for i, id := range want[1:] {
		q, err := b.Page(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		pagetest.Navigate(t, q, fmt.Sprintf("%s/%d", url, i))
		if err := b.Activate(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if got := order(b); !slices.Equal(got, want) {
			t.Errorf("with %d in front: %v, want %v", i, got, want)
		}
	}
	second, err := b.Page(t.Context(), want[1])
	if err != nil {
		t.Fatal(err)
	}
	c, err := second.Act(t.Context(), second.Input().Click("button", input.ClickOptions{}))
	if err != nil || len(c.Tabs.Open) != 1 {
		t.Fatalf("%+v %v", c, err)
	}
	popup := c.Tabs.Open[0].ID
	defer func() { _ = b.ClosePage(t.Context(), popup) }()
	want = append(want, popup)
	if got := order(b); !slices.Equal(got, want) {
		t.Errorf("with a popup: %v, want %v", got, want)
	}
	// A later connection gets a stable order.
	late := pagetest.Connect(t)
	first := order(late)
	t.Log("the later connection finds", first, "of", want)
	if err := b.Activate(t.Context(), want[0]); err != nil {
		t.Fatal(err)
	}
	if got := order(late); !slices.Equal(got, first) {
		t.Errorf("to a later connection: %v, want %v", got, first)
	}
}

func TestTwoTabs(t *testing.T) { // alone in the browser, because it activates a tab
	b := pagetest.Connect(t)
	one, two := pagetest.NewPage(t, b), pagetest.NewPage(t, b)
	for i, p := range []*page.Page{one, two} {
		pagetest.Navigate(t, p, fmt.Sprintf("data:text/html,<title>T%d</title><button onclick='n=%d'>B%d</button><input>", i,
			i, i))
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
		for _, p := range []*page.Page{one, two} {
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
	for i, p := range []*page.Page{one, two} {
		pagetest.Expect(t, p, "n + document.querySelector('input').value", fmt.Sprintf(`"%d%s"`, i, p.ID()))
	}
	if err := b.Activate(t.Context(), two.ID()); err != nil {
		t.Fatal(err)
	}
	if current, err := pagetest.Connect(t).InFront(t.Context()); err != nil || current == "" {
		t.Errorf("the current page: %v", err)
	}
	if _, err := b.Page(t.Context(), "0123"); err == nil {
		t.Error("an unknown page is no error")
	}
}

// Popups by script, by target, with and without an opener; one is blocked.
func TestPopups(t *testing.T) {
	t.Parallel()
	b := pagetest.Connect(t)
	p, _ := pagetest.ServeIn(t, b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `<!doctype html><title>%s</title><button id=script onclick="window.open('/script')">script</button>
<button id=noopener onclick="window.open('/noopener','_blank','noopener')">noopener</button>
<a id=blank target=_blank href="/blank">blank</a>
<button id=two onclick="window.open('/one');window.open('/two')">two</button>
<button id=write onclick="window.open().document.write('<title>written</title>')">write</button>`, r.URL.Path)
	}))
	for _, test := range []struct {
		target string
		urls   []string
	}{{"#script", []string{"/script"}}, {"#noopener", []string{"/noopener"}}, {"#blank", []string{"/blank"}},
		{"#write", []string{""}}} {
		c, err := p.Act(t.Context(), p.Input().Click(test.target, input.ClickOptions{}))
		if err != nil || len(c.Tabs.Open) != len(test.urls) || c.Navigated {
			t.Errorf("%s: %+v %v", test.target, c, err)
		}
		for _, info := range c.Tabs.Open {
			q, err := b.Page(t.Context(), info.ID)
			if err != nil {
				t.Fatal(err)
			}
			titled := page.WaitOptions{URL: test.urls[0], Expression: "document.title", Timeout: 5 * time.Second}
			if _, err := q.WaitFor(t.Context(), titled); err != nil {
				t.Errorf("%s: working in the popup: %v", test.target, err)
			}
			if err := b.ClosePage(t.Context(), info.ID); err != nil {
				t.Error(err)
			}
		}
	}
}

// A tab that the user opens while an action opens one is not the page's: an agent would close it.
func TestTabOfTheUserDuringAnAction(t *testing.T) {
	t.Parallel()
	b, user := pagetest.Connect(t), pagetest.Connect(t)
	p, url := pagetest.ServeIn(t, b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/user":
			opened, err := user.OpenTab(t.Context()) // as Ctrl+T: no page is its opener
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() { _ = user.ClosePage(context.Background(), opened) })
			if _, err := b.Pages(t.Context()); err != nil {
				t.Error(err)
			}
		case "/":
			fmt.Fprint(w, `<!doctype html><script>
function userOpens() { const r = new XMLHttpRequest(); r.open("GET", "/user", false); r.send() }
</script><button id=script onclick="userOpens(); window.open('/opened')">script</button>
<button id=noopener onclick="userOpens(); window.open('/opened', '_blank', 'noopener')">noopener</button>
<a id=blank target=_blank onclick="userOpens()" href="/opened">blank</a>
<a id=link onclick="userOpens()" href="/opened?a b#ä">link</a>
<a id=empty onclick="userOpens()" href="about:blank">empty</a>`)
		}
	}))
	with := func(modifier string) input.ClickOptions { return input.ClickOptions{Modifiers: []string{modifier}} }
	for _, test := range []struct {
		action input.Action
		tabs   int
	}{
		{p.Input().Click("#script", input.ClickOptions{}), 1}, {p.Input().Click("#noopener", input.ClickOptions{}), 1},
		{p.Input().Click("#blank", input.ClickOptions{}), 1}, {p.Input().Click("#link", with("Control")), 1},
		{p.Input().Click("#link", with("Shift")), 1}, {p.Input().PressKeyIn("#link", "Control+Enter"), 1},
		{p.Input().Click("#empty", with("Control")), 0},
	} {
		open := pagetest.Act(t, p, test.action).Tabs.Open
		if len(open) != test.tabs || len(open) > 0 && !strings.HasPrefix(open[0].URL, url+"/opened") {
			t.Errorf("%s opened %+v, want %d", test.action.Operation, open, test.tabs)
		}
		for _, tab := range open {
			listed := func(i page.Info) bool { return i.ID == tab.ID && i.OpenerID == p.ID() }
			if pages, err := b.Pages(t.Context()); err != nil || !slices.ContainsFunc(pages, listed) {
				t.Errorf("%s: %+v is not in %+v, %v", test.action.Operation, tab, pages, err)
			}
			if err := b.ClosePage(t.Context(), tab.ID); err != nil {
				t.Error(err)
			}
		}
	}
}

// A call that attaches to a page and is cancelled fails alone: the calls that wait for the same
// page attach themselves.
func TestCancelledAttach(t *testing.T) {
	t.Parallel()
	b := pagetest.Connect(t)
	for round := range 20 {
		id := pagetest.NewPage(t, b).ID()
		other := pagetest.Connect(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(round)*300*time.Microsecond)
		var attaching sync.WaitGroup
		attaching.Go(func() { _, _ = other.Page(ctx, id) })
		runtime.Gosched()
		for range 3 {
			attaching.Go(func() {
				if _, err := other.Page(t.Context(), id); err != nil {
					t.Errorf("round %d: %v", round, err)
				}
			})
		}
		attaching.Wait()
		cancel()
	}
}
