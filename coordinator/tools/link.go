package tools

import (
	"context"
	"errors"
	"fmt"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/registry"
)

// link is an agent's connection to one browser.
type link struct {
	ready   chan struct{} // closed when browser or err is set
	browser *page.Browser
	err     error

	folders []string        // of the workspace
	own     bool            // the browser is the Launcher's, not a window's
	remote  bool            // the user's own flag names the browser: it may be on another machine
	used    bool            // a call has used it
	acted   bool            // an action was done in it
	current string          // id of the page that the agent works in; empty: not chosen yet
	shared  string          // id of another agent's page that was read last
	opened  map[string]bool // ids of the pages that the agent opened
	release func()          // ends the claim on the current page; nil: none
}

// browserFor returns the browser of the resolved window.
func (a *agent) browserFor(ctx context.Context, window string) (*page.Browser, error) {
	l, err := a.linkTo(ctx, window)
	if err != nil {
		return nil, err
	}
	return l.browser, nil
}

// linkTo connects to the browser of the resolved window.
func (a *agent) linkTo(ctx context.Context, window string) (*link, error) {
	target, want, err := a.browserOf(ctx, window)
	if err != nil {
		return nil, err
	}
	want.used = true
	l, err := a.connect(ctx, target, want)
	if err == nil {
		a.mu.Lock()
		a.last = l
		a.mu.Unlock()
	}
	return l, err
}

// browserOf returns the CDP URL of the resolved window's browser, and what is known of
// it.
func (a *agent) browserOf(ctx context.Context, window string) (target string, l *link, err error) {
	o := &a.server.options
	want := a.want(ctx, window)
	if o.Attach != "" && a.named(window) == "" {
		return o.Attach, &link{remote: true, folders: a.workspace(ctx)}, nil
	}
	chosen, _, err := o.Windows.Resolve(ctx, want)
	free := want.Explicit == "" && o.Launcher != nil
	var none *registry.SelectionError
	switch {
	case err == nil && free && a.settled(chosen.Label()):
		target, err := o.Launcher.Browser(ctx)
		return target, &link{own: true, folders: a.workspace(ctx)}, err
	case err == nil:
		if err := stays(ctx, chosen); err != nil {
			return "", nil, err
		}
		if o.Chosen != nil {
			o.Chosen(chosen)
		}
		browser := chosen.Browser()
		if browser == nil {
			return "", nil, &noBrowserError{chosen}
		}
		return browser.URL, &link{folders: chosen.Folders}, nil
	case errors.As(err, &none) && !none.Ambiguous && free:
		target, err := o.Launcher.Browser(ctx)
		if err != nil {
			return "", nil, fmt.Errorf("%w\nand no browser could be launched instead: %w", none, err)
		}
		return target, &link{own: true, folders: a.workspace(ctx)}, nil
	default:
		return "", nil, err
	}
}

// settled reports whether the agent has done an action in a browser of our own that still
// runs. The agent then stays there, also when a matching window opens.
func (a *agent) settled(window string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, l := range a.links {
		if l.own && l.acted && !ended(l) {
			a.passedOver = window
			return true
		}
	}
	return false
}

// abandon ends a browser of our own in which no action was done, when a window's browser
// replaces it.
func (a *agent) abandon() {
	own := false
	a.leave(func(l *link) bool {
		unused := l.own && !l.acted
		own = own || unused
		return unused
	})
	if !own {
		return
	}
	if err := a.server.options.Launcher.End(); err != nil {
		a.log.Warn("a browser of its own did not end well", "error", err)
	}
}

// connect returns the connection to a browser. It connects if there is no connection, or
// if the last one has ended.
func (a *agent) connect(ctx context.Context, target string, want *link) (*link, error) {
	a.leave(ended)
	if !want.own && want.used {
		a.abandon()
	}
	options := page.Options{Logger: a.server.options.Logger, Record: true, Folders: want.folders, Refs: &a.refs, Remote: want.remote}
	if want.own && a.server.options.Viewport != "" {
		viewport, err := parseViewport(a.server.options.Viewport)
		if err != nil {
			return nil, err
		}
		options.Viewport = viewport
	}
	if want.own {
		options.Downloads = a.downloads(ctx)
	}
	a.mu.Lock()
	l := a.links[target]
	if l == nil {
		l = want
		l.ready, l.opened = make(chan struct{}), map[string]bool{}
		a.links[target] = l
		a.mu.Unlock()
		l.browser, l.err = page.Connect(ctx, target, &options)
		if l.err != nil {
			l.err = &connectError{target, l.err}
			a.mu.Lock()
			delete(a.links, target)
			a.mu.Unlock()
		}
		close(l.ready)
		return l, l.err
	}
	l.used = l.used || want.used
	a.mu.Unlock()
	select {
	case <-l.ready:
		return l, l.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// leave ends the connections that which selects.
func (a *agent) leave(which func(*link) bool) {
	a.mu.Lock()
	var left []*link
	for url, l := range a.links {
		if which(l) {
			l.unclaim()
			left = append(left, l)
			delete(a.links, url)
		}
	}
	a.mu.Unlock()
	for _, l := range left {
		<-l.ready
		if l.browser != nil {
			l.browser.Close()
		}
	}
}

// ended reports whether a former connection has ended.
func ended(l *link) bool {
	select {
	case <-l.ready:
	default:
		return false
	}
	if l.browser == nil {
		return false
	}
	select {
	case <-l.browser.Done():
		return true
	default:
		return false
	}
}

// noteAct records that a mutating tool has run.
func (a *agent) noteAct() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.last != nil {
		a.last.acted = true
	}
}
