package agent

import (
	"context"
	"errors"
	"fmt"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/guard"
)

// Tabs are the tabs of the selected window's browser.
type Tabs struct {
	All []page.Info
	// Current is the id of the page that the agent works in; empty: the browser has none.
	Current string

	call *Call
	link *link
}

// Tabs lists the tabs. It opens none.
func (c *Call) Tabs(ctx context.Context) (*Tabs, error) {
	l, err := c.link(ctx)
	if err != nil {
		return nil, err
	}
	t := &Tabs{call: c, link: l}
	p, err := c.currentPage(ctx, l, reads)
	if errors.As(err, new(*closedTabError)) { // the list shows that
		p, err = c.currentPage(ctx, l, reads)
	}
	switch {
	case errors.Is(err, errNoTab):
	case err != nil:
		return nil, err
	default:
		t.Current = p.ID()
	}
	t.All, err = c.tabs(ctx, l)
	return t, err
}

// Owned reports whether the agent may close a tab: it ends only what it started.
func (t *Tabs) Owned(tab page.Info) bool {
	b := &t.call.browsers
	b.mu.Lock()
	defer b.mu.Unlock()
	_, opened := t.link.opened[tab.ID]
	return opened || t.link.own
}

// Front brings the agent's tab to the front. No other function does.
func (t *Tabs) Front(ctx context.Context) error {
	return t.link.browser.Activate(ctx, t.call.browsers.currentOf(t.link))
}

// Select makes a tab the one that the agent works in.
func (t *Tabs) Select(ctx context.Context, tab page.Info) error {
	if !t.call.browsers.claim(t.link, tab.ID) {
		return fmt.Errorf("another agent works in the tab %q: open one of your own with action new", tab.Title)
	}
	t.call.browsers.openedBy(t.link, tab)
	t.Current = tab.ID
	_, err := t.link.browser.Page(ctx, tab.ID)
	return err
}

// Open opens a tab, and an address in it unless that is empty.
func (t *Tabs) Open(ctx context.Context, url string) (page.Change, error) {
	b, l, change := &t.call.browsers, t.link, page.Change{URL: "about:blank"}
	if err := t.call.MayShow(ctx, l.folders, url); err != nil {
		return change, err
	}
	before := b.currentOf(l)
	p, err := t.call.openTab(ctx, l)
	if err == nil {
		err = t.call.Bind(ctx, p, url)
	}
	if err == nil && url != "" {
		change, err = p.Navigate(ctx, url)
	}
	if errors.As(err, new(*guard.OriginError)) { // only the browser itself could detect this
		closeErr := l.browser.ClosePage(ctx, p.ID())
		if closeErr == nil {
			b.closed(l, p.ID(), nil)
			if before != "" {
				b.claim(l, before)
			}
		}
		err = errors.Join(err, closeErr)
	}
	return t.call.titledIn(change, l.folders), err
}

// Look answers with the beginning of the page in the agent's tab.
func (t *Tabs) Look(ctx context.Context) {
	p, err := t.link.browser.Page(ctx, t.call.browsers.currentOf(t.link))
	if err == nil && t.call.mayRead(ctx, p) == nil {
		t.call.Out.Shows(p.Look(ctx), false)
	}
}

// Close closes a tab that this agent opened. It keeps the user's tabs.
func (t *Tabs) Close(ctx context.Context, tab page.Info) error {
	if !t.Owned(tab) {
		return fmt.Errorf("the tab %q was not opened by you, so it stays: it is the developer's. Use select to work in another", tab.Title)
	}
	err := t.link.browser.ClosePage(ctx, tab.ID)
	if err == nil {
		t.call.browsers.closed(t.link, tab.ID, t.All)
	}
	return err
}
