package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"browser-coordinator/coordinator/claim"
	"browser-coordinator/coordinator/page"
)

// tab is the one that a call works in, as it was decided.
type tab struct {
	id string // empty: one that the call opens
	// told is what the answer begins with; empty: nothing.
	told string
}

// decideTab decides, once, in which tab the call works. No tab is opened yet: the user may have to
// agree first.
func (c *Call) decideTab(ctx context.Context) (tab, error) {
	if c.tab != nil {
		return *c.tab, nil
	}
	in, err := c.connection(ctx)
	if err != nil {
		return tab{}, err
	}
	decided, err := c.chooseTab(ctx, in)
	if err != nil {
		return tab{}, err
	}
	c.tab = &decided
	if decided.told != "" {
		c.Agent.notify(decided.told)
	}
	return decided, nil
}

// chooseTab chooses the tab that the call names, or else the agent's.
func (c *Call) chooseTab(ctx context.Context, in *connection) (tab, error) {
	need := c.Request.need()
	if c.Request.Tab != nil {
		return c.namedTab(ctx, in, need)
	}
	id, what, err := c.place.choose(ctx, in.browser, need)
	if err != nil {
		return tab{}, unsent(err)
	}
	told := ""
	if what.told != "" {
		pages, err := c.Agent.listTabs(ctx, in)
		if err != nil {
			return tab{}, err
		}
		told = what.text(id, pages)
	}
	switch what.does {
	case refuse:
		return tab{}, &placeError{told}
	case openOwn:
		id = ""
	}
	return tab{id, told}, nil
}

// text is what the agent is told of its tab and the others.
func (w *told) text(id string, pages []page.Info) string {
	at := find(pages, id)
	if at == nil {
		at = &page.Info{}
	}
	text := w.told + "%[6]s" // a verb may be missing, but no argument
	text = fmt.Sprintf(text, at.Index, at.Title, at.URL, "The tabs are "+tabNames(pages), w.why, "")
	if w.does != refuse { // a sentence of its own
		text = capitalize(text)
	}
	return text
}

// namedTab is the tab that the call names. Another agent does not act there meanwhile.
func (c *Call) namedTab(ctx context.Context, in *connection, need need) (tab, error) {
	pages, err := c.Agent.listTabs(ctx, in)
	if err != nil {
		return tab{}, err
	}
	for _, p := range pages {
		if p.Index != *c.Request.Tab {
			continue
		}
		if need != toRead {
			err = c.place.alsoClaim(p.ID)
		}
		return tab{id: p.ID}, takenTab(err, p)
	}
	return tab{}, NoTab(c.Request.Tab, pages)
}

// unsent adds to the end of a browser that nothing was sent to it.
func unsent(err error) error {
	if errors.Is(err, page.ErrBrowserGone) {
		return fmt.Errorf("%w: %w", page.ErrUnsent, err)
	}
	return err
}

// page is the page of the call's tab, which is opened if need be.
func (c *Call) page(ctx context.Context) (*page.Page, error) {
	decided, err := c.decideTab(ctx)
	if err != nil {
		return nil, err
	}
	in, err := c.connection(ctx)
	if err != nil {
		return nil, err
	}
	var p *page.Page
	if decided.id == "" {
		p, err = c.openTab(ctx, in)
	} else {
		p, err = in.browser.Page(ctx, decided.id)
	}
	if err != nil {
		return nil, unsent(err)
	}
	c.tab.id = p.ID()
	return p, c.ConfirmSite(ctx, p)
}

