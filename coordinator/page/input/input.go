// Package input acts in a page as a user does: it clicks, types, drags, drops and
// answers file choosers. It waits until a target is ready, and then sends the
// browser's own input events.
package input

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
)

// Scripts are the functions that this package calls in a page.
//
//go:embed script
var Scripts embed.FS

// Page is what this package needs of a page.
type Page interface {
	// EmulateFocus makes the page believe that it is focused and visible.
	EmulateFocus(ctx context.Context) error
	// UnlessLeaving asks the page something, and gives it up with ErrLeaving once the
	// page is on its way to another document.
	UnlessLeaving(ctx context.Context, ask func(ctx context.Context) error) error
	// StopLeaving ends the way to another document.
	StopLeaving(ctx context.Context) error
	// Await waits until the condition, which events change, is true.
	Await(ctx context.Context, condition func() bool) error
	// AwaitDownload waits for the event of a download that a link has begun.
	AwaitDownload(ctx context.Context)
	// WindowOpens notes that a window opens of which the page gets no event.
	WindowOpens()
}

// ErrLeaving reports that the page is on its way to another document.
var ErrLeaving = errors.New("the page is on its way to another document")

// Input is the mouse, the keyboard and the file choosers of one page. Its methods
// return actions, which the page runs one after the other.
type Input struct {
	page     Page
	frames   *frame.Tree
	session  *cdp.Session // of the page itself
	opts     Options
	sent     atomic.Int64 // see Sent
	mouse    mouse
	keyboard keyboard
	choosers choosers
}

// Options of an Input.
type Options struct {
	ActionTimeout time.Duration // until a target must be ready
	CallTimeout   time.Duration // of a call
}

// New returns the input of a page.
func New(page Page, session *cdp.Session, frames *frame.Tree, opts Options) *Input {
	i := &Input{page: page, frames: frames, session: session, opts: opts}
	i.mouse = mouse{session: session, sent: &i.sent}
	i.keyboard = keyboard{session: session, sent: &i.sent, page: page}
	return i
}

// Action is something that a user does in a page.
type Action struct {
	Err   error         // why it cannot be done; nothing else is set then
	Doing string        // for example: clicking e5
	Waits time.Duration // how long it may wait for its targets, on top of a call's time
	// Do does it, and notes in the outcome what else is to be reported.
	Do func(ctx context.Context, out *Outcome) error
}

// Outcome is what an action finds out about the fields that it has changed.
type Outcome struct {
	Held  []Held   // fields that hold something else than was typed into them
	Unmet []string // fields because of which a form was not sent, and what the user is told
}

// Held is what a field holds.
type Held struct {
	Target string
	Value  string // a secret's: as many bullets as it has characters
	Plain  string // a secret's value, never to be shown; empty: it is no secret
}

// Sent counts the input that was sent to the page, and the scripts.
func (i *Input) Sent() int64 { return i.sent.Load() }

// ScriptRuns counts a script that may do in the page what input does.
func (i *Input) ScriptRuns() { i.sent.Add(1) }

// NotReadyError reports why a target could not be acted on in time.
type NotReadyError struct {
	Target  string
	Was     string // what the target is, for example: button "Save"
	Reason  string // for example: it is covered by <div id="overlay">
	Waited  string // for example 5s
	Details string // what the agent may do, if there is something
}

func (e *NotReadyError) Error() string {
	s := fmt.Sprintf("%s (%s) was not ready within %s: %s", e.Target, e.Was, e.Waited, e.Reason)
	if e.Details != "" {
		s += ": " + e.Details
	}
	return s
}

// LateError reports that the page did not say in time whether a target is ready.
type LateError struct {
	Target string
	Waited time.Duration
}

func (e *LateError) Error() string {
	return fmt.Sprintf("the page did not say within %v whether %s is ready", e.Waited, e.Target)
}

// PartialError reports what was done of several inputs when its error came between
// them.
type PartialError struct {
	Done string // for example: field 1 of 2 is filled
	Err  error
}

func (e *PartialError) Error() string { return e.Err.Error() }

func (e *PartialError) Unwrap() error { return e.Err }

// midway notes what was done before the error, unless that was noted already.
func midway(err error, done string, args ...any) error {
	if err == nil || errors.As(err, new(*PartialError)) {
		return err
	}
	return &PartialError{Done: fmt.Sprintf(done, args...), Err: err}
}
