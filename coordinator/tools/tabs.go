package tools

import (
	"browser-coordinator/coordinator/page/guard"
	"context"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/page"
)

type tabsIn struct {
	Action string `json:"action" jsonschema:"list, new, close or select"`
	Index  *int   `json:"index,omitempty"`
	URL    string `json:"url,omitempty"`
	Front  bool   `json:"front,omitempty" jsonschema:"show it to the user"`
	inWindow
}

func (s *Server) addTabTools() {
	add(s, &mcp.Tool{
		Name:        "browser_tabs",
		Description: "List tabs, open one, close one that you opened, or select yours",
		Annotations: acts("Tabs"), OutputSchema: listOf("tabs"),
	}, tabs)
}

// tabOut is one tab in the structured answer of browser_tabs.
type tabOut struct {
	Index   int    `json:"index"`
	Title   string `json:"title"`
	URL     string `json:"url"`
	Current bool   `json:"current"`
	Yours   bool   `json:"yours"`
}

// tabs does the requested action, and answers with the resulting list of tabs.
func tabs(ctx context.Context, a *agent, in tabsIn) (*answer, error) {
	ctx = readOnly(ctx) // only action new opens a tab
	out, err := doTabs(ctx, a, in)
	if err != nil {
		return nil, err
	}
	l, err := a.linkTo(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	current, err := a.openPage(ctx, l)
	if err != nil {
		return nil, err
	}
	pages, err := l.browser.Pages(ctx)
	if err != nil {
		return nil, err
	}
	list := []tabOut{}
	for i, p := range pages {
		a.mu.Lock()
		yours := l.opened[p.ID] || l.own
		a.mu.Unlock()
		list = append(list, tabOut{i, p.Title, p.URL, p.ID == current, yours})
	}
	out.tell("tabs", list)
	return out, nil
}

// openPage is the id of the current page, for a caller that also gets the list of tabs
// and sees a closed one there; empty if the browser has no page.
func (a *agent) openPage(ctx context.Context, l *link) (string, error) {
	p, err := a.currentPage(ctx, l)
	if errors.As(err, new(*closedTabError)) {
		p, err = a.currentPage(ctx, l)
	}
	switch {
	case errors.Is(err, errNoTab):
		return "", nil
	case err != nil:
		return "", err
	default:
		return p.ID(), nil
	}
}

func doTabs(ctx context.Context, a *agent, in tabsIn) (*answer, error) {
	if err := oneOf("action", in.Action, "list", "new", "close", "select"); err != nil {
		return nil, err
	}
	l, err := a.linkTo(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	current, err := a.openPage(ctx, l)
	if err != nil {
		return nil, err
	}
	pages, err := l.browser.Pages(ctx)
	if err != nil {
		return nil, err
	}
	switch in.Action {
	case "new":
		out, err := a.openTab(ctx, l, in.URL)
		if err == nil && in.Front {
			err = a.front(ctx, l)
		}
		return out, err
	case "select", "close":
		chosen, err := tabAt(pages, in.Index, current, in.Action == "close")
		if err != nil {
			return nil, err
		}
		if in.Action == "close" {
			return a.closeTab(ctx, l, chosen)
		}
		if !a.claim(l, chosen.ID) {
			return nil, fmt.Errorf("another agent works in the tab %q: open one of your own with action new", chosen.Title)
		}
		current = chosen.ID
		_, err = l.browser.Page(ctx, chosen.ID)
		if err == nil && in.Front {
			err = a.front(ctx, l)
		}
		if err != nil {
			return nil, err
		}
	}
	out := a.begin()
	for i, p := range pages {
		mark := ""
		if p.ID == current {
			mark = " (current)"
		}
		out.told(fmt.Sprintf("%d: %s %s%s", i, p.Title, p.URL, mark), true)
	}
	return out, nil
}

// front brings the agent's tab to the front. No other function does.
func (a *agent) front(ctx context.Context, l *link) error {
	a.mu.Lock()
	id := l.current
	a.mu.Unlock()
	return l.browser.Activate(ctx, id)
}

func tabAt(pages []page.Info, index *int, current string, orCurrent bool) (page.Info, error) {
	if index == nil && orCurrent {
		for _, p := range pages {
			if p.ID == current {
				return p, nil
			}
		}
	}
	if index == nil || *index < 0 || *index >= len(pages) {
		return page.Info{}, fmt.Errorf("index: want a number from 0 to %d, as browser_tabs lists them", len(pages)-1)
	}
	return pages[*index], nil
}

func (a *agent) openTab(ctx context.Context, l *link, url string) (*answer, error) {
	if err := a.mayShow(ctx, l.folders, url); err != nil {
		return nil, err
	}
	a.mu.Lock()
	before := l.current
	a.mu.Unlock()
	p, err := l.browser.NewPage(ctx, "about:blank")
	if p != nil {
		a.mu.Lock()
		l.opened[p.ID()] = true
		a.mu.Unlock()
		a.claim(l, p.ID())
	}
	if err == nil {
		err = a.bind(ctx, p, url)
	}
	change := page.Change{URL: "about:blank"}
	if err == nil && url != "" {
		change, err = p.Navigate(ctx, url)
	}
	if errors.As(err, new(*guard.OriginError)) { // only the browser itself could detect this
		return nil, errors.Join(err, a.dropTab(ctx, l, p.ID(), before))
	}
	if err != nil {
		return nil, err
	}
	out := a.begin()
	out.addf("Opened a tab; you work in it now.")
	change.Navigated = true
	out.changed(change)
	return out, nil
}

// dropTab closes a tab that the agent has just opened, and returns to the one before.
func (a *agent) dropTab(ctx context.Context, l *link, id, before string) error {
	if err := l.browser.ClosePage(ctx, id); err != nil {
		return err
	}
	a.mu.Lock()
	delete(l.opened, id)
	l.unclaim()
	l.current = ""
	a.mu.Unlock()
	if before != "" {
		a.claim(l, before)
	}
	return nil
}

// closeTab closes a tab that this agent opened. It keeps the user's tabs: an agent ends
// only what it started.
func (a *agent) closeTab(ctx context.Context, l *link, tab page.Info) (*answer, error) {
	a.mu.Lock()
	mine := l.opened[tab.ID] || l.own
	a.mu.Unlock()
	if !mine {
		return nil, fmt.Errorf("the tab %q was not opened by you, so it stays: it is the developer's. Use select to work in another", tab.Title)
	}
	if err := l.browser.ClosePage(ctx, tab.ID); err != nil {
		return nil, err
	}
	a.mu.Lock()
	delete(l.opened, tab.ID)
	if l.current == tab.ID {
		l.unclaim()
		l.current = ""
	}
	a.mu.Unlock()
	out := a.begin()
	out.quotef("Closed the tab %q.", tab.Title)
	return out, nil
}
