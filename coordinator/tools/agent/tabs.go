package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"browser-coordinator/coordinator/launch"
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/guard"
	"browser-coordinator/vscodeipc"
)

// Tabs are the tabs of the selected window's browser.
type Tabs struct {
	All []page.Info
	// Current is the id of the page that the agent works in; empty: the browser has none.
	Current string

	call *Call
	in   *connection
}

// Tabs lists the tabs. It opens none.
func (c *Call) Tabs(ctx context.Context) (*Tabs, error) {
	in, err := c.connection(ctx)
	if err != nil {
		return nil, err
	}
	t := &Tabs{call: c, in: in}
	p, err := c.currentPage(ctx, in, &c.Request, toRead)
	if errors.As(err, new(*closedTabError)) { // the list shows that
		p, err = c.currentPage(ctx, in, &c.Request, toRead)
	}
	switch {
	case errors.Is(err, errNoTab):
	case err != nil:
		return nil, err
	default:
		t.Current = p.ID()
	}
	t.All, err = c.listTabs(ctx, in)
	return t, err
}

// Owned reports whether the agent may close a tab: it ends only what it started.
func (t *Tabs) Owned(tab page.Info) bool {
	t.call.mu.Lock()
	defer t.call.mu.Unlock()
	return t.in.work.opened[tab.ID] != 0 || t.in.owner == ofSession
}

// Front brings the agent's tab to the front. No other function does.
func (t *Tabs) Front(ctx context.Context) error {
	return t.in.browser.Activate(ctx, t.call.currentOf(t.in))
}

// Select makes a tab the one that the agent works in.
func (t *Tabs) Select(ctx context.Context, tab page.Info) error {
	if !t.call.claim(t.in, tab.ID) {
		return fmt.Errorf("another agent works in the tab %q: open one of your own with action new", tab.Title)
	}
	t.call.mu.Lock()
	t.in.work.openers[tab.ID] = cmp.Or(t.in.work.openers[tab.ID], tab.OpenerID)
	t.call.mu.Unlock()
	t.Current = tab.ID
	_, err := t.in.browser.Page(ctx, tab.ID)
	return err
}

// Personal reports whether the browser is the one that its user works in.
func (t *Tabs) Personal() bool {
	if t.in.owner != ofWindow {
		return t.in.owner == ofSession && t.call.Launcher.Kind() == launch.Personal
	}
	browser := t.in.window.State.Browser
	return browser != nil && browser.Via == string(launch.Personal)
}

// Request asks the user for one of the user's tabs, and selects it.
func (t *Tabs) Request(ctx context.Context, url string) error {
	c := t.call
	switch {
	case !t.Personal():
		return errors.New("request is for the user's own browser. Here all tabs are in the list")
	case t.in.owner != ofWindow || !slices.Contains(t.in.window.Commands, vscodeipc.CommandTabRequest):
		return errors.New("the user cannot be asked from here: ask in the conversation that the user runs " +
			"`coordinator hand-over` in a terminal, then list the tabs")
	}
	var result vscodeipc.TabRequestResult
	_, err := c.Ask(ctx, vscodeipc.CommandTabRequest, vscodeipc.TabRequestArg{Client: c.Info(), URL: url}, &result)
	switch {
	case err != nil:
		return err
	case result.Outcome == "timeout":
		return errors.New("the user has not answered. Go on without the tab, or ask in the conversation")
	case result.Outcome != "handed-over":
		return errors.New("the user hands over no tab. Go on without one")
	}
	if t.All, err = c.listTabs(ctx, t.in); err != nil {
		return err
	}
	for _, tab := range t.All {
		if tab.ID == result.Tab {
			return t.Select(ctx, tab)
		}
	}
	return errors.New("the tab that the user handed over has closed")
}

// Open opens a tab, and an address in it unless that is empty.
func (t *Tabs) Open(ctx context.Context, url string) (page.Change, error) {
	c, in, change := t.call, t.in, page.Change{URL: "about:blank"}
	if err := c.MayShow(ctx, in.folders, url); err != nil {
		return change, err
	}
	before := c.currentOf(in)
	p, err := c.openTab(ctx, in)
	if err == nil {
		err = c.Bind(ctx, p, url)
	}
	if err == nil && url != "" {
		change, err = p.Navigate(ctx, url)
	}
	if errors.As(err, new(*guard.LimitError)) { // only the browser itself could detect this
		closeErr := in.browser.ClosePage(ctx, p.ID())
		if closeErr == nil {
			c.closed(in, p.ID(), nil)
			if before != "" {
				c.claim(in, before)
			}
		}
		err = errors.Join(err, closeErr)
	}
	return c.hideTitlesIn(change, in.folders), err
}

// Look answers with the beginning of the page in the agent's tab.
func (t *Tabs) Look(ctx context.Context) {
	p, err := t.in.browser.Page(ctx, t.call.currentOf(t.in))
	if err == nil && t.call.mayRead(ctx, p) == nil {
		t.call.Out.Shows(t.call.lookAt(ctx, p), false)
	}
}

// Close closes a tab that this agent opened. It keeps the user's tabs.
func (t *Tabs) Close(ctx context.Context, tab page.Info) error {
	if !t.Owned(tab) {
		return fmt.Errorf("the tab %q was not opened by you, so it stays: it is the developer's. "+
			"Use select to work in another", tab.Title)
	}
	err := t.in.browser.ClosePage(ctx, tab.ID)
	if err == nil {
		t.call.closed(t.in, tab.ID, t.All)
	}
	return err
}
