package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/policy"
)

// link is an agent's connection to one browser.
type link struct {
	ready   chan struct{} // closed when browser or err is set
	browser *page.Browser
	err     error

	user    *registry.Source  // of the browser's window; nil: the browser is the Launcher's
	allowed policy.State      // what that user has chosen, as far as the agent has acted on it
	revoked bool              // the user has since allowed less, so the connection was ended
	watched sync.WaitGroup    // watchUser
	folders []string          // of the workspace
	own     bool              // the browser is the Launcher's, and of this session
	foreign bool              // the browser is the Launcher's, but of another program
	used    bool              // a call has used it
	acted   bool              // an action was done in it
	current string            // id of the page that the agent works in; empty: not chosen yet
	shared  string            // id of another agent's page that was read last
	opened  map[string]bool   // ids of the pages that the agent opened; true: they end with its session
	openers map[string]string // the page that opened a page, by its id
	held    map[string]func() // ends the claim on a page, by its id
}

// ended reports whether a former connection has ended.
func (l *link) ended() bool {
	return isClosed(l.ready) && l.browser != nil && isClosed(l.browser.Done())
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// noBrowserError reports a window whose browser is not running.
type noBrowserError struct{ window registry.Window }

// maxStart bounds a window's own text in an error, in characters.
const maxStart = 200

func (e *noBrowserError) Error() string {
	start := "start the program there that debugs a browser"
	switch {
	case e.window.Start != "":
		start = limit(strings.Join(strings.Fields(e.window.Start), " "), maxStart)
	case e.window.Kind == "vscode":
		start = "start its debug session (F5 in VS Code, a launch configuration of type chrome or msedge)"
	case e.window.Kind == "terminal":
		start = "start `coordinator window` there again"
	}
	return fmt.Sprintf("the window %s has no browser now: %s, then call again", e.window.Label(), start)
}

// Browser returns the browser of the resolved window.
func (c *Call) Browser(ctx context.Context) (*page.Browser, error) {
	l, err := c.link(ctx)
	if err != nil {
		return nil, err
	}
	return l.browser, nil
}

// InWindow reports whether the browser that the agent uses is a window's.
func (a *Agent) InWindow() bool {
	l := a.browsers.inUse()
	return l != nil && !l.own && !l.foreign
}

// HasBrowser reports whether the agent has used a browser before.
func (a *Agent) HasBrowser() bool { return a.browsers.inUse() != nil }

// link connects to the browser of the resolved window.
func (c *Call) link(ctx context.Context) (*link, error) {
	target, want, err := c.browserOf(ctx)
	if err != nil {
		return nil, err
	}
	want.used = true
	l, err := c.connect(ctx, target, want)
	if err != nil {
		return nil, err
	}
	if l.own || l.foreign {
		c.join(nil)
	}
	c.browsers.use(l)
	return l, nil
}

// browserOf returns the CDP URL of the resolved window's browser, and what is known of
// it.
func (c *Call) browserOf(ctx context.Context) (target string, l *link, err error) {
	if c.attached(c.Window) {
		target, err := c.Launcher.Browser(ctx)
		return target, &link{foreign: true, folders: c.folders(ctx)}, err
	}
	want := c.Want(ctx, c.Window)
	chosen, _, err := c.Windows.Resolve(ctx, want)
	free := c.Window == "" && c.Launcher != nil
	var none *registry.SelectionError
	switch {
	case err == nil && free && c.browsers.settled():
		c.notices.passOver(chosen.Label())
		target, err := c.Launcher.Browser(ctx)
		return target, &link{own: true, folders: c.folders(ctx)}, err
	case err == nil:
		if err := c.stays(chosen); err != nil {
			return "", nil, err
		}
		return c.browserIn(chosen)
	case errors.As(err, &none) && !none.Ambiguous && none.Wanted == nil && free:
		target, err := c.Launcher.Browser(ctx)
		if err != nil {
			return "", nil, fmt.Errorf("%w\nand no browser could be launched instead: %w", none, err)
		}
		return target, &link{own: true, folders: c.folders(ctx)}, nil
	default:
		return "", nil, err
	}
}

// browserIn is browserOf for a chosen window.
func (a *Agent) browserIn(chosen registry.Window) (target string, l *link, err error) {
	if a.Chosen != nil {
		a.Chosen(chosen)
	}
	browser := chosen.Browser()
	if browser == nil {
		return "", nil, &noBrowserError{chosen}
	}
	l = &link{user: a.Windows.Source(chosen.Key()), folders: chosen.Folders}
	l.allowed, _ = l.user.Access()
	return browser.URL, l, nil
}

// connect returns the connection to a browser. It connects if there is no connection, or
// if the last one has ended.
func (a *Agent) connect(ctx context.Context, target string, want *link) (*link, error) {
	b := &a.browsers
	former := b.to(target)
	b.leave((*link).ended)
	if !want.own && want.used {
		a.abandon()
	}
	b.mu.Lock()
	l := b.links[target]
	if l != nil {
		l.used = l.used || want.used
		b.mu.Unlock()
		select {
		case <-l.ready:
			return l, l.err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	l = want
	l.ready, l.opened, l.openers, l.held = make(chan struct{}), map[string]bool{}, map[string]string{}, map[string]func(){}
	if former != nil && former.revoked { // the pages are the same
		l.used, l.current, l.opened, l.openers = l.used || former.used, former.current, former.opened, former.openers
	}
	b.links[target] = l
	b.mu.Unlock()
	defer close(l.ready)
	options := page.Options{Logger: a.Logger, Record: true, Folders: l.folders, Refs: &b.refs}
	if l.own {
		options.Viewport = a.Viewport
		if a.Launcher.Downloads() != "" {
			options.Downloads = a.downloads(ctx)
		}
	}
	if l.browser, l.err = page.Connect(ctx, target, &options); l.err != nil {
		l.err = &connectError{target, l.err}
		b.mu.Lock()
		delete(b.links, target)
		b.mu.Unlock()
	} else if l.user != nil {
		l.watched.Go(func() { a.watchUser(l) })
	}
	return l, l.err
}

// endRevoked ends the connections to windows whose user has stopped the agent or chosen a
// stricter mode. With them the browser undoes what the agent has set up there: routes,
// emulation, waits for downloads. The agent connects again to read on.
func (a *Agent) endRevoked() {
	name := a.Info().Name
	if a.browsers.revoke(func(l *link) bool {
		if l.user == nil {
			return false
		}
		former := l.allowed
		l.allowed, _ = l.user.Access()
		return l.allowed.Revokes(former, name)
	}) {
		a.resolveAgain()
	}
}

// watchUser does that at each choice of a window's user, as long as a connection lasts.
func (a *Agent) watchUser(l *link) {
	<-l.ready
	for {
		_, chosen := l.user.Access()
		a.endRevoked()
		select {
		case <-chosen:
		case <-l.browser.Done():
			return
		}
	}
}

// abandon ends a browser of our own in which no action was done, when a window's browser
// replaces it.
func (a *Agent) abandon() {
	if !a.browsers.leave(func(l *link) bool { return l.own && !l.acted }) {
		return
	}
	if err := a.Launcher.End(); err != nil {
		a.Log.Warn("a browser of its own did not end well", "error", err)
	}
}
