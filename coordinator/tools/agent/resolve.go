package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"browser-coordinator/cdpproxy"
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

// Browser returns the browser of the resolved window.
func (c *Call) Browser(ctx context.Context) (*page.Browser, error) {
	in, err := c.connection(ctx)
	if err != nil {
		return nil, err
	}
	return in.browser, nil
}

// InWindow reports whether the browser that the agent uses is a window's.
func (a *Agent) InWindow() bool {
	in := a.inUse()
	return in != nil && in.owner == ofWindow
}

// HasBrowser reports whether the agent has used a browser before.
func (a *Agent) HasBrowser() bool { return a.inUse() != nil }

// connection connects to the browser of the resolved window. A call stays in that, whichever window
// opens meanwhile.
func (c *Call) connection(ctx context.Context) (*connection, error) {
	if c.in != nil && !c.in.ended() {
		return c.in, nil
	}
	to, err := c.resolve(ctx)
	if err != nil {
		return nil, err
	}
	use := acted // from the beginning: another call must not end the browser meanwhile
	if c.readOnly() {
		use = used
	}
	in, err := c.connect(ctx, to, use)
	if err != nil {
		return nil, err
	}
	if in.owner == ofStranger && c.Window == "" {
		if err := c.checkStranger(ctx, in); err != nil {
			return nil, err
		}
	}
	if in.owner != ofWindow {
		c.join(nil)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.in, c.last = in, in
	if c.Window == "" {
		c.home = in
	}
	return in, nil
}

// resolve returns the browser that the call goes to.
func (c *Call) resolve(ctx context.Context) (to destination, err error) {
	if c.attached(c.Window) {
		return c.launched(ctx, ofStranger)
	}
	choice, candidates, err := c.Windows.Resolve(ctx, c.Want(ctx, c.Window))
	var none *registry.SelectionError
	if err != nil && !errors.As(err, &none) {
		return to, err
	}
	free := c.Window == "" && c.Launcher != nil && (none == nil || !none.Ambiguous && none.Match == nil)
	if c.Window == "" && (none == nil || none.Match == nil) {
		if err := c.checkHome(choice, candidates); err != nil {
			return to, err
		}
	}
	switch {
	case none == nil && free && c.isSettled():
		c.notifyOnce(fmt.Sprintf("The window %s fits this workspace now. You stay in the browser of your own, "+
			"where you have acted; pass that window as window to work there.", choice.Label()))
		return c.launched(ctx, ofSession)
	case none == nil:
		if err := c.permission.check(choice); err != nil {
			return to, err
		}
		c.noticeTwins(choice, candidates)
		return c.browserIn(choice)
	case !free && c.Launcher == nil && c.NoLauncher != "" && c.Window == "":
		return to, fmt.Errorf("%w\nNo private browser is launched: %s", err, c.NoLauncher)
	case !free:
		return to, err
	}
	provider := c.Launcher.Provider()
	to, launchErr := c.launched(ctx, ofSession)
	switch {
	case launchErr == nil:
		suffix := ""
		if provider != "" {
			suffix = ", of " + provider
		}
		c.notifyOnce("No VS Code window fits this workspace, so this is the agent's own browser" + suffix +
			", ended with this session.")
		return to, nil
	case provider != "":
		return to, launchErr
	}
	return to, fmt.Errorf("%w\nand no browser could be launched instead: %w", none, launchErr)
}

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

// checkHome reports, once, that the browser has gone in which the agent worked with calls that
// named no window. A window's next browser, after a restart of its debug session, is no other
// one.
func (a *Agent) checkHome(choice registry.Window, candidates []registry.Candidate) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	home := a.home
	if home == nil {
		return nil
	}
	ended := &goneError{a.launchedName() + " in which you worked has ended"}
	switch home.owner {
	case ofStranger:
		return nil // checkStranger does
	case ofSession:
		if !a.hasGone(home) {
			return nil
		}
	case ofWindow:
		open := func(c registry.Candidate) bool { return c.Window.Address == home.window.Address }
		next := choice.Browser()
		if slices.ContainsFunc(candidates, open) || next != nil && next.URL == home.url {
			return nil
		}
		ended.cause = fmt.Sprintf("the window %s in which you worked has closed", home.window.Label())
	}
	a.home = nil
	return ended
}

// checkStranger reports, once, that another program's browser is not the one in which the agent
// worked: its tab is not there. The connection alone may have ended.
func (a *Agent) checkStranger(ctx context.Context, in *connection) error {
	a.mu.Lock()
	home := a.home
	a.mu.Unlock()
	if home == nil || home == in || home.owner != ofStranger || !home.ended() || a.currentOf(home) == "" {
		return nil
	}
	pages, err := in.browser.Pages(ctx)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.home = nil
	if find(pages, home.work.current) == nil {
		return &goneError{a.launchedName() + " in which you worked has ended"}
	}
	in.work.current, in.work.opened, in.work.openers = home.work.current, home.work.opened, home.work.openers
	return nil
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
// takes one to two seconds. An agent should soon know that its user has ended the browser,
// so it is a part of a client's wait.
const backTimeout = cdpproxy.DefaultHold / 10

// awaitBrowser waits, after a call has failed with its browser, until the selected browser can
// be reached again. It checks at each change of the windows. It returns why the call should not
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
		changed := c.Windows.Changed()
		_, err := c.connection(ctx)
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
