package registry

import (
	"context"
	"errors"
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

// Takeover is whether the user of a window has taken over its browser.
type Takeover struct {
	Now     bool
	Changes int // how often that has changed
}

// Takeover returns whether the user of the workspace's window has taken over its browser, and a
// channel that is closed when that changes.
func (s *Source) Takeover() (Takeover, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.takeover, s.takeoverChanged.Next()
}

// maxNodes bounds the elements of a question.
const maxNodes = 50

// QuestionOf is a question of the policy as windows ask it.
func QuestionOf(q policy.Question) vscodeipc.AskArg {
	arg := vscodeipc.AskArg{
		Client: vscodeipc.ClientInfo{ID: q.Actor.ID, Name: q.Actor.Name, Version: q.Actor.Version},
		Act:    q.Operation.Name, Detail: q.Detail, Claim: q.Claim, Category: q.Operation.Category,
		Origin: q.Origin,
	}
	if q.Page != nil {
		arg.Page = &vscodeipc.PageName{Title: q.Page.Title, URL: q.Page.URL}
	}
	for _, n := range q.Nodes[:min(len(q.Nodes), maxNodes)] {
		arg.Nodes = append(arg.Nodes, vscodeipc.AnnotatedNode(n))
	}
	return arg
}

// AnswerOf is the answer of a window's user for the policy.
func AnswerOf(result vscodeipc.AskResult) policy.Answer {
	return policy.Answer{Allow: result.Decision == "allow", View: result.Decision == "view",
		Reason: result.Reason, Covers: result.Covers}
}

// Ask asks the user, in the window.
func (s *Source) Ask(ctx context.Context, q policy.Question) (policy.Answer, error) {
	var result vscodeipc.AskResult
	err := s.call(ctx, vscodeipc.CommandPermissionAsk, QuestionOf(q), &result)
	if fault, ok := errors.AsType[*vscodeipc.Error](err); ok && fault.Code == vscodeipc.CodeRefused {
		return policy.Answer{}, errors.New(fault.Message) // it is for people
	}
	if err != nil {
		return policy.Answer{}, err
	}
	return AnswerOf(result), nil
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

// TakeNote returns the oldest note to a client, and removes it; nil: there is none.
func (s *Source) TakeNote(ctx context.Context, client vscodeipc.ClientInfo) (*vscodeipc.Note, error) {
	var result vscodeipc.NoteTakeResult
	err := s.call(ctx, vscodeipc.CommandNoteTake, vscodeipc.NoteTakeArg{Client: client}, &result)
	return result.Note, err
}

// WantsTest reports whether the user wants what a client has done as a test.
func (s *Source) WantsTest(client vscodeipc.ClientInfo) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.window != nil && slices.Contains(s.window.State.Tests, client.ID)
}

// GiveTest gives the user a test.
func (s *Source) GiveTest(ctx context.Context, test vscodeipc.TestGiveArg) error {
	return s.call(ctx, vscodeipc.CommandTestGive, test, nil)
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
	// With the window goes what would give the browser back.
	if taken := window != nil && window.State.Access.TakenOver; taken != s.takeover.Now {
		s.takeover = Takeover{taken, s.takeover.Changes + 1}
		s.takeoverChanged.Notify()
	}
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
