package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"browser-coordinator/coordinator/page"
)

// Page returns the agent's current page in the selected window, if the agent may read it.
func (c *Call) Page(ctx context.Context) (*page.Page, error) {
	p, err := c.AnyPage(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.LearnURL(ctx); err != nil {
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
	p, err := c.pageOf(ctx, l, c.use())
	if errors.Is(err, page.ErrBrowserGone) {
		err = fmt.Errorf("%w: %w", page.ErrUnsent, err)
	}
	if err != nil {
		return nil, err
	}
	c.did = did{page: p, url: p.URL()}
	return p, c.Bind(ctx, p, "")
}

// Routed is the browser, with the agent's page attached.
func (c *Call) Routed(ctx context.Context) (*page.Browser, error) {
	l, err := c.link(ctx)
	if err != nil {
		return nil, err
	}
	_, err = c.pageOf(ctx, l, c.use())
	return l.browser, err
}

// use is what a call needs of the agent's page.
type use int

const (
	reads use = iota // shares a page that another agent works in
	acts             // only in a page of the agent's own
	opens            // opens an address: in a tab of the agent's own, if need be in a new one
)

// pageOf is the page that the call names, or else the agent's.
func (c *Call) pageOf(ctx context.Context, l *link, use use) (*page.Page, error) {
	if c.Tab == nil {
		return c.currentPage(ctx, l, use)
	}
	pages, err := c.tabs(ctx, l)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(pages, func(p page.Info) bool { return p.Index == *c.Tab })
	if i < 0 {
		return nil, NoTab(c.Tab, pages)
	}
	if use != reads && !c.browsers.hold(l, pages[i].ID) {
		return nil, &takenTabError{pages[i]}
	}
	return l.browser.Page(ctx, pages[i].ID)
}

// NoTab reports an index that no tab has. A tab keeps its index, so this one has closed.
func NoTab(index *int, all []page.Info) error {
	if index == nil || len(all) == 0 {
		return errNoTab
	}
	known := make([]string, len(all))
	for i, p := range all {
		known[i] = fmt.Sprintf("%d (%s)", p.Index, cmp.Or(p.Title, p.URL))
	}
	return fmt.Errorf("there is no tab %d now: the tabs are %s", *index, strings.Join(known, ", "))
}

// currentPage is the page that the agent works in. At the agent's first call that is the
// page that the user sees. It stays the same, whichever tab the user selects later. Only a
// call that opens an address opens a tab.
func (c *Call) currentPage(ctx context.Context, l *link, use use) (*page.Page, error) {
	b := &c.browsers
	if id := b.currentOf(l); id != "" && b.claim(l, id) {
		p, err := l.browser.Page(ctx, id)
		if err == nil {
			return p, nil
		}
		pages, listErr := c.tabs(ctx, l)
		if listErr != nil || find(pages, id) != nil {
			return p, err // it still exists, as far as is known
		}
		opener := b.closed(l, id, pages)
		switch {
		case opener == nil:
			return nil, c.closedTab(ctx, l)
		case use == acts && !c.aimsAtRefs(): // it may be meant for the tab that has closed
			return nil, &closedTabError{opener}
		}
		c.notices.handedOver(opener)
		return l.browser.Page(ctx, opener.ID)
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
			c.notices.setNext("Another agent works in the tab that the developer sees, so this is a tab of your own. ")
		}
		return c.openTab(ctx, l)
	case id == "":
		return nil, errNoTab
	case use == acts:
		return nil, c.takenTab(ctx, l, id)
	}
	if b.share(l, id) {
		c.notices.setNext("Another agent works in the tab that the developer sees. You can read it; to act, open a tab of your own with browser_tabs, action new. ")
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

func (a *Agent) takenTab(ctx context.Context, l *link, id string) error {
	pages, err := a.tabs(ctx, l)
	if err != nil {
		return err
	}
	tab := find(pages, id)
	if tab == nil {
		return a.closedTab(ctx, l)
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

func (a *Agent) closedTab(ctx context.Context, l *link) error {
	next, err := l.browser.InFront(ctx)
	if err != nil {
		return err
	}
	pages, err := a.tabs(ctx, l)
	if err != nil {
		return err
	}
	return &closedTabError{find(pages, next)}
}
