package agent

import (
	"context"
	"fmt"
	"time"

	"browser-coordinator/policy"
)

// takeoverTimeout bounds how long an action waits for the user to give the browser back.
const takeoverTimeout = 20 * time.Second

// awaitReturn waits while the window's user has taken over its browser, and refuses a call that
// acts if that takes long. A call that reads does not wait.
func (c *Call) awaitReturn(ctx context.Context) error {
	user := c.permission.user
	if user == nil || c.Request.readOnly() {
		return nil
	}
	var late <-chan time.Time
	for {
		takeover, changed := user.Takeover()
		if !takeover.Now {
			return nil
		}
		if late == nil {
			late = time.After(takeoverTimeout)
		}
		select {
		case <-changed:
		case <-late:
			reason := fmt.Sprintf("the user has taken over the browser, and has not given it back in %v. Nothing was "+
				"done. You can read on; call again to wait for the user.", takeoverTimeout)
			return &policy.DeniedError{Operation: c.Request.Operation.Name, Reason: reason}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// meet notes that the agent uses the browser of a window, so that it is notified of what the
// window's user does from now on.
func (a *Agent) meet(user browserUser) {
	takeover, _ := user.Takeover()
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, known := a.takeovers[user]; known {
		return
	}
	a.takeovers[user] = takeover.Changes
	if takeover.Now {
		a.takeovers[user]-- // that is new to the agent
	}
}

// noteTakeover adds to the next answer that the user has taken over the browser, or given it back.
func (c *Call) noteTakeover() {
	user := c.permission.user
	if user == nil {
		return
	}
	takeover, _ := user.Takeover()
	a := c.Agent
	a.mu.Lock()
	known := a.takeovers[user]
	a.takeovers[user] = takeover.Changes
	a.mu.Unlock()
	switch {
	case known == takeover.Changes:
	case takeover.Now:
		a.notify("The user has taken over the browser: your actions wait until it is given back. You can read on.")
	default:
		a.notify("The user took over the browser and has given it back: the page may have changed since your last " +
			"answer. Look at what changed before you go on.")
	}
}
