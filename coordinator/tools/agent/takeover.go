package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"browser-coordinator/policy"
)

// takeoverTimeout bounds how long an action waits for the user to give the browser back.
const takeoverTimeout = 20 * time.Second

// awaitReturn waits while the window's user has taken over its browser, and refuses a call that
// acts if that takes long. A call that reads does not wait.
func (c *Call) awaitReturn(ctx context.Context) error {
	if c.permission.user == nil || c.Request.readOnly() {
		return nil
	}
	err := awaitReturn(ctx, c.permission.user)
	if err == errNotReturned {
		reason := fmt.Sprintf("the user has taken over the browser, and has not given it back in %v. Nothing was "+
			"done. You can read on; call again to wait for the user.", takeoverTimeout)
		return &policy.DeniedError{Operation: c.Request.Operation.Name, Reason: reason}
	}
	return err
}

var errNotReturned = errors.New("the user has taken over the browser, and has not given it back in this call. " +
	"You can read on")

// awaitReturn waits while a user has taken over, for takeoverTimeout at most.
func awaitReturn(ctx context.Context, user browserUser) error {
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
			return errNotReturned
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// takenOver reports whether the user has taken over the browser, and waits until it is given back.
func takenOver(user browserUser) (now bool, wait func(context.Context) error) {
	if user == nil {
		return false, nil
	}
	takeover, _ := user.Takeover()
	return takeover.Now, func(ctx context.Context) error {
		if err := awaitReturn(ctx, user); err != nil {
			return errNotReturned
		}
		return nil
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
