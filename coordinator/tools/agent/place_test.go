package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"browser-coordinator/coordinator/claim"
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/registry"
)

// TestTheRightTab holds the places of two agents against the law, over random sequences of what they,
// their user and the pages do. The browser is a list of tabs: a real one is in package tools.
func TestTheRightTab(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{claims: map[string]*worker{}}
		w.restart()
		for n := range 2 {
			w.workers = append(w.workers, w.hire(n))
		}
		act := func(f func(*rapid.T, *worker)) func(*rapid.T) {
			return func(t *rapid.T) { f(t, rapid.SampledFrom(w.workers).Draw(t, "agent")) }
		}
		t.Repeat(map[string]func(*rapid.T){
			"read":     act(func(t *rapid.T, a *worker) { a.call(t, toRead) }),
			"click":    act(func(t *rapid.T, a *worker) { a.call(t, toAct) }),
			"navigate": act(func(t *rapid.T, a *worker) { a.call(t, toOpen) }),
			"new":      act(func(t *rapid.T, a *worker) { a.open(t) }),
			"select":   act(func(t *rapid.T, a *worker) { a.move(t) }),
			"close":    act(func(t *rapid.T, a *worker) { a.close(t) }),
			"popup":    act(func(t *rapid.T, a *worker) { a.popup(t) }),
			"idle":     act(func(_ *rapid.T, a *worker) { a.places.releaseAll() }),
			"reconnect": func(t *rapid.T) { // the browser lives
				for _, a := range w.workers {
					a.in = w.connection()
				}
			},
			"user closes": func(t *rapid.T) {
				if tab := w.draw(t); tab != "" {
					w.close(tab)
				}
			},
			"user looks": func(t *rapid.T) { w.front = w.draw(t) },
			"user opens": func(t *rapid.T) { w.front = w.create("") },
			"restart": func(*rapid.T) {
				w.restart()
				for _, a := range w.workers {
					a.in = w.connection()
				}
			},
			"": func(t *rapid.T) {
				for tab, holder := range w.claims {
					if holder.mine(tab) == false {
						t.Fatalf("%s holds the tab %s, and does not know", holder.name, tab)
					}
				}
			},
		})
	})
}

// world is a browser with its tabs, and those who use it.
type world struct {
	browsers, tabs int // counted
	open           []page.Info
	front          string
	claims         map[string]*worker
	workers        []*worker
}

func (w *world) InFront(context.Context) (string, error)    { return w.front, nil }
func (w *world) Pages(context.Context) ([]page.Info, error) { return slices.Clone(w.open), nil }
func (w *world) Page(_ context.Context, id string) (*page.Page, error) {
	if find(w.open, id) == nil {
		return nil, errors.New("no such tab")
	}
	return nil, nil
}

// restart is another browser, with one tab.
func (w *world) restart() {
	w.browsers++
	w.open = nil
	w.front = w.create("")
}

func (w *world) create(opener string) string {
	w.tabs++
	tab := fmt.Sprint("tab", w.tabs)
	w.open = append(w.open, page.Info{ID: tab, Index: w.tabs, OpenerID: opener})
	return tab
}

func (w *world) close(tab string) {
	w.open = slices.DeleteFunc(w.open, func(p page.Info) bool { return p.ID == tab })
	if w.front == tab {
		w.front = ""
		if len(w.open) > 0 {
			w.front = w.open[0].ID
		}
	}
}

func (w *world) draw(t *rapid.T) string {
	if len(w.open) == 0 {
		return ""
	}
	return rapid.SampledFrom(w.open).Draw(t, "tab").ID
}

func (w *world) connection() *connection {
	return &connection{destination: destination{
		url: fmt.Sprint("browser", w.browsers), owner: ofWindow, window: registry.Window{Address: "window"},
	}}
}

// worker is an agent, and what its answers have told it.
type worker struct {
	*world
	name    string
	places  *places
	in      *connection
	named   string // the tab in which it works, by its last answer; empty: none
	browser string // in which it has worked
	opened  map[string]bool
}

