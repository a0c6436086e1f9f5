package mcphttp

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/tools"
	"browser-coordinator/coordinator/tools/agent"
)

// session is a session with its agent.
type session struct {
	parent *Server
	server *tools.Server
	ctx    context.Context
	cancel context.CancelCauseFunc // begins the end, with its cause
	ready  chan struct{}           // closed when mcp is set
	done   chan struct{}           // closed when it has ended

	// The Server's mu guards the fields that follow.
	mcp      *mcp.ServerSession // nil: it is not initialized
	requests int                // those under way
	idle     *time.Timer        // runs while no request is under way
}

// connected takes the connection that the host has initialized.
func (s *session) connected(connection *mcp.ServerSession) {
	s.parent.mu.Lock()
	defer s.parent.mu.Unlock()
	if s.mcp == nil {
		s.mcp = connection
		s.parent.byID[connection.ID()] = s
		close(s.ready)
	}
}

// run is the session from its start to its end, which ends the agent and then its private browser.
func (s *session) run(a *agent.Agent, endAgent func(error), endBrowser func() error) {
	defer close(s.done)
	log := s.parent.Logger
	select {
	case <-s.ready:
		log.Info("a session begins", "agent", a.Info().Name)
		_ = s.server.Wait(s.ctx, s.mcp) // the cause of ctx, or the host's end
		log.Info("a session ends", "agent", a.Info().Name, "cause", s.cause())
	case <-s.ctx.Done():
	}
	endAgent(fmt.Errorf("the session ended during the call, and what was asked may have been done: %w", s.cause()))
	if err := endBrowser(); err != nil {
		log.Warn("the session's browser did not end cleanly", "error", err)
	}
	s.parent.mu.Lock()
	defer s.parent.mu.Unlock()
	s.cancel(nil)
	s.parent.sessions--
	if s.mcp != nil {
		delete(s.parent.byID, s.mcp.ID())
	}
	if s.idle != nil {
		s.idle.Stop()
	}
}

// cause is why the session ends.
func (s *session) cause() error { return cmp.Or(context.Cause(s.ctx), errGone) }

// use counts a request; false: the session is ending.
func (s *session) use() bool {
	s.parent.mu.Lock()
	defer s.parent.mu.Unlock()
	if s.ctx.Err() != nil {
		return false
	}
	s.requests++
	if s.idle != nil {
		s.idle.Stop()
	}
	return true
}

// release counts the end of a request. Without one the session ends after a time, also after the end
// of a stream of events: a host may close that and live on.
func (s *session) release() {
	s.parent.mu.Lock()
	defer s.parent.mu.Unlock()
	s.requests--
	if s.requests > 0 || s.ctx.Err() != nil {
		return
	}
	s.idle = time.AfterFunc(cmp.Or(s.parent.idle, idleTimeout), func() {
		s.parent.mu.Lock()
		defer s.parent.mu.Unlock()
		if s.requests == 0 {
			s.cancel(errIdle)
		}
	})
}
