package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
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

// destination is a browser that a call goes to.
type destination struct {
	url     string // of CDP
	owner   owner
	folders []string // of the workspace

	window registry.Window // of a window's browser
	user   browserUser
	access policy.State // what that user has chosen
}

// seat identifies whose browser it is, whichever runs now.
func (d *destination) seat() seat {
	switch d.owner {
	case ofSession:
		return ownSeat
	case ofStranger:
		return attachedSeat
	}
	return seat(d.window.Address)
}

// replaced is why the seat has another browser than before.
func (d *destination) replaced() string {
	switch d.owner {
	case ofSession:
		return "the one in which you worked has ended"
	case ofStranger:
		return "the connection to the one in which you worked has ended, and the tab is not in this one"
	}
	return "the debug session of the window was restarted, or another one began"
}

// usage is what the agent has done by a connection, in rising order.
type usage int

const (
	watched usage = iota // only recorded what its pages log and request
	used                 // a call has used it
	acted                // an action has begun
)

// browsers are the agent's connections: at most one to each browser. Where the agent works outlives
// them, see [place].
type browsers struct {
	mu    sync.Mutex             // guards the fields that follow; the locks of users are taken after it
	open  map[string]*connection // by the browser's URL
	dials map[string]*dialing    // those under way, by URL
	last  *connection            // of the last call; nil: no call has used a browser
	over  bool                   // the session has ended: there are no more connections
}

// connection is the agent's connection to one browser.
type connection struct {
	destination // browsers.mu guards access: what the agent has acted on
	browser     *page.Browser
	usage       usage  // browsers.mu guards it
	product     string // of the browser, as it was last read; browsers.mu guards it
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
	a.browsers.end((*connection).ended)
	if to.owner != ofSession && use >= used {
		a.abandon()
	}
	b := &a.browsers
	b.mu.Lock()
	if c := b.open[to.url]; c != nil {
		defer b.mu.Unlock()
		c.usage = max(c.usage, use)
		return c, nil
	}
	d := b.dials[to.url]
	if d == nil {
		d = &dialing{done: make(chan struct{})}
		b.dials[to.url] = d
		b.mu.Unlock()
		a.dial(ctx, to, d)
	} else {
		b.mu.Unlock()
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
	b.mu.Lock()
	defer b.mu.Unlock()
	d.connection.usage = max(d.connection.usage, use)
	return d.connection, nil
}

// dial connects to a browser.
func (a *Agent) dial(ctx context.Context, to destination, d *dialing) {
	defer close(d.done)
	options := page.Options{
		Logger: a.Logger, Record: true, Folders: to.folders, Refs: &a.refs, Indexes: &a.indexes, User: page.UserPresent,
		TakenOver: func() (bool, func(context.Context) error) { return takenOver(to.user) },
		Owns:      func(id string) bool { return a.places.at(to.seat()).owns(to.url, id) }, Owner: a.owner,
	}
	if to.owner == ofSession {
		options.User = page.UserIfVisible
		options.Viewport, options.Proxy = a.Viewport, a.Launcher.Proxy
		if a.Launcher.Downloads() != "" {
			options.Downloads = a.downloads(ctx)
		}
	}
	browser, err := page.Connect(ctx, to.url, &options)
	b := &a.browsers
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.dials, to.url)
	if err == nil && b.over {
		err = errors.Join(errOver, browser.Close())
	}
	if err != nil {
		if ctx.Err() == nil {
			d.err = &connectError{to.url, err}
		}
		return
	}
	c := &connection{destination: to, browser: browser}
	b.open[to.url], d.connection = c, c
	a.watchers.Go(func() { a.watchUser(c) })
}

// errOver reports a call that outlives its session.
var errOver = errors.New("the session has ended")

// close ends all connections, and those that are being made.
func (b *browsers) close() {
	b.mu.Lock()
	b.over = true
	b.mu.Unlock()
	b.end(func(*connection) bool { return true })
}

// end ends the connections that match, and reports whether there were any. mu is held while matches
// is called.
func (b *browsers) end(matches func(*connection) bool) bool {
	b.mu.Lock()
	var ended []*connection
	for url, c := range b.open {
		if matches(c) {
			ended = append(ended, c)
			delete(b.open, url)
		}
	}
	b.mu.Unlock()
	for _, c := range ended {
		c.browser.Close()
	}
	return len(ended) > 0
}

