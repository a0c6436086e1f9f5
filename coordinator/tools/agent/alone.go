package agent

import (
	"context"
	"path/filepath"
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
	if given := a.Workspace; filepath.IsAbs(given) {
		alone.Folder = given
	} else if given != "" {
		alone.Folder = filepath.Join(a.Dir, given)
	}
	return alone
}
