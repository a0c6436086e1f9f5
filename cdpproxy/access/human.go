package access

import (
	"context"
	"fmt"
)

// Mode is what a window's human lets clients do.
type Mode string

const (
	Full Mode = "full" // everything
	Ask  Mode = "ask"  // act after the human was asked
	View Mode = "view" // look
)

// Modes are all modes, the widest first.
var Modes = []Mode{Full, Ask, View}

// State is what a window's human has chosen.
type State struct {
	Mode Mode
	// Stopped are the ids of clients that may do nothing.
	Stopped []string
	// Change tells a person how to change the mode.
	Change string
}

// Client is who acts. ID is random; Name and Version are for people.
type Client struct{ ID, Name, Version string }

// Page is how people know a page.
type Page struct{ Title, URL string }

// Question is put to the human: may this client do that?
type Question struct {
	Client Client
	Act    string // the name of a CDP method or of a tool
	Detail string // what it is about; may be empty
	Page   *Page  // nil where it is not known
}

// Answer is the human's. Session: ask no more about this client. Reason, of a
// refusal, is one of the words of the window protocol.
type Answer struct {
	Allow, Session bool
	Reason         string
}

// Human is a window's human, as far as a program reaches that person.
type Human interface {
	// Access returns what was chosen, and a channel that is closed once that is no
	// longer true. It is called for every act and must not block.
	Access() (State, <-chan struct{})
	// Ask returns the answer, or an error that tells people why nobody can be
	// asked. ctx ends when nobody waits for the answer any more.
	Ask(ctx context.Context, q Question) (Answer, error)
}

// RefusedError tells a client what it may not do, by which rule, and what a
// person can do about it.
type RefusedError struct {
	Act    string
	Reason string
	Change string // may be empty
}

func (e *RefusedError) Error() string {
	text := e.Act + " refused: " + e.Reason
	if e.Change != "" {
		text += " " + e.Change
	}
	return text
}

func refusedBy(act string, s State) *RefusedError {
	return &RefusedError{act, fmt.Sprintf("the access mode of this window is %q: clients may look, but change nothing.", s.Mode), s.Change}
}

func refusedTo(act string, s State, a Answer) *RefusedError {
	switch a.Reason {
	case "timeout":
		return &RefusedError{act, fmt.Sprintf("the access mode of this window is %q, and nobody answered the question.", s.Mode), s.Change}
	case "stopped":
		return &RefusedError{act, stoppedText, ""}
	case "mode":
		return refusedBy(act, State{Mode: View, Change: s.Change})
	default:
		return &RefusedError{act, fmt.Sprintf("the access mode of this window is %q, and the human did not allow it.", s.Mode), s.Change}
	}
}

// Stopped refuses an act of a client that its human has stopped.
func Stopped(act string) *RefusedError { return &RefusedError{act, stoppedText, ""} }

const stoppedText = "stopped by the human in VS Code, until told there to go on."
