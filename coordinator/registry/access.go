package registry

import (
	"context"
	"fmt"
	"slices"

	"browser-coordinator/policy"
	"browser-coordinator/vscodeipc"
)

// Access returns what the user of the workspace's window allows, and a channel that is
// closed when that changes. While no window is open, the last one's state counts; before
// the first, only read-only methods are allowed.
func (s *Source) Access() (policy.State, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.access, s.accessChanged.Next()
}

// Ask asks the user, in the window.
func (s *Source) Ask(ctx context.Context, q policy.Question) (policy.Answer, error) {
	arg := vscodeipc.AskArg{
		Client: vscodeipc.ClientInfo{ID: q.Actor.ID, Name: q.Actor.Name, Version: q.Actor.Version},
		Act:    q.Operation.Name, Detail: q.Detail, Claim: q.Claim, Category: q.Operation.Category,
	}
	if q.Page != nil {
		arg.Page = &vscodeipc.PageName{Title: q.Page.Title, URL: q.Page.URL}
	}
	var result vscodeipc.AskResult
	if err := s.call(ctx, vscodeipc.CommandPermissionAsk, arg, &result); err != nil {
		return policy.Answer{}, err
	}
	return policy.Answer{Allow: result.Decision == "allow", View: result.Decision == "view",
		Session: result.Scope == "session", Reason: result.Reason}, nil
}

// StartDebugging has the window start its only launch configuration for a browser,
// as F5 would. It returns when the debug session exists.
func (s *Source) StartDebugging(ctx context.Context) error {
	return s.call(ctx, vscodeipc.CommandDebugStart, vscodeipc.DebugStartArg{}, nil)
}

// HasNotes reports whether the user has written notes to a client that it has not taken.
func (s *Source) HasNotes(client vscodeipc.ClientInfo) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.window != nil && slices.Contains(s.window.State.Notes, client.ID)
}

// TakeNotes returns the notes to a client, and removes them.
func (s *Source) TakeNotes(ctx context.Context, client vscodeipc.ClientInfo) ([]vscodeipc.Note, error) {
	var result vscodeipc.NoteTakeResult
	err := s.call(ctx, vscodeipc.CommandNoteTake, vscodeipc.NoteTakeArg{Client: client}, &result)
	return result.Notes, err
}

// call runs a command of the window that the source follows now.
func (s *Source) call(ctx context.Context, command string, arg, result any) error {
	s.mu.Lock()
	window := s.window
	s.mu.Unlock()
	if window == nil {
		return fmt.Errorf("no window is open on %s", s.workspace)
	}
	return s.registry.Call(ctx, *window, command, arg, result)
}

// updateAccess stores the window's access state. s.mu is held, and s.window is still the
// former one.
func (s *Source) updateAccess(window *Window) {
	if window == nil {
		return
	}
	now := policy.State{
		Mode:    policy.Mode(window.State.Access.Mode),
		Stopped: window.State.Access.Stopped,
	}
	reopened := s.window == nil || s.window.Session != window.Session
	if reopened {
		s.wake() // a new window does not know our clients
	}
	if !reopened && now.Mode == s.access.Mode && slices.Equal(now.Stopped, s.access.Stopped) {
		return
	}
	s.access = now
	s.accessChanged.Notify()
}
