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
	Granted bool // the user has allowed everything for this session
	Silent  bool // the window cannot ask
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
}

func (d Decision) by(o Outcome) Decision {
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
	case o.Class == ReadOnly, c.Mode == ModeFull, c.Mode == ModeAsk && c.Granted:
		return Decision{Outcome: Allow}
	case c.Silent:
		return deny(o.Name, fmt.Sprintf("the access mode of this window is %q, and a window without a folder cannot "+
			"be asked.", c.Mode))
	case c.Mode == ModeAsk:
		return Decision{Outcome: Ask}
	default: // view, and every mode of a newer window
		return denyByMode(o.Name, Permission{Mode: c.Mode}, "")
	}
}

// stoppedText is why a stopped actor may do nothing.
const stoppedText = "stopped by the user in the window, until the user resumes it there."

func deny(name, reason string) Decision {
	return Decision{Deny, &DeniedError{name, reason}}
}
