package serving

import (
	"context"
	"sync"

	"browser-coordinator/coordinator/endpoint"
	"browser-coordinator/coordinator/registry"
)

// Set serves the endpoint of each window that an MCP session uses, until the
// session ends.
type Set struct {
	windows *registry.Registry
	options Options
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex // guards served
	served map[string]*Endpoint
}

// NewSet returns a Set that serves nothing yet.
func NewSet(windows *registry.Registry, o Options) *Set {
	ctx, cancel := context.WithCancel(context.Background())
	return &Set{windows: windows, options: o, ctx: ctx, cancel: cancel, served: map[string]*Endpoint{}}
}

// Follow serves the endpoint of the window that want resolves to, now or as soon as one
// opens: CDP clients need not wait for the agent's first call.
func (s *Set) Follow(ctx context.Context, want registry.Want) {
	s.running.Add(1)
	go s.follow(ctx, want)
}

func (s *Set) follow(ctx context.Context, want registry.Want) {
	defer s.running.Done()
	for {
		changed := s.windows.Changed()
		if w, _, err := s.windows.Selected(want); err == nil {
			s.ServeWindow(w)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		case <-s.ctx.Done():
			return
		}
	}
}

// ServeWindow serves the endpoint of a window, if it has a workspace.
func (s *Set) ServeWindow(w registry.Window) {
	if w.Workspace == "" {
		return
	}
	if _, err := s.Serve(w.Workspace); err != nil && s.ctx.Err() == nil {
		s.options.Logger.Error("the window's CDP endpoint cannot be served", "workspace", w.Workspace, "error", err)
	}
}

// Serve serves the endpoint of a workspace, unless this Set already does, and returns its
// address.
func (s *Set) Serve(workspace string) (endpoint.Addr, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	served := s.served[workspace]
	if served == nil {
		if err := s.ctx.Err(); err != nil {
			return endpoint.Addr{}, err
		}
		var err error
		served, err = Serve(s.ctx, workspace, s.windows.Source(workspace), &s.options)
		if err != nil {
			return endpoint.Addr{}, err
		}
		s.served[workspace] = served
	}
	return served.Address(), nil
}

// Close ends all endpoints.
func (s *Set) Close() {
	s.cancel()
	s.running.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, served := range s.served {
		served.Close()
	}
}
