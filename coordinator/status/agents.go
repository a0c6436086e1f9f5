package status

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"browser-coordinator/coordinator/endpoint"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/internal/usersocket"
)

// Agent is an MCP session that no window lists. The program that serves it reports it, by a
// socket of its own in the folder for state.
type Agent struct {
	Client
	PID       int      `json:"pid"`              // of the coordinator that serves the session
	Window    string   `json:"window,omitempty"` // address of the window in which it works; empty: none
	Workspace string   `json:"workspace"`
	Browser   *Browser `json:"browser"` // nil: none yet
	// Waiting is what it waits for, for people; empty: for nothing that takes long.
	Waiting string `json:"waiting,omitempty"`
}

// agentsPath is the path that each of these sockets responds to.
const agentsPath = "/agents"

// ServeAgents reports the agents of this program that no window lists, until stop is
// called: those in windows, and those that alone returns. Without a folder for state they are
// not reported.
func ServeAgents(
	log *slog.Logger, windows *registry.Registry, alone func(context.Context) []agent.Alone,
) (stop func()) {
	dir, err := endpoint.StateDir()
	if err != nil {
		log.Debug("agents are not reported", "error", err)
		return func() {}
	}
	// The name is never used again, so a dead socket can be deleted without a lock.
	ln, err := usersocket.Listen(filepath.Join(dir, "agent-"+rand.Text()[:12]+".sock"))
	if err != nil {
		log.Debug("agents are not reported", "error", err)
		return func() {}
	}
	mux := http.NewServeMux()
	mux.HandleFunc(agentsPath, func(w http.ResponseWriter, r *http.Request) {
		all := []Agent{}
		for _, a := range alone(r.Context()) {
			each := Agent{Client: clientOf(a.Client), PID: os.Getpid(), Workspace: a.Folder, Waiting: a.Waiting}
			if a.Browser != nil {
				each.Browser = &Browser{Product: a.Browser.Product, Via: a.Browser.Via}
			}
			all = append(all, each)
		}
		for window, clients := range windows.Unlisted() {
			for _, c := range clients {
				all = append(all, Agent{Client: clientOf(c), PID: os.Getpid(), Window: string(window)})
			}
		}
		json.NewEncoder(w).Encode(all) // the reader may be gone
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: timeout}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		removeDead(ctx)
		_ = server.Serve(ln)
	})
	return func() {
		cancel()
		server.Close()
		running.Wait()
	}
}

// agentSockets are those of all programs of this user that serve agents.
func agentSockets() []string {
	paths, _ := filepath.Glob(filepath.Join(endpoint.StatePath(), "agent-*.sock"))
	return paths
}

// removeDead removes the sockets whose program was killed.
func removeDead(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for _, path := range agentSockets() {
		_ = usersocket.RemoveDead(ctx, path) // another program may have done it
	}
}

// readAgents asks all programs that serve agents. One that has just ended reports none.
func readAgents(ctx context.Context) []Agent {
	paths := agentSockets()
	each := make([][]Agent, len(paths))
	var asked sync.WaitGroup
	for i, path := range paths {
		asked.Go(func() {
			if rest, err := usersocket.Ask(ctx, path, agentsPath, &each[i]); err == nil {
				rest.Close()
			}
		})
	}
	asked.Wait()
	all := append([]Agent{}, slices.Concat(each...)...)
	slices.SortFunc(all, func(a, b Agent) int { return a.Since.Compare(b.Since) })
	return all
}

// row is the agent's line for people.
func (a Agent) row(now time.Time) []string {
	browser := "no browser yet"
	switch {
	case a.Waiting != "":
		browser = a.Waiting
	case a.Browser != nil:
		browser = name(a.Browser)
	}
	place := a.Workspace
	if a.Window != "" {
		browser, place = "a window that does not respond", a.Window
	}
	client := row(a.Client, now)
	return []string{client[0], client[2], client[3], browser, place}
}