// Page returns the page of the call's tab, if the agent may read it.
func (c *Call) Page(ctx context.Context) (*page.Page, error) {
	p, err := c.AnyPage(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.LearnURL(ctx); err != nil {
		return nil, err
	}
	return p, c.Agent.mayRead(ctx, p)
}

// AnyPage is Page for calls that leave the page: it may show what the agent may not read.
func (c *Call) AnyPage(ctx context.Context) (*page.Page, error) {
	p, err := c.page(ctx)
	if err != nil {
		return nil, err
	}
	c.effect = effect{page: p, url: p.URL()}
	c.beginInVideo(p)
	c.meetOthers(ctx, p)
	return p, c.Agent.Bind(ctx, p, "")
}

// Routed is the call's browser, with the agent's page attached.
func (c *Call) Routed(ctx context.Context) (*page.Browser, error) {
	if _, err := c.page(ctx); err != nil {
		return nil, err
	}
	return c.in.browser, nil
}

// ClaimPage keeps other agents from acting in a page.
func (c *Call) ClaimPage(ctx context.Context, p *page.Page) error {
	err := c.place.alsoClaim(p.ID())
	if !errors.Is(err, claim.ErrTaken) {
		return err
	}
	info, infoErr := p.Info(ctx)
	if infoErr != nil {
		return infoErr
	}
	return takenTab(err, info)
}

// openTries bounds the tabs that are opened for a call, if other agents begin to work in them first.
const openTries = 3

// openTab opens a tab of the agent's own, and works in it.
func (c *Call) openTab(ctx context.Context, in *connection) (*page.Page, error) {
	for range openTries {
		id, err := in.browser.OpenTab(ctx)
		if err != nil {
			return nil, err
		}
		err = c.place.open(id)
		if errors.Is(err, claim.ErrTaken) {
			continue // another agent took it for the tab that its user sees, and keeps it
		}
		if err != nil {
			return nil, errors.Join(err, in.browser.ClosePage(ctx, id))
		}
		p, err := in.browser.Page(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("a tab was opened, and you work in it now, but %w", err)
		}
		return p, nil
	}
	return nil, fmt.Errorf("other agents have begun to work in each of %d new tabs. Call again", openTries)
}

// placeError reports what has happened to the tab that the agent works in. Nothing was done.
type placeError struct{ text string }

func (e *placeError) Error() string { return e.text }

// takenTab is the error of a claim. It reports a call that would act in a tab in which another agent works.
func takenTab(err error, tab page.Info) error {
	if taken, ok := errors.AsType[*claim.TakenError](err); ok {
		what := told{transitions[tabTaken].act, taken.Owner}
		return &placeError{what.text(tab.ID, []page.Info{tab})}
	}
	return err
}

// errNoTab reports a browser without a page to a call that may not open one.
var errNoTab = errors.New("the browser has no tab: open one with browser_tabs, action new, or with browser_navigate")

// noTabError reports an index that no tab has. A tab keeps its index, so this one has closed.
type noTabError struct {
	index int
	tabs  []page.Info
}

func (e *noTabError) Error() string {
	return fmt.Sprintf("no tab %d is open now: the tabs are %s", e.index, tabNames(e.tabs))
}

// tabNames lists tabs.
func tabNames(tabs []page.Info) string {
	names := make([]string, len(tabs))
	for i, tab := range tabs {
		names[i] = fmt.Sprintf("%d (%s)", tab.Index, cmp.Or(tab.Title, tab.URL))
	}
	return strings.Join(names, ", ")
}

// NoTab is the error for an index that none of the tabs has.
func NoTab(index *int, tabs []page.Info) error {
	if index == nil || len(tabs) == 0 {
		return errNoTab
	}
	return &noTabError{*index, tabs}
}

func find(pages []page.Info, id string) *page.Info {
	for i := range pages {
		if pages[i].ID == id {
			return &pages[i]
		}
	}
	return nil
}

// pageClosed reports that the page of an action has closed, and where the agent works now. The browser does not
// report who closed it.
func (c *Call) pageClosed(ctx context.Context, p *page.Page) string {
	const report = "The tab has closed since: by this, or by the user or another client of this browser."
	if c.place.current() != p.ID() {
		return report
	}
	pages, err := c.in.browser.Pages(ctx)
	if err != nil {
		return report
	}
	opener := c.place.closed(p.ID(), pages)
	if opener == nil {
		return report
	}
	c.place.reported()
	return fmt.Sprintf("%s You work in tab %d now, which opened it.", report, opener.Index)
}
