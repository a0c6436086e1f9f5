package registry

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"browser-coordinator/vscodeipc"
)

// Client is one that uses a window's browser, as the window reports it.
type Client struct {
	vscodeipc.ConnectedClient
	// Last is what it did last; nil: nothing that the window knows. It contains nothing that
	// was typed.
	Last *vscodeipc.Activity
}

// Clients asks a window who uses its browser, the newest first. A small window does not
// list them: NotOfferedError.
func (r *Registry) Clients(ctx context.Context, window Window) ([]Client, error) {
	var result vscodeipc.ListResult
	if err := r.Call(ctx, window, vscodeipc.CommandClientList, struct{}{}, &result); err != nil {
		return nil, err
	}
	last := map[string]vscodeipc.Activity{}
	for _, each := range result.Last {
		last[each.Client] = each
	}
	return withLast(result.Clients, last), nil
}

// withLast adds to clients what each did last.
func withLast(connected []vscodeipc.ConnectedClient, last map[string]vscodeipc.Activity) []Client {
	clients := []Client{}
	for _, each := range connected {
		c := Client{ConnectedClient: each}
		if action, ok := last[each.ID]; ok {
			action = Public(action, each.Kind)
			c.Last = &action
		}
		clients = append(clients, c)
	}
	return clients
}

// listsClients reports whether a window can list its clients.
func listsClients(w Window) bool { return slices.Contains(w.Commands, vscodeipc.CommandClientList) }

// Unlisted returns the agents of this process in windows that list no clients, by the
// window's address.
func (r *Registry) Unlisted() map[vscodeipc.Address][]Client {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := map[vscodeipc.Address][]Client{}
	for _, s := range r.sources {
		s.mu.Lock()
		if s.window != nil && !listsClients(*s.window) {
			all[s.window.Address] = withLast(s.clients["mcp"], s.unlisted)
		}
		s.mu.Unlock()
	}
	return all
}

// Clients asks the workspace's window who uses its browser.
func (s *Source) Clients(ctx context.Context) ([]Client, error) {
	s.mu.Lock()
	window := s.window
	s.mu.Unlock()
	if window == nil {
		return nil, fmt.Errorf("no window is open on %s", s.workspace)
	}
	return s.registry.Clients(ctx, *window)
}

// Describe is an activity for people: what was done, and why it failed.
func Describe(a vscodeipc.Activity) string {
	text := strings.TrimSpace(a.Act + " " + a.Target)
	if !a.OK {
		text += ": " + a.Outcome
	}
	return text
}

// What a URL may hold that is not for everyone's eyes: a password, all after the path, and
// a whole document.
var (
	credentials = regexp.MustCompile(`(\w://)[^\s/@]*@`)
	document    = regexp.MustCompile(`\b(data|javascript):\S.*`)
	query       = regexp.MustCompile(`(\w://[^\s?#]*)[?#]\S*`)
)

// Public returns an activity without what may have been typed. The window's user sees it
// whole; a status may be copied to others. kind is that of the client.
func Public(a vscodeipc.Activity, kind string) vscodeipc.Activity {
	if kind == "cdp" {
		a.Target = "" // of a script that is its code
	}
	for _, text := range []*string{&a.Target, &a.Outcome, &a.URL} {
		*text = document.ReplaceAllString(*text, "$1:…")
		*text = query.ReplaceAllString(credentials.ReplaceAllString(*text, "$1"), "$1")
	}
	return a
}
