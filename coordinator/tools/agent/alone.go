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

// Alone returns the agents that no window lists: each has a browser of its own, or none yet.
func (s *Set) Alone(ctx context.Context) []Alone {
	s.mu.Lock()
	var agents []*Agent
	for _, a := range s.agents {
		if a.presence.in == nil {
			agents = append(agents, a)
		}
	}
	s.mu.Unlock()
	var all []Alone
	for _, a := range agents {
		me := a.Info()
		s.mu.Lock()
		p := a.presence
		s.mu.Unlock()
		each := Alone{Folder: a.Dir, Client: registry.Client{
			ConnectedClient: vscodeipc.ConnectedClient{ID: me.ID, Name: me.Name, Version: me.Version, Kind: "mcp", Since: p.since.UnixMilli(), Page: p.page},
			Last:            p.last,
		}}
		if a.Launcher != nil {
			each.Waiting = a.Launcher.Waiting()
		}
		if l := a.browsers.inUse(); l != nil && !l.ended() {
			each.Browser = &vscodeipc.Browser{Via: "launched"}
			switch {
			case l.foreign:
				each.Browser.Via = "attached"
			case a.Launcher.Provider() != "":
				each.Browser.Via = "provided"
			}
			asking, cancel := context.WithTimeout(ctx, productTimeout)
			each.Browser.Product, _ = l.browser.Product(asking) // it may be ending
			cancel()
			if len(l.folders) > 0 {
				each.Folder = l.folders[0]
			}
		}
		if given := a.Workspace; filepath.IsAbs(given) {
			each.Folder = given
		} else if given != "" {
			each.Folder = filepath.Join(a.Dir, given)
		}
		all = append(all, each)
	}
	return all
}
