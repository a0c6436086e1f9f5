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
	in, err := c.connection(ctx)
	if err != nil {
		return nil, err
	}
	p, err := c.pageOf(ctx, in, &c.Request, c.need())
	if errors.Is(err, page.ErrBrowserGone) {
		err = fmt.Errorf("%w: %w", page.ErrUnsent, err)
	}
	if err != nil {
		return nil, err
	}
	if err := c.ConfirmSite(ctx, p); err != nil {
		return nil, err
	}
	c.effect = effect{page: p, url: p.URL()}
	c.beginInVideo(p)
	c.meetOthers(ctx, p)
	return p, c.Bind(ctx, p, "")
}

// Routed is the browser, with the agent's page attached.
func (c *Call) Routed(ctx context.Context) (*page.Browser, error) {
	in, err := c.connection(ctx)
	if err != nil {
		return nil, err
	}
	p, err := c.pageOf(ctx, in, &c.Request, c.need())
	if err == nil {
		err = c.ConfirmSite(ctx, p)
	}
	return in.browser, err
}

// need is what a call needs the agent's page for.
type need int

const (
	toRead need = iota // shares a page that another agent works in
	toAct              // only in the agent's own page
	toOpen             // opens an address: in the agent's own tab, if need be in a new one
)

// pageOf is the page that the call names, or else the agent's.
func (a *Agent) pageOf(ctx context.Context, in *connection, r *Request, need need) (*page.Page, error) {
	if r.Tab == nil {
		return a.currentPage(ctx, in, r, need)
	}
	pages, err := a.listTabs(ctx, in)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(pages, func(p page.Info) bool { return p.Index == *r.Tab })
	if i < 0 {
		return nil, NoTab(r.Tab, pages)
	}
	if need != toRead && !a.alsoClaim(in, pages[i].ID) {
		return nil, &takenTabError{pages[i]}
	}
	return in.browser.Page(ctx, pages[i].ID)
}

// noTabError reports an index that no tab has. A tab keeps its index, so this one has closed.
type noTabError struct {
	index int
	tabs  []page.Info
}

func (e *noTabError) Error() string {
	names := make([]string, len(e.tabs))
	for i, tab := range e.tabs {
		names[i] = fmt.Sprintf("%d (%s)", tab.Index, cmp.Or(tab.Title, tab.URL))
	}
	return fmt.Sprintf("no tab %d is open now: the tabs are %s", e.index, strings.Join(names, ", "))
}

// NoTab is the error for an index that none of the tabs has.
func NoTab(index *int, tabs []page.Info) error {
	if index == nil || len(tabs) == 0 {
		return errNoTab
	}
	return &noTabError{*index, tabs}
}

// currentPage is the page that the agent works in. At the agent's first call that is the
// page that the user sees. It stays the same, whichever tab the user selects later. Only a
// call that opens an address opens a tab.
func (a *Agent) currentPage(ctx context.Context, in *connection, r *Request, need need) (*page.Page, error) {
	if id := a.currentOf(in); id != "" && a.claim(in, id) {
		p, err := in.browser.Page(ctx, id)
		if err == nil {
			return p, nil
		}
		pages, listErr := a.listTabs(ctx, in)
		if listErr != nil || find(pages, id) != nil {
			return p, err // it still exists, as far as is known
		}
		opener := a.closed(in, id, pages)
		switch {
		case opener == nil:
			return nil, a.closedTab(ctx, in)
		case need == toAct && !r.aimsAtRefs(): // it may be meant for the tab that has closed
			return nil, &closedTabError{opener}
		}
		a.notifyHandOver(opener)
		return in.browser.Page(ctx, opener.ID)
	}
	id, err := in.browser.InFront(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case id != "" && a.claim(in, id):
		return in.browser.Page(ctx, id)
	case need == toOpen:
		if id != "" {
			a.notify("Another agent works in the tab that the developer sees, so this is a tab of your own.")
		}
		return a.openTab(ctx, in)
	case id == "":
		return nil, errNoTab
	case need == toAct:
		return nil, a.takenTab(ctx, in, id)
	}
	if a.share(in, id) {
		a.notify("Another agent works in the tab that the developer sees. You can read it; " +
			"to act, open a tab of your own with browser_tabs, action new.")
	}
	return in.browser.Page(ctx, id)
}

// openTab opens a tab of the agent's own.
func (a *Agent) openTab(ctx context.Context, in *connection) (*page.Page, error) {
	p, err := in.browser.NewPage(ctx)
	if p != nil {
		a.mu.Lock()
		in.work.opened[p.ID()] = forItself
		a.mu.Unlock()
		a.claim(in, p.ID())
		return in.browser.Page(ctx, p.ID()) // its own now
	}
	return nil, err
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
	return fmt.Sprintf("another agent works in the tab %q, so nothing was done. "+
		"Open a tab of your own with browser_tabs, action new, url %s", e.tab.Title, e.tab.URL)
}

func (a *Agent) takenTab(ctx context.Context, in *connection, id string) error {
	pages, err := a.listTabs(ctx, in)
	if err != nil {
		return err
	}
	tab := find(pages, id)
	if tab == nil {
		return a.closedTab(ctx, in)
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
	return fmt.Sprintf("%sThe next call goes to the tab %q, %s; browser_tabs lists them all", closed, e.next.Title,
		e.next.URL)
}

func (a *Agent) closedTab(ctx context.Context, in *connection) error {
	next, err := in.browser.InFront(ctx)
	if err != nil {
		return err
	}
	pages, err := a.listTabs(ctx, in)
	if err != nil {
		return err
	}
	return &closedTabError{find(pages, next)}
}
