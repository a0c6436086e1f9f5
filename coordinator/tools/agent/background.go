package agent

import (
	"context"
	"errors"

	"browser-coordinator/vscodeipc"
)

// Follow keeps a connection to the browser of the window that is resolved without a
// call's own choice, as soon as there is one. So the messages and dialogs of its pages
// are known from the start, not from the first call. It begins when the host has
// identified itself, and returns when ctx ends. It also gives the window's user what they want of the
// agent between its calls.
func (a *Agent) Follow(ctx context.Context) {
	select {
	case <-a.identified:
	case <-ctx.Done():
		return
	}
	for {
		windows := a.Windows.Changed()
		a.mu.Lock()
		changed := a.changed.Next()
		a.mu.Unlock()
		a.giveTest(ctx)
		a.watch(ctx)
		select {
		case <-windows:
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// giveTest gives the window's user the test of what the agent has done, if the user wants it.
func (a *Agent) giveTest(ctx context.Context) {
	a.mu.Lock()
	window := a.presence.window
	a.mu.Unlock()
	if window == nil || !window.WantsTest(a.Info()) {
		return
	}
	test := vscodeipc.TestGiveArg{Client: a.Info()}
	if !a.Record {
		test.Problem = "what it does is not recorded. Start its program with --caps testing."
	} else if test.Code = a.Test.File(a.Secrets); test.Code == "" {
		test.Problem = "it has done nothing in a page yet that a test can repeat."
	}
	err := window.GiveTest(ctx, test)
	if errors.Is(err, vscodeipc.ErrTooLarge) {
		test.Code, test.Problem = "", "the test is too long. Ask the agent to write it to a file with browser_export."
		err = window.GiveTest(ctx, test)
	}
	if err != nil && ctx.Err() == nil {
		a.Log.Warn("the user does not get the test", "error", err)
	}
}

// watch connects to the browser of the resolved window. It closes connections to browsers
// that were resolved before and that no call has used.
func (a *Agent) watch(ctx context.Context) {
	to, err := a.followed(ctx)
	if err != nil {
		return // a call will report it
	}
	a.browsers.end(func(c *connection) bool { return c.url != to.url && c.usage == watched || c.ended() })
	if a.browsers.connected(to.url) != nil {
		return
	}
	c, err := a.connect(ctx, to, watched)
	if err != nil {
		a.Log.Info("the browser cannot be watched yet", "error", err)
		return
	}
	pages, err := c.browser.Watch(ctx)
	if err != nil {
		a.Log.Warn("a page of the browser cannot be watched", "error", err)
	}
	a.Log.Info("watching the browser", "pages", pages)
}

// followed is the browser of a call that names no window, if it runs.
func (a *Agent) followed(ctx context.Context) (destination, error) {
	if a.attached("") {
		return a.launched(ctx, ofStranger)
	}
	choice, _, err := a.Windows.Selected(a.Want(ctx, ""))
	if err != nil {
		return destination{}, err
	}
	if user := a.Windows.SourceOf(choice); !user.IsSingleWindow() {
		a.join(user)
	}
	return a.browserIn(choice)
}
