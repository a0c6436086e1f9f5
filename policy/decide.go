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
	// SharedClient sends CDP commands to a page whose debug session it shares with the
	// debugger.
	SharedClient
)

// Actor is the client or agent of an operation. The ID is random. The Name is the one
// that the actor gives itself; the user stops actors by it.
type Actor struct {
	Kind              Kind
	ID, Name, Version string
	// AllowClose: the user has started the endpoint with --allow-close, so that clients may
	// end the browser if they may run mutating commands.
	AllowClose bool
	// Choice is the user's choice for the actor. An Enforcer sets it.
	Choice Choice
}

// Choice is what the user of a window has chosen for an actor.
type Choice struct {
	State
	Granted bool // the user has allowed everything for this session, or this connection
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

// Decision is the policy's answer for one operation of an actor.
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

// Decide decides whether the actor may carry out the operation.
func Decide(a Actor, o Operation) Decision {
	if a.Kind == SharedClient {
		return decideShared(o)
	}
	c := a.Choice
	looks := a.Kind == Client && c.Mode == ModeAsk && !c.Granted
	protected := o.Class == Destructive && !a.AllowClose && !looks && (c.Mode == ModeFull || c.Mode == ModeAsk)
	switch {
	case a.Kind != Agent && a.Kind != Client:
		return deny(o, "it is not known who wants it.")
	case o.tooBig:
		return deny(o, fmt.Sprintf("it has more than %d MB of parameters, which would stop the browser for seconds, for all clients. Send less at a time.", maxParameters>>20))
	case o.Class == ReadOnly && a.Kind == Client: // a stopped client is disconnected
		return Decision{Outcome: Allow}
	case o.Class == Unknown:
		return deny(o, "it is not known what it does.")
	case (c.Mode == ModeView || looks) && a.Kind == Client && o.entry != nil && o.entry.ignored:
		return denyByMode(o, c.State).by(Ignore)
	case protected && o.entry != nil && o.entry.disconnects:
		return deny(o, closedText).by(Disconnect)
	case protected:
		return deny(o, destructiveText)
	case c.Stops(a.Name):
		return deny(o, stoppedText)
	case o.Class == ReadOnly, c.Mode == ModeFull, c.Mode == ModeAsk && c.Granted:
		return Decision{Outcome: Allow}
	case c.Silent:
		return deny(o, fmt.Sprintf("the access mode of this window is %q, and a window without a folder cannot be asked.", c.Mode))
	case c.Mode == ModeAsk && !looks:
		return Decision{Outcome: Ask}
	default: // view, and every mode of a newer window
		return denyByMode(o, c.State)
	}
}

// Texts about a denial, for people.
const (
	closedText      = "the browser stays open for its user; only this connection was closed"
	destructiveText = "it would end the browser or a page, or let a page do so, for the user and every other client. Only the coordinator's option --allow-close permits that."
	stoppedText     = "stopped by the user in the window, until the user resumes it there."
)

func deny(o Operation, reason string) Decision {
	return Decision{Deny, &DeniedError{o.Name, reason}}
}

func denyByMode(o Operation, s State) Decision {
	reason := ""
	if o.reason != "" {
		reason = " (" + o.reason + ")"
	}
	may := ": clients may look, but change nothing"
	if s.Mode == ModeAsk {
		may = ", and its user has not let this client do more than look"
	}
	return deny(o, fmt.Sprintf("the access mode of this window is %q%s%s.", s.Mode, may, reason))
}

// sharedReasons are by the rule for a command in a session that is shared with the
// debugger.
var sharedReasons = map[string]string{
	"debugger": "the debugger of this window drives this page: set breakpoints, step and resume there. Another client may look, not steer, because it would share the debugger's own session",
	"ignored":  "the debugger depends on what it would change",
	"lasting":  "in the session that the debugger shares nothing could take this back when this client leaves",
}

func decideShared(o Operation) Decision {
	switch e := o.entry; {
	case e == nil, e.shared == "", e.sharedIf != nil && !e.sharedIf(read(o.params)):
		return Decision{Outcome: Allow}
	case e.shared == "ignored":
		return deny(o, sharedReasons[e.shared]).by(Ignore)
	default:
		return deny(o, sharedReasons[e.shared])
	}
}
