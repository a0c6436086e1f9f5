package agent

import (
	"context"
	"fmt"
	"time"

	"browser-coordinator/cdpproxy/dial"
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/policy"
)

// owner is whose browser it is.
type owner int

const (
	ofWindow   owner = iota // a window's; its user decides what an agent may do there
	ofSession               // the Launcher's, opened for this session
	ofStranger              // the Launcher's, of another program
)

// browserUser decides what an agent may do in a browser, and may take it over.
type browserUser interface {
	policy.User
	Takeover() (registry.Takeover, <-chan struct{})
}

// destination is the browser that a call resolves to.
type destination struct {
	url     string // of CDP
	owner   owner
	folders []string // of the workspace

	window registry.Window // of a window's browser
	user   browserUser
	access policy.State // what that user has chosen
}

// connection is the agent's connection to one browser.
type connection struct {
	destination // access is what the agent has acted on; Agent.mu guards it
	browser     *page.Browser
	work        *work
}

// ended reports whether the connection has ended.
func (c *connection) ended() bool { return isClosed(c.browser.Done()) }

// dialing is a connection that one call makes, and for which others wait.
type dialing struct {
	done chan struct{} // closed when the fields that follow are set
	// Neither is set if that call has given up: another one connects then.
	connection *connection
	err        error
}

// connectError reports a browser that could not be reached: nothing was sent.
type connectError struct {
	url string
	err error
}

func (e *connectError) Error() string {
	return fmt.Sprintf("the browser at %s does not answer: %v", dial.Place(e.url), e.err)
}

func (e *connectError) Unwrap() error { return e.err }

// connect returns the connection to a browser. It connects if there is no connection, or
// if the last one has ended.
func (a *Agent) connect(ctx context.Context, to destination, use usage) (*connection, error) {
	a.drop((*connection).ended)
	if to.owner != ofSession && use >= used {
		a.abandon()
	}
	a.mu.Lock()
	if c := a.connections[to.url]; c != nil {
		defer a.mu.Unlock()
		c.work.usage = max(c.work.usage, use)
		return c, nil
	}
	d := a.dials[to.url]
	if d == nil {
		d = &dialing{done: make(chan struct{})}
		a.dials[to.url] = d
		a.mu.Unlock()
		a.dial(ctx, to, d)
	} else {
		a.mu.Unlock()
	}
	select {
	case <-d.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	switch {
	case d.err != nil:
		return nil, d.err
	case d.connection == nil && ctx.Err() != nil:
		return nil, &connectError{to.url, context.Cause(ctx)}
	case d.connection == nil:
		return a.connect(ctx, to, use)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	d.connection.work.usage = max(d.connection.work.usage, use)
	return d.connection, nil
}

// dial connects to a browser.
func (a *Agent) dial(ctx context.Context, to destination, d *dialing) {
	defer close(d.done)
	options := page.Options{
		Logger: a.Logger, Record: true, Folders: to.folders, Refs: &a.refs, User: page.UserPresent,
		Owns: func(id string) bool { return a.owns(to.url, id) }, Owner: a.owner,
	}
	if to.owner == ofSession {
		options.User = page.UserIfVisible
		options.Viewport = a.Viewport
		if a.Launcher.Downloads() != "" {
			options.Downloads = a.downloads(ctx)
		}
	}
	browser, err := page.Connect(ctx, to.url, &options)
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.dials, to.url)
	if err != nil {
		if ctx.Err() == nil {
			d.err = &connectError{to.url, err}
		}
		return
	}
	c := &connection{to, browser, a.suspended[to.url]} // the pages are the same
	delete(a.suspended, to.url)
	if c.work == nil {
		c.work = newWork()
	}
	a.connections[to.url], d.connection = c, c
	a.watchers.Go(func() { a.watchUser(c) })
}

// drop ends the connections that match, with the claims on their pages, and reports whether
// there were any.
func (a *Agent) drop(matches func(*connection) bool) bool {
	return a.end(matches, func(c *connection) { c.work.releaseAll() })
}

// suspend ends the connections that match. The next ones to their browsers continue their work.
func (a *Agent) suspend(matches func(*connection) bool) {
	if a.end(matches, func(c *connection) { a.suspended[c.url] = c.work }) {
		a.ResolveAgain()
	}
}

// end ends the connections that match, and calls release for each first. It reports whether there
// were any. mu is held during both functions.
func (a *Agent) end(matches func(*connection) bool, release func(*connection)) bool {
	ended := a.remove(matches, release)
	for _, c := range ended {
		c.browser.Close()
	}
	return len(ended) > 0
}

// remove is end, but leaves the connections open, and returns them.
func (a *Agent) remove(matches func(*connection) bool, release func(*connection)) (removed []*connection) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for url, c := range a.connections {
		if matches(c) {
			release(c)
			removed = append(removed, c)
			delete(a.connections, url)
		}
	}
	return removed
}

