package registry

import (
	"strings"
	"testing"

	"browser-coordinator/vscodeipc"
)

// sharing is the state of a window that shares a debug session's pages. Nothing serves these
// pages: they are not dialed before a client connects.
func sharing(sessions []vscodeipc.DebugSession, pages ...string) vscodeipc.State {
	state := vscodeipc.State{DebugSessions: sessions}
	for _, id := range pages {
		state.Pages = append(state.Pages, vscodeipc.PageEndpoint{DebugSession: id, URL: "ws://127.0.0.1:1/" + id})
	}
	return state
}

// TestPagesAreABrowser: a window without a browser-level endpoint still has a browser,
// one for each debug session.
func TestPagesAreABrowser(t *testing.T) {
	shop, r := shop(t)
	source := r.Source(shop)
	window := serve(t, shop)
	show := func(description string, state vscodeipc.State, ok func(Window) bool) Window {
		t.Helper()
		set(t, window, state)
		var shown Window
		eventually(t, r, description, func(l Listing) bool {
			if len(l.Windows) == 0 || len(l.Windows[0].State.Pages) != len(state.Pages) || !ok(l.Windows[0]) {
				return false
			}
			shown = l.Windows[0]
			return true
		})
		return shown
	}
	first := []vscodeipc.DebugSession{{ID: "a", Type: "chrome", Name: "Shop"}, {ID: "a1", Parent: "a"},
		{ID: "a2", Parent: "a"}}
	has := func(w Window) bool { return w.Browser() != nil }

	w := show("a page comes", sharing(first, "a1"), has)
	browser := w.Browser()
	if !strings.HasPrefix(browser.URL, "ws://127.0.0.1:") || browser.DebugSession != "a" || browser.Via != "pages" ||
		w.State.Browser != nil {
		t.Errorf("%+v", browser)
	}
	named, _ := source.Browser()
	if named == nil || named.InProcess == nil || named.URL != browser.URL || named.Name != "Shop" {
		t.Errorf("the endpoint has %+v", named)
	}
	w = show("another page comes", sharing(first, "a1", "a2"), has)
	if again, _ := source.Browser(); w.Browser().URL != browser.URL || again.Generation != named.Generation {
		t.Error("another page made another browser")
	}

	second := append(first, vscodeipc.DebugSession{ID: "b", Type: "chrome", Name: "Next"},
		vscodeipc.DebugSession{ID: "b1", Parent: "b"})
	w = show("another debug session has pages", sharing(second, "a1", "a2", "b1"), has)
	if next, _ := source.Browser(); w.Browser().URL == browser.URL || next.Generation == named.Generation ||
		next.Name != "Next" {
		t.Errorf("the newest debug session is not the browser: %+v", next)
	}
	show("they go", vscodeipc.State{}, func(w Window) bool { return w.Browser() == nil })
	if gone, _ := source.Browser(); gone != nil {
		t.Errorf("%+v", gone)
	}

	state := sharing(first, "a1")
	state.Browser = browserState("ws://127.0.0.1:1/devtools/browser/a", "a").Browser
	w = show("a browser with a port", state, has)
	if w.Browser().Via != "injected" {
		t.Errorf("%+v", w.Browser())
	}
}

// TestNewestPages: pages belong to the root debug session, and parts of a page to the
// page.
func TestNewestPages(t *testing.T) {
	session, pages := newestPages(sharing([]vscodeipc.DebugSession{
		{ID: "a"}, {ID: "a1", Parent: "a"}, {ID: "a1w", Parent: "a1"}, {ID: "b"},
	}, "a1", "a1w"))
	if session != "a" || len(pages) != 2 || pages[0].Parent != "" || pages[1].Parent != "a1" || pages[1].Key != "a1w" {
		t.Errorf("%q %+v", session, pages)
	}
	if session, pages := newestPages(vscodeipc.State{}); session != "" || len(pages) != 0 {
		t.Errorf("%q %+v", session, pages)
	}
	loop := []vscodeipc.DebugSession{{ID: "a", Parent: "b"}, {ID: "b", Parent: "a"}}
	if _, pages := newestPages(sharing(loop, "a")); len(pages) > 1 {
		t.Errorf("%+v", pages)
	}
}