func (w *world) hire(n int) *worker {
	a := &worker{world: w, name: fmt.Sprint("agent", n), in: w.connection(), opened: map[string]bool{}}
	a.places = newPlaces(func(tab string) (func(), error) {
		if holder := w.claims[tab]; holder != nil && holder != a {
			return nil, &claim.TakenError{Owner: "another agent (other)"}
		}
		w.claims[tab] = a
		return func() { delete(w.claims, tab) }, nil
	}, func(string) {}, func() {})
	return a
}

func (a *worker) mine(tab string) bool {
	return a.places.at(a.in.seat()).claims[tab] != nil
}

func (a *worker) place(acts bool) *place { return a.places.arrive(a.in, acts, true) }

// isNew reports whether the agent has never worked in this browser.
func (a *worker) isNew() bool { return a.browser != a.in.url }

// call is a call that names no tab.
func (a *worker) call(t *rapid.T, n need) {
	p := a.place(n != toRead)
	tab, what, err := p.choose(t.Context(), a.world, n)
	isNew := a.isNew()
	switch {
	case errors.Is(err, errNoTab):
		return
	case err != nil:
		t.Fatalf("%s: %v", a.name, err)
	case what.does == refuse:
		a.named, a.browser = tab, a.in.url // the error names it
		return
	case what.does == openOwn || tab == "":
		a.open(t)
		return
	}
	if n != toRead && !isNew && tab != a.named {
		t.Fatalf("%s acts in %s, and its last answer named %q", a.name, tab, a.named)
	}
	if n == toAct && isNew && a.browser != "" {
		t.Fatalf("%s acts in another browser than that of its last answer", a.name)
	}
	if n == toRead && !isNew && tab != a.named && what.told == "" {
		t.Fatalf("%s reads %s without a word, and its last answer named %q", a.name, tab, a.named)
	}
	if holder := a.claims[tab]; n != toRead && holder != a {
		t.Fatalf("%s acts in %s, which it does not have", a.name, tab)
	}
	if find(a.world.open, tab) == nil {
		t.Fatalf("%s works in %s, which has closed", a.name, tab)
	}
	a.named, a.browser = tab, a.in.url
}

// open opens a tab, in which another agent may begin to work first.
func (a *worker) open(t *rapid.T) {
	p := a.place(true)
	tab := a.create("")
	if rapid.Bool().Draw(t, "seen at once") {
		a.front = tab
		for _, other := range a.workers {
			if other != a {
				other.call(t, toAct)
			}
		}
	}
	err := p.open(tab)
	switch {
	case errors.Is(err, claim.ErrTaken):
		if a.claims[tab] == a {
			t.Fatalf("%s has %s, and is told that another has it", a.name, tab)
		}
		return
	case err != nil:
		t.Fatalf("%s: %v", a.name, err)
	}
	a.named, a.browser, a.opened[tab] = tab, a.in.url, true
}

// move selects a tab.
func (a *worker) move(t *rapid.T) {
	p, tab := a.place(true), a.draw(t)
	if tab == "" {
		return
	}
	if err := p.moveTo(tab, ""); err == nil {
		a.named, a.browser = tab, a.in.url
	} else if a.claims[tab] == nil {
		t.Fatalf("%s cannot select the free tab %s: %v", a.name, tab, err)
	}
}

// close closes a tab that the agent has opened, as Tabs.Close does.
func (a *worker) close(t *rapid.T) {
	p, tab := a.place(true), a.draw(t)
	if tab == "" || !p.hasOpened(tab) || p.alsoClaim(tab) != nil {
		return
	}
	if !a.opened[tab] || a.claims[tab] != a {
		t.Fatalf("%s closes %s, which it has not opened, or in which another works", a.name, tab)
	}
	a.world.close(tab)
	wasNamed := a.named == tab
	p.closed(tab, a.world.open)
	p.reported()
	if wasNamed || p.current() != a.named {
		a.named = p.current() // the list shows it
	}
	a.browser = a.in.url
}

// popup is a tab that the page opens in which the agent acts.
func (a *worker) popup(t *rapid.T) {
	a.call(t, toAct)
	if a.named == "" || a.claims[a.named] != a {
		return
	}
	tab := a.create(a.named)
	a.place(true).adopt([]page.Info{{ID: tab, OpenerID: a.named}}, a.named)
	a.opened[tab] = true
}
