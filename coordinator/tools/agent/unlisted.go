package agent

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"browser-coordinator/coordinator/launch"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/coordinator/window"
	"browser-coordinator/policy"
	"browser-coordinator/vscodeipc"
)

// Unlisted is an agent that no window lists.
type Unlisted struct {
	Client  registry.Client
	Folder  string
	Browser *vscodeipc.Browser // with its URL if it is private; nil: none yet
	Waiting string             // what it waits for, for people; empty: for nothing that takes long
	Access  policy.State       // what User has chosen; without a mode where a flag decides
	User    *window.Alone
}

// productTimeout bounds how long a browser takes to report its version.
const productTimeout = time.Second

// Unlisted describes the agent if no window lists it: it has its own browser, or none yet. Else it
// returns nil.
func (a *Agent) Unlisted(ctx context.Context) *Unlisted {
	client, last := a.unlisted()
	if client == nil {
		return nil
	}
	alone := &Unlisted{Folder: a.Dir, Client: *client, User: a.alone}
	alone.Access, _ = a.alone.Access()
	if a.Attached {
		alone.Access.Mode = ""
	}
	if a.Launcher != nil {
		alone.Waiting = a.Launcher.Waiting()
	}
	if last != nil {
		alone.Browser = &vscodeipc.Browser{Via: "attached"}
		if last.owner == ofSession {
			alone.Browser.Via = string(a.Launcher.Kind())
			if a.Launcher.Kind() != launch.Personal { // its user sees that one
				alone.Browser.URL = a.Launcher.URL()
			}
		}
		ctx, cancel := context.WithTimeout(ctx, productTimeout)
		defer cancel()
		alone.Browser.Product = a.productOf(ctx, last)
		if len(last.folders) > 0 {
			alone.Folder = last.folders[0]
		}
	}
	if workspace := a.Workspace; filepath.IsAbs(workspace) {
		alone.Folder = workspace
	} else if workspace != "" {
		alone.Folder = filepath.Join(a.Dir, workspace)
	}
	return alone
}

// unlisted describes the agent as a client if no window lists it, with the connection of its last
// call; nil: there is none to its browser.
func (a *Agent) unlisted() (client *registry.Client, last *connection) {
	if last = a.inUse(); last != nil && last.ended() && (last.owner == ofWindow || !a.ownRuns()) {
		last = nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.presence.window != nil {
		return nil, nil
	}
	return &registry.Client{ConnectedClient: a.presence.listed(), Last: a.presence.last}, last
}

// productOf is the name and version of a connection's browser; empty: it is not known.
func (a *Agent) productOf(ctx context.Context, in *connection) string {
	product, err := in.browser.Product(ctx)
	a.browsers.mu.Lock()
	defer a.browsers.mu.Unlock()
	if err == nil {
		in.product = product
	}
	return in.product
}

// WorksIn names the browser of the last call, for people; empty: none is connected.
func (a *Agent) WorksIn() string {
	last := a.inUse()
	switch {
	case last == nil || last.ended():
		return ""
	case last.owner == ofWindow:
		return "that of the window " + last.window.Label()
	case a.Launcher.Provider() != "":
		return "that of " + a.Launcher.Provider()
	}
	return "a private one"
}

// AwaitWindowClosed returns when the window in which the agent works has been closed for that
// long, or with an error when ctx ends.
func (a *Agent) AwaitWindowClosed(ctx context.Context, long time.Duration) error {
	for {
		changed := a.Windows.Changed()
		var gone <-chan time.Time // never, while it is open
		if a.windowClosed(ctx) {
			gone = time.After(long)
		}
		select {
		case <-changed:
		case <-gone:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// windowClosed reports whether the window in which the agent works has closed.
func (a *Agent) windowClosed(ctx context.Context) bool {
	home, _, _ := a.places.atHome()
	if home == "" || home == ownSeat || home == attachedSeat {
		return false
	}
	_, candidates, _ := a.Windows.Selected(a.Want(ctx, ""))
	return !slices.ContainsFunc(candidates, func(c registry.Candidate) bool {
		return seat(c.Window.Address) == home
	})
}
