package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"browser-coordinator/coordinator/launch"
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/registry"
)

// noBrowserError reports a window whose browser is not running.
type noBrowserError struct{ window registry.Window }

// maxStart bounds a window's own text in an error, in characters.
const maxStart = 200

func (e *noBrowserError) Error() string {
	start := "start the program there that debugs a browser"
	switch {
	case e.window.Server.Start != "":
		start = limit(strings.Join(strings.Fields(e.window.Server.Start), " "), maxStart)
	case e.window.Server.Kind == "vscode":
		start = "start its debug session with debug_start, or let the user start it " +
			"(F5 in VS Code, a launch configuration of type chrome or msedge)"
	case e.window.Server.Kind == "terminal":
		start = "start `coordinator window` there again"
	}
	return fmt.Sprintf("the window %s has no browser now: %s, then call again", e.window.Label(), start)
}

// goneError reports that the browser in which the agent worked is no longer there. The agent
// must know that before it does anything in another one.
type goneError struct{ cause string }

func (e *goneError) Error() string {
	return e.cause + ", with its pages, tabs and logins, so nothing was done. The next call goes to another browser: " +
		"look at it with browser_snapshot before you act"
}

// decision is where a call goes: a window and its browser, or a browser without a window. It is made
// once, before anything else: the permission is asked for it, and the call acts nowhere else.
type decision struct {
	owner  owner
	window *registry.Window         // nil: of a browser without one
	none   *registry.SelectionError // why no window was chosen; nil: one was, or none was looked for
	// nowhere is why the call has neither a window nor a browser; nil: it has. A call that needs none runs
	// all the same.
	nowhere error
}

// decide is where a call goes that names a window, or none. local: the call works on the window itself.
func (a *Agent) decide(ctx context.Context, name string, local bool) (d decision, err error) {
	if !local && a.attached(name) {
		return decision{owner: ofStranger}, nil
	}
	choice, candidates, err := a.Windows.Resolve(ctx, a.Want(ctx, name))
	var none *registry.SelectionError
	if err != nil && !errors.As(err, &none) {
		return d, err
	}
	fits := none == nil || !none.Ambiguous && none.Match == nil
	if !local && name == "" && (none == nil || none.Match == nil) {
		if err := a.checkHome(choice, candidates); err != nil {
			return d, err
		}
	}
	free := !local && name == "" && a.Launcher != nil && fits
	switch {
	case none == nil && free && a.isSettled():
		a.notifyOnce(fmt.Sprintf("The window %s fits this workspace now. You stay in the browser of your own, "+
			"where you have acted; pass that window as window to work there.", choice.Label()))
		return decision{owner: ofSession}, nil
	case none == nil:
		a.noticeTwins(choice, candidates)
		return decision{owner: ofWindow, window: &choice}, nil
	case free:
		return decision{owner: ofSession, none: none}, nil
	}
	if a.Launcher == nil && a.NoLauncher != "" && name == "" && !local {
		err = fmt.Errorf("%w\nNo private browser is launched: %s", err, a.NoLauncher)
	}
	return decision{nowhere: err}, nil
}

// destination is the browser of a decision. A browser of this session is launched if it does not run.
func (a *Agent) destination(ctx context.Context, d decision) (to destination, err error) {
	switch {
	case d.nowhere != nil:
		return to, d.nowhere
	case d.owner == ofWindow:
		return a.browserIn(*d.window)
	}
	to, err = a.launched(ctx, d.owner)
	if d.none == nil {
		return to, err
	}
	provider := a.Launcher.Provider()
	switch {
	case err == nil:
		suffix := ""
		if provider != "" {
			suffix = ", of " + provider
		}
		a.notifyOnce("No VS Code window fits this workspace, so this is the agent's own browser" + suffix +
			", ended with this session.")
		return to, nil
	case provider != "":
		return to, err
	}
	return to, fmt.Errorf("%w\nand no browser could be launched instead: %w", d.none, err)
}

// connection is the connection to the call's browser. If it has ended while the browser lives, the
// call connects again.
func (c *Call) connection(ctx context.Context) (*connection, error) {
	if c.in != nil && !c.in.ended() {
		return c.in, nil
	}
	a := c.Agent
	var to destination
	if c.in != nil {
		to = c.in.destination // and not a browser that has been launched since
	} else {
		var err error
		if to, err = a.destination(ctx, c.where); err != nil {
			return nil, err
		}
	}
	use := acted // from the beginning: another call must not end the browser meanwhile
	if c.Request.readOnly() {
		use = used
	}
	in, err := a.connect(ctx, to, use)
	if err != nil {
		return nil, err
	}
	if in.owner != ofWindow {
		a.join(nil)
	}
	place := a.places.arrive(in, use == acted, c.Request.Window == "")
	a.browsers.mu.Lock()
	defer a.browsers.mu.Unlock()
	c.in, c.place, a.browsers.last = in, place, in
	return in, nil
}

// Browser returns the browser of the call.
func (c *Call) Browser(ctx context.Context) (*page.Browser, error) {
	in, err := c.connection(ctx)
	if err != nil {
		return nil, err
	}
	return in.browser, nil
}

// InWindow reports whether the call's browser is a window's.
func (c *Call) InWindow() bool { return c.in != nil && c.in.owner == ofWindow }

