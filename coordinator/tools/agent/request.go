package agent

import (
	"context"
	"errors"

	"browser-coordinator/cdpproxy/dial"
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/tools/export"
	"browser-coordinator/policy"
)

// Traits are what distinguishes all calls of a tool, whatever their arguments are.
type Traits struct {
	// Local: the tool works on the window itself, whichever browser the agent uses.
	Local bool
	// Tabless: a call works in no tab, or chooses itself among them.
	Tabless bool
	// AnyFrame: a call may act in any frame of the page, which it does not name.
	AnyFrame bool
	// Waits: what a call waits for may have been there for a while before.
	Waits bool
	// Answers: a call answers a dialog.
	Answers bool
}

// Request is a tool with the arguments of a call.
type Request struct {
	Traits
	// Name is how an answer refers to the call, if it is a step.
	Name string
	// Operation is what the call does, for the policy. Its name is the tool's.
	Operation policy.Operation
	// Beyond reports whether the call acts on another site than that of its page; nil: it does not.
	Beyond func(context.Context, *page.Page) bool
	// Structured: the result has a form for programs too.
	Structured bool
	// Opens: the call opens an address, so that a new tab does as well.
	Opens bool
	// Leaves: the call opens or expects another document, of any origin.
	Leaves bool
	// Changes is how much of what the page shows is answered: none, short or full; empty:
	// short.
	Changes string
	// Descriptions are the agent's own words for what the call acts on.
	Descriptions []string
	// Window is the window that the call names; empty: none.
	Window string
	// Tab is the index of the page that the call names; nil: the one that the agent works in.
	Tab *int
	// Aims are the elements that the call acts on or reads.
	Aims []input.Aim
	// Question describes the call to the user, in the imperative. names are those of the
	// elements; a name is empty if nothing has the focus.
	Question func(names []string) string
	// Subject is what the call is about, for a report to the user, if it acts on no element;
	// target are the elements that it has acted on.
	Subject func(target string) string
	// Script is the script that the call runs; empty: none.
	Script string
	// Do does what the call asks for, and answers in its Out.
	Do func(context.Context, *Call) error
	// Code is how a test repeats the call; nil: it cannot.
	Code func(*Record) export.Step
	// Part is Code for the part of a call that was done before it failed; nil: a test has none.
	Part func(failed error) func(*Record) export.Step
}

func (r *Request) readOnly() bool { return r.Operation.Class == policy.ReadOnly }

func (r *Request) need() need {
	switch {
	case r.readOnly():
		return toRead
	case r.Opens:
		return toOpen
	}
	return toAct
}

// mayRepeat reports whether a call that failed with its browser or its tab can run again without
// doing anything twice: it is read-only, or has sent nothing.
func (r *Request) mayRepeat(err error) bool {
	switch {
	case errors.As(err, new(*dial.RefusedError)):
		return false
	case errors.As(err, new(*connectError)):
		return true
	case errors.Is(err, page.ErrPageClosed):
		return r.readOnly()
	}
	return errors.Is(err, page.ErrBrowserGone) && (r.readOnly() || errors.Is(err, page.ErrUnsent))
}