// endRevoked reads what the users have chosen, and ends the connections to those who have
// stopped the agent or chosen a stricter mode. With them the browser undoes what the agent has set
// up there: routes, emulation, waits for downloads. The agent connects again to read on.
func (a *Agent) endRevoked() {
	name := a.Info().Name
	a.suspend(func(c *connection) bool { return c.readAccess(name) })
}

// readAccess reads what the connection's user has chosen, and reports whether that revokes what was
// allowed when it was last read. Agent.mu is held.
func (c *connection) readAccess(name string) (revoked bool) {
	former := c.access
	c.access, _ = c.user.Access()
	return c.access.Revokes(former, name)
}

// watchUser calls endRevoked at each choice of the user, as long as a connection lasts.
func (a *Agent) watchUser(c *connection) {
	for {
		_, changed := c.user.Access()
		a.endRevoked()
		select {
		case <-changed:
		case <-c.browser.Done():
			return
		}
	}
}

// abandon ends a browser of this session in which no action was done, when another one
// replaces it.
func (a *Agent) abandon() {
	idle := func(c *connection) bool { return c.owner == ofSession && c.work.usage < acted }
	a.mu.Lock()
	if a.home != nil && idle(a.home) {
		a.home = nil // it has not gone behind the agent's back
	}
	a.mu.Unlock()
	if !a.drop(idle) {
		return
	}
	if err := a.Launcher.End(); err != nil {
		a.Log.Warn("the launched browser did not end cleanly", "error", err)
	}
}

// inUse is the connection of the last call; nil: none.
func (a *Agent) inUse() *connection {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last
}

// connected is the connection to a window's browser; nil: there is none yet.
func (a *Agent) connected(window registry.Window) *connection {
	browser := window.Browser()
	if browser == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	c := a.connections[browser.URL]
	if c == nil || c.ended() {
		return nil
	}
	return c
}

// isSettled reports whether the agent has done an action in a browser of this session that
// still runs. The agent then stays there, also when a matching window opens.
func (a *Agent) isSettled() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.connections {
		if c.owner == ofSession && c.work.usage == acted && !c.ended() {
			return true
		}
	}
	home := a.home
	return home != nil && home.owner == ofSession && home.work.usage == acted && !a.hasGone(home)
}

// hasGone reports whether a connection to a browser without a window has ended with that, and not
// because the user allows less. mu is held.
func (a *Agent) hasGone(c *connection) bool {
	return c.ended() && (a.suspended[c.url] == nil || a.Launcher == nil || a.Launcher.URL() != c.url)
}

// endTimeout bounds the time in which the tabs of a session that ends are closed.
const endTimeout = 2 * time.Second

// closeOpened closes the tabs that the agent has opened for itself, unless another agent has
// begun to work there. It leaves the one that the user sees, who may work there as well, and a
// browser of this session, which ends with them.
func (a *Agent) closeOpened() {
	ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	for c, opened := range a.openedTabs() {
		front, err := c.browser.InFront(ctx)
		for _, id := range opened {
			if err == nil && id != front && a.claim(c, id) {
				err = c.browser.ClosePage(ctx, id)
			}
		}
		if err != nil {
			a.Log.Info("a tab of an agent that has ended stays open", "error", err)
		}
	}
}

// openedTabs are the tabs that end with the session.
func (a *Agent) openedTabs() map[*connection][]string {
	a.mu.Lock()
	defer a.mu.Unlock()
	tabs := map[*connection][]string{}
	for _, c := range a.connections {
		if c.owner == ofSession || c.ended() {
			continue
		}
		for id, tab := range c.work.opened {
			if tab == forItself {
				tabs[c] = append(tabs[c], id)
			}
		}
	}
	return tabs
}