// HasBrowser reports whether the agent has used a browser before.
func (a *Agent) HasBrowser() bool { return a.inUse() != nil }

// Resolve is the window of the call, with or without a browser; else the error says why there is none.
func (c *Call) Resolve(ctx context.Context) (registry.Window, error) {
	if c.where.window != nil {
		return *c.where.window, nil
	}
	d, err := c.Agent.decide(ctx, c.Request.Window, true)
	switch {
	case err != nil:
		return registry.Window{}, err
	case d.nowhere != nil:
		return registry.Window{}, d.nowhere
	}
	return *d.window, nil
}

// Ask runs a command of the call's window.
func (c *Call) Ask(ctx context.Context, command string, arg, result any) (registry.Window, error) {
	switch {
	case c.where.nowhere != nil:
		return registry.Window{}, c.where.nowhere
	case c.where.window == nil:
		return registry.Window{}, errNoWindow
	}
	window := *c.where.window
	return window, c.Agent.Windows.Call(ctx, window, command, arg, result)
}

// errNoWindow reports that what only a window can do was asked for in a browser without one.
var errNoWindow = errors.New("this browser belongs to no window, so nobody can be asked there")

// allowTimeout bounds how long a call waits for the user to allow the connection to the user's
// own browser. The question stays open, so the next call goes on waiting.
const allowTimeout = 20 * time.Second

var errNotYet = errors.New("there is no browser yet")

// launched is the Launcher's browser.
func (a *Agent) launched(ctx context.Context, whose owner) (destination, error) {
	if a.Launcher.Kind() == launch.Personal { // the agent must tell its user to look at that browser
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, allowTimeout, errNotYet)
		defer cancel()
	}
	url, err := a.Launcher.Browser(ctx)
	access, _ := a.alone.Access()
	return destination{url: url, owner: whose, folders: a.folders(ctx), user: a.alone, access: access}, err
}

// browserIn is the browser of a chosen window.
func (a *Agent) browserIn(choice registry.Window) (to destination, err error) {
	if a.OnChoice != nil {
		a.OnChoice(choice)
	}
	browser := choice.Browser()
	if browser == nil {
		return to, &noBrowserError{choice}
	}
	user := a.Windows.SourceOf(choice)
	access, _ := user.Access()
	return destination{browser.URL, ofWindow, choice.Folders, choice, user, access}, nil
}

// checkHome reports, once, that the browser has gone for good in which the agent worked with calls that
// named no window: its window has closed, or the browser without a window has ended.
func (a *Agent) checkHome(choice registry.Window, candidates []registry.Candidate) error {
	home, name, url := a.places.atHome()
	gone := &goneError{a.launchedName() + " in which you worked has ended"}
	switch {
	case home == "" || home == attachedSeat || home == ownSeat && (url == "" || a.ownRuns()):
		return nil
	case home != ownSeat:
		open := func(c registry.Candidate) bool { return seat(c.Window.Address) == home }
		if slices.ContainsFunc(candidates, open) {
			return nil
		}
		if next := choice.Browser(); next != nil && next.URL == url { // its window has another address now
			a.places.rename(home, seat(choice.Address))
			return nil
		}
		gone.cause = fmt.Sprintf("the window %s in which you worked has closed", name)
	}
	if !a.places.leave(home) {
		return nil
	}
	return gone
}

// launchedName names the Launcher's browser.
func (a *Agent) launchedName() string {
	if a.Launcher == nil || a.Launcher.Provider() == "" {
		return "the browser of your own"
	}
	return "the browser of " + a.Launcher.Provider()
}

// noticeTwins notes, once, that another window has the chosen one's folder.
func (a *Agent) noticeTwins(choice registry.Window, candidates []registry.Candidate) {
	twin := func(c registry.Candidate) bool {
		return c.Window.Key() == choice.Key() && c.Window.Address != choice.Address
	}
	if slices.ContainsFunc(candidates, twin) {
		a.notifyOnce(fmt.Sprintf("Several windows are open on %s. You work in the one at %s; window_list tells them "+
			"apart.",
			choice.Label(), choice.Address))
	}
}

// backTimeout bounds the wait for a browser to come back: the restart of a debug session
// takes one to two seconds. An agent should soon know that its user has ended the browser.
const backTimeout = 3 * time.Second

// awaitBrowser waits, after a call has failed with its browser, until the one that it would go to now
// can be reached. It checks at each change of the windows. It returns why the call should not
// be repeated.
func (c *Call) awaitBrowser(ctx context.Context, failed error) error {
	ctx, cancel := context.WithTimeout(ctx, backTimeout)
	defer cancel()
	if errors.Is(failed, page.ErrBrowserGone) && c.in != nil {
		// The old browser must be gone, or it would be found again.
		select {
		case <-c.in.browser.Done():
		case <-ctx.Done():
			return failed
		}
	}
	for {
		changed := c.Agent.Windows.Changed()
		next := &Call{Agent: c.Agent, Request: c.Request}
		var err error
		if next.where, err = c.Agent.decide(ctx, c.Request.Window, c.Request.Local); err == nil {
			_, err = next.connection(ctx)
		}
		if err == nil || errors.As(err, new(*goneError)) {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return failed
		}
	}
}
