package agent

import (
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"

	"browser-coordinator/coordinator/claim"
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/pagetest"
)

func TestMain(m *testing.M) { os.Exit(pagetest.Main(m)) }

// callInUsersTab is a call of an agent that works in a tab that its user has opened.
func callInUsersTab(t *testing.T) (*Call, *page.Page) {
	windows := registry.Open(t.Context(), registry.Options{})
	t.Cleanup(func() { windows.Close() })
	a := New(&Options{Windows: windows, Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)}, Host{})
	browser := pagetest.Connect(t)
	in := &connection{destination: destination{url: "browser", owner: ofWindow}, browser: browser}
	c := &Call{Agent: a, in: in, place: a.places.arrive(in, true, true)}
	users := pagetest.NewPage(t, browser)
	must.Do(t, c.place.moveTo(users.ID(), ""))
	return c, users
}

// A new tab that another agent takes at once is left to it, and the agent works in the next. If all are
// taken it stays where it was, and the error says so.
func TestNewTabThatIsTaken(t *testing.T) {
	c, users := callInUsersTab(t)
	a, in, browser := c.Agent, c.in, c.in.browser

	taken := 1
	a.places.claim = func(string) (func(), error) {
		if taken--; taken >= 0 {
			return nil, &claim.TakenError{Owner: "another agent (other)"}
		}
		return func() {}, nil
	}
	opened := must.Get(c.openTab(t.Context(), in))(t)
	if current := c.place.current(); current != opened.ID() || current == users.ID() {
		t.Errorf("the agent works in %s; it opened %s, and the user sees %s", current, opened.ID(), users.ID())
	}
	if own := c.place.openedForItself(); len(own) != 1 || own[0] != opened.ID() {
		t.Errorf("it would close %q, and has %s", own, opened.ID())
	}

	taken = openTries
	if p, err := c.openTab(t.Context(), in); err == nil || c.place.current() != opened.ID() {
		t.Errorf("it opened %v where all tabs are taken, and works in %s", p, c.place.current())
	}
	broken := errors.New("no folder")
	a.places.claim = func(string) (func(), error) { return nil, broken }
	before := len(must.Get(browser.Pages(t.Context()))(t))
	if _, err := c.openTab(t.Context(), in); !errors.Is(err, broken) {
		t.Errorf("a lock that fails: %v", err)
	}
	after := must.Get(browser.Pages(t.Context()))(t)
	if len(after) != before {
		t.Errorf("a tab that cannot be locked stays open: %v", after)
	}
	closeAll(t, browser, users)
}

// A tab that cannot be selected leaves the agent where it works, and the error says so.
func TestSelectOfATabThatCloses(t *testing.T) {
	c, users := callInUsersTab(t)
	tabs := &Tabs{call: c, in: c.in, Current: users.ID()}
	err := tabs.Select(t.Context(), page.Info{ID: "closed", Title: "Closed"})
	if err == nil || !strings.Contains(err.Error(), "You still work where you did") ||
		c.place.current() != users.ID() || tabs.Current != users.ID() {
		t.Errorf("%v; the agent works in %s", err, c.place.current())
	}
}

func closeAll(t *testing.T, browser *page.Browser, but *page.Page) {
	t.Helper()
	for _, tab := range must.Get(browser.Pages(t.Context()))(t) {
		if tab.ID != but.ID() && tab.Index > 0 {
			must.Do(t, browser.ClosePage(t.Context(), tab.ID))
		}
	}
}

// A connection that is being made when the session ends does not outlive it.
func TestDialOutlivesNoSession(t *testing.T) {
	windows := registry.Open(t.Context(), registry.Options{})
	t.Cleanup(func() { windows.Close() })
	a := New(&Options{Windows: windows, Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)}, Host{})
	a.End()
	_, err := a.connect(t.Context(), destination{url: pagetest.URL(), user: a.alone}, used)
	if !errors.Is(err, errOver) {
		t.Errorf("connecting after the end: %v", err)
	}
	if all := a.browsers.all(); len(all) > 0 {
		t.Errorf("%d connections outlive the session", len(all))
	}
}
