package policy

import (
	"context"
	"fmt"
	"slices"
)

// Mode is what the user of a window allows actors.
type Mode string

const (
	ModeFull Mode = "full" // everything
	ModeAsk  Mode = "ask"  // mutating operations after the user has agreed
	ModeView Mode = "view" // read-only operations
)

// Modes are all modes, the widest first. Any other mode counts as view.
var Modes = []Mode{ModeFull, ModeAsk, ModeView}

// strictness is the place of m in Modes.
func (m Mode) strictness() int {
	if i := slices.Index(Modes, m); i >= 0 {
		return i
	}
	return len(Modes) - 1
}

// Stricter reports whether m allows less than the other mode.
func (m Mode) Stricter(than Mode) bool { return m.strictness() > than.strictness() }

// Within is the mode, or the limit if that is stricter. Empty: there is no limit.
func (m Mode) Within(limit Mode) Mode {
	if limit != "" && limit.Stricter(m) {
		return limit
	}
	return m
}

// State is what the user of a window has chosen.
type State struct {
	Mode Mode
	// Stopped are the names of actors that may do nothing. Names, since the ids of a stopped
	// program are other ones when it starts again.
	Stopped []string
}

// Stops reports whether the user has stopped the actors of that name. A stop may have
// been meant for an actor without a name.
func (s State) Stops(name string) bool {
	return slices.Contains(s.Stopped, name) || name == "" && len(s.Stopped) > 0
}

// Revokes reports whether the actors of that name may do less than under the former
// choice. What they have left in the browser under that one must end.
func (s State) Revokes(former State, name string) bool {
	return s.Mode.Stricter(former.Mode) || s.Stops(name) && !former.Stops(name)
}

// User is the user of a window, as far as the program can reach that person.
type User interface {
	// Access returns what the user has chosen, and a channel that is closed when that
	// changes. It is called for every operation and must not block.
	Access() (State, <-chan struct{})
	// Ask returns the answer to a question, or an error that explains to people why the user
	// cannot be asked. ctx ends when no caller waits for the answer.
	Ask(ctx context.Context, q Question) (Answer, error)
}

// Question asks the user whether an actor may carry out an operation.
type Question struct {
	Actor     Actor
	Operation Operation
	Detail    string // what the operation is about; may be empty
	Claim     string // what the actor calls that, if it differs; may be untrue
	Page      *Page  // nil where it is not known
	Nodes     []Node // the elements that the operation acts on, where they are known
	// Origin is that of the page, if the operation acts on this site alone; empty: it acts in no
	// page or on every site, or the page has no origin of its own.
	Origin string
}

// Node is an element of a page, by the CDP ids of the page, of its document and of the node.
type Node struct {
	Target, Document string
	ID               int64
}

// Page identifies a page for people.
type Page struct{ Title, URL string }

// Answer is the user's answer. View: the actor may connect, but only look. Reason is one of the
// values of the window protocol, and Covers is as in [Grounds].
type Answer struct {
	Allow, View    bool
	Reason, Covers string
}

// denial is the decision for an operation that the user has not allowed.
func (a Answer) denial(o Operation, s State) Decision {
	switch a.Reason {
	case "timeout":
		return deny(o.Name, fmt.Sprintf("the access mode is %q, and nobody answered the question.",
			s.Mode))
	case "stopped":
		return deny(o.Name, stoppedText)
	case "mode":
		return denyByMode(o.Name, Permission{Mode: ModeView}, "")
	default:
		return deny(o.Name, fmt.Sprintf("the access mode is %q, and the user did not allow it.", s.Mode))
	}
}
