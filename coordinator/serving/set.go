package serving

import (
	"context"
	"maps"
	"slices"
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
	served map[string]*served
}

// served is the endpoint of a workspace, or the attempt of the first caller to serve it, for which the
// others wait: that takes a while if another process owns the endpoint and does not respond.
type served struct {
	ready    chan struct{} // closed when the fields that follow are set
	endpoint *Endpoint
	err      error
}

// NewSet returns a Set that serves nothing yet.
func NewSet(windows *registry.Registry, o Options) *Set {
	ctx, cancel := context.WithCancel(context.Background())
	return &Set{windows: windows, options: o, ctx: ctx, cancel: cancel, served: map[string]*served{}}
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
	e := s.served[workspace]
	first := e == nil
	if first {
		if err := s.ctx.Err(); err != nil {
			s.mu.Unlock()
			return endpoint.Addr{}, err
		}
		e = &served{ready: make(chan struct{})}
		s.served[workspace] = e
	}
	s.mu.Unlock()
	if first {
		s.serve(workspace, e)
	}
	<-e.ready
	if e.err != nil {
		return endpoint.Addr{}, e.err
	}
	return e.endpoint.Address(), nil
}

// serve makes an attempt. The next caller makes another one if it fails.
func (s *Set) serve(workspace string, e *served) {
	defer close(e.ready)
	e.endpoint, e.err = Serve(s.ctx, workspace, s.windows.Source(workspace), &s.options)
	if e.err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.served, workspace)
	}
}

// Close ends all endpoints.
func (s *Set) Close() {
	s.cancel()
	s.running.Wait()
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.served))
	s.mu.Unlock()
	for _, e := range all {
		if <-e.ready; e.err == nil {
			e.endpoint.Close()
		}
	}
}
