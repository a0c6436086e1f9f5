package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"browser-coordinator/coordinator/claim"
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/guard"
	"browser-coordinator/vscodeipc"
)

// Tabs are the tabs of the call's browser.
type Tabs struct {
	All []page.Info
	// Current is the id of the tab that the agent works in; empty: none.
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
	if told := c.place.tellReplaced(); told != "" {
		c.Agent.notify(told)
	}
	t := &Tabs{call: c, in: in}
	return t, t.list(ctx)
}

// list lists the tabs as they are now. A tab that has closed is not the agent's any longer.
func (t *Tabs) list(ctx context.Context) (err error) {
	place := t.call.place
	if t.All, err = t.call.Agent.listTabs(ctx, t.in); err != nil {
		return err
	}
	if t.Current = place.current(); t.Current != "" && find(t.All, t.Current) == nil {
		place.closed(t.Current, t.All)
		t.Current = place.current()
	}
	return nil
}

// Choose decides where the agent works, if it has never worked in this browser. The list shows it, so
// the next call works there without a further word. If its tab has closed, the answer says where it works now.
func (t *Tabs) Choose(ctx context.Context) error {
	place := t.call.place
	if place.isNew() {
		front, err := t.in.browser.InFront(ctx)
		if err != nil {
			return err
		}
		place.begin(front)
	}
	if err := t.list(ctx); err != nil {
		return err
	}
	if what := place.tellLeft(); what.told != "" {
		t.call.Agent.notify(what.text(t.Current, t.All))
	}
	return nil
}

// Owned reports whether the agent may close a tab: it ends only what it started.
func (t *Tabs) Owned(tab page.Info) bool {
	return t.call.place.hasOpened(tab.ID) || t.in.owner == ofSession && !t.Personal()
}

// Front brings the agent's tab to the front. No other function does.
func (t *Tabs) Front(ctx context.Context) error {
	return t.in.browser.Activate(ctx, t.call.place.current())
}

// Select makes a tab the one that the agent works in.
func (t *Tabs) Select(ctx context.Context, tab page.Info) error {
	if _, err := t.in.browser.Page(ctx, tab.ID); err != nil {
		return fmt.Errorf("cannot work in the tab %q: %w. You still work where you did", tab.Title, err)
	}
	err := t.call.place.moveTo(tab.ID, tab.OpenerID)
	if taken, ok := errors.AsType[*claim.TakenError](err); ok {
		return fmt.Errorf("%s works in the tab %q: open one of your own with action new", taken.Owner, tab.Title)
	}
	if err != nil {
		return err
	}
	t.Current = tab.ID
	if _, err = t.in.browser.Page(ctx, tab.ID); err != nil { // the agent's routes come along
		return fmt.Errorf("you work in the tab %q now, but your routes and offline mode are not set there: %w", tab.Title,
			err)
	}
	return nil
}

// Personal reports whether the browser is the one that its user works in.
func (t *Tabs) Personal() bool { return t.call.isPersonal() }

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
	_, err := c.Ask(ctx, vscodeipc.CommandTabRequest, vscodeipc.TabRequestArg{Client: c.Agent.Info(), URL: url}, &result)
	switch {
	case err != nil:
		return err
	case result.Outcome == "timeout":
		return errors.New("the user has not answered. Go on without the tab, or ask in the conversation")
	case result.Outcome != "handed-over":
		return errors.New("the user hands over no tab. Go on without one")
	}
	if err = t.list(ctx); err != nil {
		return err
	}
	for _, tab := range t.All {
		if tab.ID == result.Tab {
			return t.Select(ctx, tab)
		}
	}
	return errors.New("the tab that the user handed over has closed")
}

// Open opens a tab, and an address in it unless that is empty. The agent works there, also after an
// error of the address: only if it is out of bounds is the tab closed again.
func (t *Tabs) Open(ctx context.Context, url string) (page.Change, error) {
	c, in, change := t.call, t.in, page.Change{URL: "about:blank"}
	if err := c.Agent.MayShow(ctx, in.folders, url); err != nil {
		return change, err
	}
	p, err := c.openTab(ctx, in)
	if err != nil {
		return change, err
	}
	t.Current = p.ID()
	if err = c.Agent.Bind(ctx, p, url); err == nil && url != "" {
		change, err = p.Navigate(ctx, url)
	}
	if errors.As(err, new(*guard.LimitError)) { // only the browser itself could detect this
		closeErr := in.browser.ClosePage(ctx, p.ID())
		if closeErr == nil {
			c.place.closed(p.ID(), t.All)
			c.place.reported()
		}
		err = errors.Join(err, closeErr)
	}
	return c.Agent.hideTitlesIn(change, in.folders), err
}

// Look answers with the beginning of the page in the agent's tab.
func (t *Tabs) Look(ctx context.Context) {
	p, err := t.in.browser.Page(ctx, t.Current)
	if err == nil && t.call.Agent.mayRead(ctx, p) == nil {
		t.call.Out.Shows(t.call.Agent.lookAt(ctx, p), false)
	}
}

// Close closes a tab that this agent opened, unless another agent has begun to work in it. It keeps the
// user's tabs.
func (t *Tabs) Close(ctx context.Context, tab page.Info) error {
	if !t.Owned(tab) {
		return fmt.Errorf("the tab %q was not opened by you, so it stays: it is the developer's. "+
			"Use select to work in another", tab.Title)
	}
	place := t.call.place
	err := place.alsoClaim(tab.ID)
	taken, _ := errors.AsType[*claim.TakenError](err)
	switch {
	case taken != nil:
		return fmt.Errorf("%s works in the tab %q now, so it stays open", taken.Owner, tab.Title)
	case err != nil:
		return err
	}
	if err := t.in.browser.ClosePage(ctx, tab.ID); err != nil {
		return err
	}
	place.closed(tab.ID, t.All)
	place.reported() // the list shows it
	return nil
}