// suspend ends the connections that match, since their users allow less. With them the browser undoes
// what the agent has set up there: routes, emulation, waits for downloads. The agent connects again
// to read on.
func (a *Agent) suspend(matches func(*connection) bool) {
	if a.browsers.end(matches) {
		a.ResolveAgain()
	}
}

// endRevoked reads what the users have chosen, and suspends the connections to those who have stopped
// the agent or chosen a stricter mode.
func (a *Agent) endRevoked() {
	name := a.Info().Name
	a.suspend(func(c *connection) bool { return c.readAccess(name) })
}

// readAccess reads what the connection's user has chosen, and reports whether that revokes what was
// allowed when it was last read. browsers.mu is held.
func (c *connection) readAccess(name string) (revoked bool) {
	former := c.access
	c.access, _ = c.user.Access()
	return c.access.Revokes(former, name)
}

// watchUser calls endRevoked at each choice of the user, as long as a connection lasts. When the user takes
// over, it releases the buttons that the agent holds.
func (a *Agent) watchUser(c *connection) {
	for {
		_, changed := c.user.Access()
		a.endRevoked()
		takeover, taken := c.user.Takeover()
		if takeover.Now {
			ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
			if err := c.browser.ReleaseButtons(ctx); err != nil && !c.ended() {
				a.Log.Info("a mouse button stays pressed while the user has taken over", "error", err)
			}
			cancel()
		}
		select {
		case <-changed:
		case <-taken:
		case <-c.browser.Done():
			return
		}
	}
}

// abandon ends a browser of this session in which no action was done, when another one
// replaces it.
func (a *Agent) abandon() {
	if !a.browsers.end(func(c *connection) bool { return c.owner == ofSession && c.usage < acted }) {
		return
	}
	a.places.abandoned()
	if err := a.Launcher.End(); err != nil {
		a.Log.Warn("the launched browser did not end cleanly", "error", err)
	}
}

// inUse is the connection of the last call; nil: none.
func (a *Agent) inUse() *connection {
	a.browsers.mu.Lock()
	defer a.browsers.mu.Unlock()
	return a.browsers.last
}

// connected is the connection to the browser at a URL; nil: there is none.
func (b *browsers) connected(url string) *connection {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c := b.open[url]; c != nil && !c.ended() {
		return c
	}
	return nil
}

// placeIn is where the agent works in the browser of a connection.
func (a *Agent) placeIn(c *connection) *place { return a.places.at(c.seat()) }

// isSettled reports whether the agent has done an action in a browser of this session that
// still runs. The agent then stays there, also when a matching window opens.
func (a *Agent) isSettled() bool {
	return a.ownRuns() && a.places.at(ownSeat).hasActed(a.Launcher.URL())
}

// ownRuns reports whether the browser runs in which the agent has worked without a window.
func (a *Agent) ownRuns() bool {
	if a.Launcher == nil {
		return false
	}
	url := a.Launcher.URL()
	return url != "" && url == a.places.at(ownSeat).lastBrowser() && !isClosed(a.Launcher.Done())
}

// releaseIdle gives the tabs of an idle agent to others, without what it has set there.
func (a *Agent) releaseIdle() {
	a.places.releaseAll()
	for _, c := range a.browsers.all() {
		ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
		if err := c.browser.Routing().Sync(ctx, nil); err != nil {
			a.Log.Warn("the routes of an idle agent stay in a tab that it has left", "error", err)
		}
		cancel()
	}
}

// endTimeout bounds the time in which the tabs of a session that ends are closed.
const endTimeout = 2 * time.Second

// closeOpened closes the tabs that the agent has opened for itself, unless another agent has
// begun to work there. It leaves the one that the user sees, who may work there as well, and a
// browser of this session, which ends with them.
func (a *Agent) closeOpened() {
	ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	for _, c := range a.browsers.all() {
		if c.owner == ofSession || c.ended() {
			continue
		}
		place := a.placeIn(c)
		opened := place.openedForItself()
		if len(opened) == 0 || place.lastBrowser() != c.url {
			continue
		}
		front, err := c.browser.InFront(ctx)
		if err != nil {
			a.Log.Info("tabs of an agent that has ended stay open", "error", err)
			continue
		}
		for _, tab := range opened {
			if tab == front {
				continue
			}
			err := place.alsoClaim(tab)
			if err == nil {
				err = c.browser.ClosePage(ctx, tab)
			}
			if err != nil {
				a.Log.Info("a tab of an agent that has ended stays open", "tab", tab, "error", err)
			}
		}
	}
}

// all are the connections.
func (b *browsers) all() (all []*connection) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.open {
		all = append(all, c)
	}
	return all
}
