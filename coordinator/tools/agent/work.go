package agent

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"browser-coordinator/coordinator/page"
)

// usage is what the agent has done in a browser, in rising order.
type usage int

const (
	watched usage = iota // only recorded what its pages log and request
	used                 // a call has used it
	acted                // an action has begun in it
)

// origin is how a tab was opened by the agent.
type origin int

const (
	byThePage origin = iota + 1 // an action in the user's page opened it; it stays when the session ends
	forItself                   // it ends with the session
)

// work is what the agent does in a browser. Tabs have their ids. Agent.mu guards all of it.
type work struct {
	usage   usage
	product string            // of the browser, as it was last read
	current string            // the tab that it works in; empty: not chosen yet
	shared  string            // another agent's tab, which was read last
	opened  map[string]origin // the tabs that it has opened
	openers map[string]string // the tab that opened a tab
	claims  map[string]func() // ends the claim on a tab
}

func newWork() *work {
	return &work{opened: map[string]origin{}, openers: map[string]string{}, claims: map[string]func(){}}
}

// release gives a tab to other agents. The next call still knows which tab the agent worked
// in.
func (w *work) release(id string) {
	if release := w.claims[id]; release != nil {
		release()
		delete(w.claims, id)
	}
}

func (w *work) releaseAll() {
	for id := range w.claims {
		w.release(id)
	}
}

// claimIdle is how long an idle agent keeps its page: hosts leave unused sessions open.
const claimIdle = 5 * time.Minute

// claim makes a page the one that the agent works in, unless another agent does.
func (a *Agent) claim(c *connection, id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.claimPage(c, id) {
		return false
	}
	if c.work.current != id {
		c.work.release(c.work.current)
		c.work.current = id
	}
	a.worksIn(id)
	return true
}

// alsoClaim keeps other agents out of a page besides the one that the agent works in, unless
// another agent works there.
func (a *Agent) alsoClaim(c *connection, id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.claimPage(c, id)
}

// claimPage is alsoClaim with mu held.
func (a *Agent) claimPage(c *connection, id string) bool {
	if a.idle == nil {
		a.idle = time.AfterFunc(claimIdle, a.releaseAll)
	} else {
		a.idle.Reset(claimIdle)
	}
	if c.work.claims[id] != nil {
		return true
	}
	release, err := a.owner.Claim(id)
	if err == nil {
		c.work.claims[id] = release
	}
	return err == nil
}

// owns reports whether a tab of a browser is one that the agent works in or has opened: what it sets for
// its tabs applies there.
func (a *Agent) owns(url, id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := a.connections[url]
	return c != nil && (c.work.opened[id] != 0 || c.work.claims[id] != nil)
}

// releaseAll is called when the agent has been idle.
func (a *Agent) releaseAll() {
	a.mu.Lock()
	connections := slices.Collect(maps.Values(a.connections))
	for _, c := range connections {
		c.work.releaseAll()
	}
	for _, w := range a.suspended {
		w.releaseAll()
	}
	a.worksIn("")
	a.mu.Unlock()
	for _, c := range connections {
		ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
		if err := c.browser.Routing().Sync(ctx, nil); err != nil {
			a.Log.Warn("the routes of an idle agent stay in a tab that it has left", "error", err)
		}
		cancel()
	}
}

// currentOf is the id of the page that the agent works in; empty: not chosen yet.
func (a *Agent) currentOf(c *connection) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return c.work.current
}

// closed forgets a page, which is closed. The agent then works in the page that opened it,
// if that is one of the given ones and no other agent works there; else closed returns nil.
func (a *Agent) closed(c *connection, id string, pages []page.Info) (opener *page.Info) {
	a.mu.Lock()
	opener = find(pages, c.work.openers[id])
	delete(c.work.opened, id)
	c.work.release(id)
	wasCurrent := c.work.current == id
	if wasCurrent {
		c.work.current = ""
		a.worksIn("")
	}
	a.mu.Unlock()
	if !wasCurrent || opener == nil || !a.claim(c, opener.ID) {
		return nil
	}
	return opener
}

// share records that the agent reads a page that another agent works in, and reports
// whether that is new.
func (a *Agent) share(c *connection, id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	former := c.work.shared
	c.work.shared = id
	return former != id
}

// adopt records tabs that an action of the call has opened in a page.
func (c *Call) adopt(pages []page.Info, opener *page.Page) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.in == nil || opener == nil {
		return
	}
	w := c.in.work
	for _, p := range pages {
		w.opened[p.ID] = max(byThePage, w.opened[opener.ID()])
		w.openers[p.ID] = opener.ID()
	}
}

// lastPage is the last used page of the connection; nil: it is not known.
func (a *Agent) lastPage() *page.Page {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.last == nil || a.last.ended() {
		return nil
	}
	return a.last.browser.Attached(a.last.work.current)
}

// pageClosed reports that an action has closed its page, and where the agent works now.
func (a *Agent) pageClosed(ctx context.Context, p *page.Page) string {
	const report = "This closed the tab."
	if opener := a.handOver(ctx, p); opener != nil {
		return fmt.Sprintf("%s You work in tab %d now, which opened it.", report, opener.Index)
	}
	return report
}

// handOver makes the opener of a page that has closed the one that the agent works in. It
// returns nil if there is none.
func (a *Agent) handOver(ctx context.Context, p *page.Page) *page.Info {
	c := a.inUse()
	if c == nil || a.currentOf(c) != p.ID() {
		return nil
	}
	pages, err := c.browser.Pages(ctx)
	if err != nil {
		return nil
	}
	return a.closed(c, p.ID(), pages)
}

// notifyHandOver tells the agent that it works in the tab that opened its own now.
func (a *Agent) notifyHandOver(opener *page.Info) {
	a.notify(fmt.Sprintf("The tab that you worked in has closed; you work in tab %d now, which opened it.",
		opener.Index))
}
