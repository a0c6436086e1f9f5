package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"browser-coordinator/coordinator/page"
)

// Page returns the agent's current page in the selected window, if the agent may read it.
func (c *Call) Page(ctx context.Context) (*page.Page, error) {
	p, err := c.AnyPage(ctx)
	if err != nil {
		return nil, err
	}
	return p, c.mayRead(ctx, p)
}

// AnyPage is Page for calls that leave the page: it may show what the agent may not read.
func (c *Call) AnyPage(ctx context.Context) (*page.Page, error) {
	l, err := c.link(ctx)
	if err != nil {
		return nil, err
	}
	p, err := c.currentPage(ctx, l, c.use())
	if errors.Is(err, page.ErrBrowserGone) {
		err = fmt.Errorf("%w: %w", page.ErrUnsent, err)
	}
	if err != nil {
		return nil, err
	}
	return p, c.Bind(ctx, p, "")
}

// Routed is the browser, with the agent's page attached.
func (c *Call) Routed(ctx context.Context) (*page.Browser, error) {
	l, err := c.link(ctx)
	if err != nil {
		return nil, err
	}
	_, err = c.currentPage(ctx, l, c.use())
	return l.browser, err
}

// use is what a call needs of the agent's page.
type use int

const (
	reads use = iota // shares a page that another agent works in
	acts             // only in a page of the agent's own
	opens            // opens an address: in a tab of the agent's own, if need be in a new one
)

func (c *Call) use() use {
	switch {
	case c.readOnly():
		return reads
	case c.Opens:
		return opens
	}
	return acts
}

// currentPage is the page that the agent works in. At the agent's first call that is the
// page that the user sees. It stays the same, whichever tab the user selects later. Only a
// call that opens an address opens a tab.
func (a *Agent) currentPage(ctx context.Context, l *link, use use) (*page.Page, error) {
	b := &a.browsers
	if id := b.currentOf(l); id != "" && b.claim(l, id) {
		p, err := l.browser.Page(ctx, id)
		if err == nil {
			return p, nil
		}
		if pages, listErr := l.browser.Pages(ctx); listErr != nil || find(pages, id) != nil {
			return p, err // it still exists, as far as is known
		}
		b.closed(l, id)
		return nil, closedTab(ctx, l)
	}
	id, err := l.browser.InFront(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case id != "" && b.claim(l, id):
		return l.browser.Page(ctx, id)
	case use == opens:
		if id != "" {
			a.notices.setNext("Another agent works in the tab that the developer sees, so this is a tab of your own. ")
		}
		return a.openTab(ctx, l)
	case id == "":
		return nil, errNoTab
	case use == acts:
		return nil, takenTab(ctx, l, id)
	}
	if b.share(l, id) {
		a.notices.setNext("Another agent works in the tab that the developer sees. You can read it; to act, open a tab of your own with browser_tabs, action new. ")
	}
	return l.browser.Page(ctx, id)
}

// openTab opens a tab of the agent's own.
func (a *Agent) openTab(ctx context.Context, l *link) (*page.Page, error) {
	p, err := l.browser.NewPage(ctx)
	if p != nil {
		a.browsers.open(l, p.ID())
		a.browsers.claim(l, p.ID())
	}
	return p, err
}

func find(pages []page.Info, id string) *page.Info {
	if i := slices.IndexFunc(pages, func(p page.Info) bool { return p.ID == id }); i >= 0 {
		return &pages[i]
	}
	return nil
}

// errNoTab reports a browser without a page to a call that may not open one.
var errNoTab = errors.New("the browser has no tab: open one with browser_tabs, action new, or with browser_navigate")

// takenTabError reports an action in a tab that another agent works in. The agent has not
// seen any other tab, so the action has no meaning there.
type takenTabError struct{ tab page.Info }

func (e *takenTabError) Error() string {
	return fmt.Sprintf("another agent works in the tab %q, so nothing was done. Open a tab of your own with browser_tabs, action new, url %s", e.tab.Title, e.tab.URL)
}

func takenTab(ctx context.Context, l *link, id string) error {
	pages, err := l.browser.Pages(ctx)
	if err != nil {
		return err
	}
	tab := find(pages, id)
	if tab == nil {
		return closedTab(ctx, l)
	}
	return &takenTabError{*tab}
}

// closedTabError reports that the agent's tab was closed since its last call, by the page
// itself or by the user. The agent must know that before it does anything in another tab.
type closedTabError struct{ next *page.Info }

func (e *closedTabError) Error() string {
	const closed = "the tab that you worked in was closed, so nothing was done. "
	if e.next == nil {
		return closed + "The browser has no other tab: open one with browser_tabs, action new, or with browser_navigate"
	}
	return fmt.Sprintf("%sThe next call goes to the tab %q, %s; browser_tabs lists them all", closed, e.next.Title, e.next.URL)
}

func closedTab(ctx context.Context, l *link) error {
	next, err := l.browser.InFront(ctx)
	if err != nil {
		return err
	}
	pages, err := l.browser.Pages(ctx)
	if err != nil {
		return err
	}
	return &closedTabError{find(pages, next)}
}
