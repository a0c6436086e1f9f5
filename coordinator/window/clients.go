package window

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"browser-coordinator/vscodeipc"
)

// clients are those that use the window's browser, as coordinators announce and report
// them (specs/window-protocol/commands.md).
type clients struct {
	// left is called when clients may have left, with the ids of those that are here. mu is held.
	left func(here map[string]bool)

	mu        sync.Mutex                                      // guards the fields that follow
	announced map[context.Context][]vscodeipc.ConnectedClient // by connection
	last      map[string]vscodeipc.Activity                   // of announced clients, by id
}

func newClients(left func(here map[string]bool)) *clients {
	return &clients{announced: map[context.Context][]vscodeipc.ConnectedClient{}, last: map[string]vscodeipc.Activity{},
		left: left}
}

func (c *clients) commands() map[string]vscodeipc.Handler {
	return map[string]vscodeipc.Handler{
		vscodeipc.CommandClientAnnounce: c.announce,
		vscodeipc.CommandClientReport:   handler(c.report),
		vscodeipc.CommandClientList:     c.list,
	}
}

// Limits of one call.
const (
	maxAnnounced = 256
	maxReported  = 1_000
)

func (c *clients) announce(_ context.Context, call vscodeipc.Call) (any, error) {
	var arg vscodeipc.AnnounceArg
	if err := json.Unmarshal(call.Arg, &arg); err != nil {
		return nil, badPayload(err)
	}
	if len(arg.Clients) > maxAnnounced {
		return nil, badPayload(fmt.Errorf("more than %d clients", maxAnnounced))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.announced[call.Connection]; !known {
		context.AfterFunc(call.Connection, func() { c.forget(call.Connection) })
	}
	for _, client := range arg.Clients {
		for i := range client.Running {
			client.Running[i].Script = "" // nothing shows it
		}
	}
	c.announced[call.Connection] = arg.Clients
	c.prune()
	return struct{}{}, nil
}

// forget removes what a connection has announced.
func (c *clients) forget(connection context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.announced, connection)
	c.prune()
}

// prune ends what clients had that have left. c.mu is held.
func (c *clients) prune() {
	here := map[string]bool{}
	for _, client := range c.connected() {
		here[client.ID] = true
	}
	maps.DeleteFunc(c.last, func(id string, _ vscodeipc.Activity) bool { return !here[id] })
	c.left(here)
}

// connected are the clients of all connections, the newest first. c.mu is held.
func (c *clients) connected() []vscodeipc.ConnectedClient {
	all := []vscodeipc.ConnectedClient{}
	for _, announced := range c.announced {
		all = append(all, announced...)
	}
	slices.SortFunc(all, func(a, b vscodeipc.ConnectedClient) int {
		return cmp.Or(cmp.Compare(b.Since, a.Since), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// withAgent calls do with the name of the connected agent of this id, which does not leave meanwhile.
func (c *clients) withAgent(id string, do func(name string, isHere bool) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, client := range c.connected() {
		if client.ID == id && client.Kind == "mcp" {
			return do(client.Name, true)
		}
	}
	return do("", false)
}

func (c *clients) report(_ context.Context, arg vscodeipc.ReportArg) (any, error) {
	if len(arg.Entries) > maxReported {
		return nil, badPayload(fmt.Errorf("more than %d entries", maxReported))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, entry := range arg.Entries {
		entry.Details = nil
		c.last[entry.Client] = entry
	}
	c.prune()
	return struct{}{}, nil
}

func (c *clients) list(context.Context, vscodeipc.Call) (any, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	result := vscodeipc.ListResult{Clients: c.connected(), Last: []vscodeipc.Activity{}}
	for _, client := range result.Clients {
		if last, ok := c.last[client.ID]; ok {
			result.Last = append(result.Last, last)
		}
	}
	return result, nil
}
