package policy

import (
	"fmt"
)

// Kind is the kind of an actor.
type Kind int

const (
	// Agent calls tools over MCP.
	Agent Kind = iota + 1
	// Client sends CDP commands to a window's endpoint.
	Client
)

// Actor is the client or agent of an operation. The ID is random. The Name is the one
// that the actor gives itself; the user stops actors by it.
type Actor struct {
	Kind              Kind
	ID, Name, Version string
	// Choice is the user's choice for the actor. An Enforcer sets it.
	Choice Choice
}

// Choice is what the user of a window has chosen for an actor.
type Choice struct {
	State
	Silent bool // the window cannot ask
}

// Outcome is the result of a decision.
type Outcome int

const (
	Deny       Outcome = iota // by an error with the reason
	Ignore                    // denied by a success: that is all the client needs
	Disconnect                // denied by the end of the client's connection, with the reason
	Ask                       // the user must agree first
	Allow
)

// Decision is the policy's answer for one operation of an agent, or one command of a client.
type Decision struct {
	Outcome Outcome
	Denied  *DeniedError // the reason; nil if it is not denied
	Grounds Grounds      // zero if an agent's operation is not allowed
}

// Grounds is why an operation of an agent is allowed, for its user: one of these reasons, or one that the
// user's answer has. Covers is what a grant covers: a category of operations, or [Everything].
type Grounds struct{ Reason, Covers string }

const (
	ByGrant = "grant" // for the agent's session
	ByMode  = "mode"
	ByClass = "reads" // it only reads
)

// Everything is what a grant for all operations covers.
const Everything = "*"

func (d Decision) withOutcome(o Outcome) Decision {
	d.Outcome = o
	return d
}

// Err is the reason of a denial; nil: the operation is not denied.
func (d Decision) Err() error {
	if d.Denied == nil {
		return nil
	}
	return d.Denied
}

// DeniedError names the operation that an actor may not carry out, and the rule. It does
// not tell an agent how its user could allow more.
type DeniedError struct {
	Operation string
	Reason    string
}

func (e *DeniedError) Error() string { return e.Operation + " refused: " + e.Reason }

// Decide decides whether an agent may carry out the operation.
func Decide(a Actor, o Operation) Decision {
	c := a.Choice
	switch {
	case a.Kind != Agent:
		return deny(o.Name, "it is not known who wants it.")
	case o.Class == Unknown:
		return deny(o.Name, "it is not known what it does.")
	case c.Stops(a.Name):
		return deny(o.Name, stoppedText)
	case o.Class == ReadOnly:
		return allow(ByClass, "")
	case c.Mode == ModeFull:
		return allow(ByMode, "")
	case c.Silent:
		return deny(o.Name, fmt.Sprintf("the access mode is %q, and a window without a folder cannot be asked.",
			c.Mode))
	case c.Mode == ModeAsk:
		return Decision{Outcome: Ask}
	default: // view, and every mode of a newer window
		return denyByMode(o.Name, Permission{Mode: c.Mode}, "")
	}
}

// stoppedText is why a stopped actor may do nothing.
const stoppedText = "stopped by the user, until the user resumes it."

func allow(reason, covers string) Decision {
	return Decision{Outcome: Allow, Grounds: Grounds{reason, covers}}
}

func deny(name, reason string) Decision {
	return Decision{Outcome: Deny, Denied: &DeniedError{name, reason}}
}
