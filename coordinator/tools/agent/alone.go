package agent

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"browser-coordinator/coordinator/registry"
	"browser-coordinator/vscodeipc"
)

// Alone is an agent that no window lists.
type Alone struct {
	Client  registry.Client
	Folder  string
	Browser *vscodeipc.Browser // without its URL; nil: none yet
	Waiting string             // what it waits for, for people; empty: for nothing that takes long
}

// productTimeout bounds how long a browser takes to report its version.
const productTimeout = time.Second

// Alone describes the agent if no window lists it: it has its own browser, or none yet. Else it
// returns nil.
func (a *Agent) Alone(ctx context.Context) *Alone {
	a.mu.Lock()
	p, last := a.presence, a.last
	a.mu.Unlock()
	if p.window != nil {
		return nil
	}
	alone := &Alone{Folder: a.Dir, Client: registry.Client{ConnectedClient: p.listed(), Last: p.last}}
	if a.Launcher != nil {
		alone.Waiting = a.Launcher.Waiting()
	}
	if last != nil && !last.ended() {
		alone.Browser = &vscodeipc.Browser{Via: "attached"}
		if last.owner == ofSession {
			alone.Browser.Via = string(a.Launcher.Kind())
		}
		ctx, cancel := context.WithTimeout(ctx, productTimeout)
		defer cancel()
		alone.Browser.Product, _ = last.browser.Product(ctx) // it may be ending
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
	a.mu.Lock()
	home := a.home
	a.mu.Unlock()
	if home == nil || home.owner != ofWindow {
		return false
	}
	_, candidates, _ := a.Windows.Selected(a.Want(ctx, ""))
	return !slices.ContainsFunc(candidates, func(c registry.Candidate) bool {
		return c.Window.Address == home.window.Address
	})
}
