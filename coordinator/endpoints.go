package main

import (
	"context"
	"sync"

	"browser-coordinator/coordinator/endpoint"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/vscodeipc"
)

// endpoints serves the stable address of each window that an MCP session has to
// do with, until the session ends.
type endpoints struct {
	program *program
	windows *registry.Registry
	guard   guardFlags
	own     *ownBrowser     // launched when a CDP client wants a browser; nil: none is
	ctx     context.Context // ends with close
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex // guards served
	served map[string]*guardedEndpoint
}

func newEndpoints(p *program, windows *registry.Registry, guard guardFlags, own *ownBrowser) *endpoints {
	ctx, cancel := context.WithCancel(context.Background())
	return &endpoints{program: p, windows: windows, guard: guard, own: own, ctx: ctx, cancel: cancel, served: map[string]*guardedEndpoint{}}
}

// follow serves the endpoint of the window that the working directory means,
// now and whenever one comes: CDP clients need not wait for the agent's first
// call.
func (e *endpoints) follow(ctx context.Context, explicit, dir string) {
	e.running.Add(1)
	go e.keepFollowing(ctx, registry.Want{Explicit: explicit, Dir: dir})
}

func (e *endpoints) keepFollowing(ctx context.Context, want registry.Want) {
	defer e.running.Done()
	for {
		changed := e.windows.Changed()
		if w, _, err := e.windows.Resolve(ctx, want); err == nil {
			e.serve(w)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		case <-e.ctx.Done():
			return
		}
	}
}

// serve makes sure that w's endpoint is served.
func (e *endpoints) serve(w registry.Window) {
	if w.Workspace == "" {
		return
	}
	if _, err := e.serveWorkspace(w.Workspace); err != nil && e.ctx.Err() == nil {
		e.program.logger.Error("the window's CDP endpoint cannot be served", "workspace", w.Workspace, "error", err)
	}
}

// serveWorkspace makes sure that a workspace's endpoint is served, and returns
// the address for clients.
func (e *endpoints) serveWorkspace(workspace string) (endpoint.Addr, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	served := e.served[workspace]
	if served == nil {
		if err := e.ctx.Err(); err != nil {
			return endpoint.Addr{}, err
		}
		var err error
		served, err = e.program.serveEndpoint(e.ctx, workspace, e.windows.Source(workspace), e.guard, e.own)
		if err != nil {
			return endpoint.Addr{}, err
		}
		e.served[workspace] = served
	}
	return served.Address(), nil
}

// url is the stable address of a workspace.
func (e *endpoints) url(workspace string) string {
	a, err := endpoint.Address(vscodeipc.Hash(workspace))
	if err != nil {
		return ""
	}
	return a.URL
}

func (e *endpoints) close() {
	e.cancel()
	e.running.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, served := range e.served {
		served.close()
	}
}
