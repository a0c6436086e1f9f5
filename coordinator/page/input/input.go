// Package input performs a user's actions in a page: it clicks, types, drags, drops and
// fills file choosers. It waits until a target is ready, and then sends the
// browser's own input events.
package input

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/capture"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/history"
	"browser-coordinator/coordinator/page/lifecycle"
)

// Scripts are the functions that this package calls in a page.
//
//go:embed script
var Scripts embed.FS

// Input is the mouse, the keyboard and the file choosers of one page. Its methods
// return actions, which the page runs one after the other.
type Input struct {
	Choosers Choosers

	opts      Options
	sentCount atomic.Int64 // see SentCount
	mouse     mouse
	keyboard  keyboard
	// sameFiles: the browser reads the files of this machine.
	sameFiles atomic.Bool
	watchers  sync.Map // the functions of Watch, by pointers to them
}

// Spot is where an action is about to happen, in the page's viewport in CSS pixels.
type Spot struct {
	frame.Identity
	Area frame.Rect // of the element
	At   frame.Point
	// Pointer: the mouse does it.
	Pointer bool
}

// Watch has a function called as soon as the target of an action is ready, until unwatch is called.
func (i *Input) Watch(f func(Spot)) (unwatch func()) {
	i.watchers.Store(&f, f)
	return func() { i.watchers.Delete(&f) }
}

// show reports a spot to the watchers. An element that has gone meanwhile has none.
func (i *Input) show(ctx context.Context, s *spot) {
	if at := (frame.Point{X: s.x, Y: s.y}); at != (frame.Point{}) { // typing in a frame of another process has none
		i.opts.Acts(at)
	}
	for _, watch := range i.watchers.Range {
		if area, err := i.opts.Frames.Place(ctx, s.Element, ""); err == nil {
			at := frame.Point{X: s.x, Y: s.y}
			watch.(func(Spot))(Spot{Identity: s.Identity, Area: area, At: at, Pointer: s.use.points()})
		}
	}
}

// Options of an Input. All but TakenOver are required.
type Options struct {
	Lifecycle     *lifecycle.Lifecycle
	Session       *cdp.Session // of the page itself
	Frames        *frame.Tree
	Screen        *capture.Screen
	Network       *history.Network
	ActionTimeout time.Duration // until a target must be ready
	CallTimeout   time.Duration // of a call
	// Before is called before the page is scrolled to a target, or its pointer moved there.
	Before func(context.Context)
	// TakenOver reports whether the user has taken over the browser, and waits until it is given back; nil:
	// nobody can.
	TakenOver func() (now bool, wait func(context.Context) error)
	// Acts is called where an action begins, and where its mouse is. It must not block.
	Acts func(frame.Point)
}

// New returns the input of a page.
func New(opts Options) *Input {
	i := &Input{opts: opts}
	i.Choosers.frames = opts.Frames
	i.mouse = mouse{session: opts.Session, sentCount: &i.sentCount, acts: opts.Acts}
	i.keyboard = keyboard{session: opts.Session, sentCount: &i.sentCount, life: opts.Lifecycle}
	return i
}

// longPoll is how long a response may be awaited that changes the page: one that takes longer
// is a long poll, which never ends.
const longPoll = 5 * time.Second

// loads reports whether the page is loading, or awaits responses that may change it. One of an
// address that has kept the page waiting before is none of them.
func (i *Input) loads() bool {
	life := i.opts.Lifecycle
	return life.IsLeaving() || !life.Reached(lifecycle.Loaded) || i.opts.Network.Pending(longPoll)
}

// Action is something that a user does in a page.
type Action struct {
	Err       error         // why there is nothing to run, for example an unknown key
	Operation string        // for example: clicking e5
	Waits     time.Duration // how long it may wait for its targets, on top of a call's time
	// Arrives: it is done only if the page gets its events.
	Arrives bool
	// Begin waits until the action may begin, when the user rests; nil: it may.
	Begin func(context.Context) error
	// Do runs the action, and adds further findings to the outcome.
	Do func(ctx context.Context, out *Outcome) error
	// Check adds what the page has made of the action once it has settled; nil: nothing.
	Check func(ctx context.Context, out *Outcome)
	// Confirm may refuse an element before the action acts on it; nil: it refuses none.
	Confirm func(Element) error
}

// Aim is what an action is to act on.
type Aim struct {
	Target  string // ref or selector; empty: what has the focus
	Chooser bool   // without a target: the input of the open file chooser
	Pointer bool   // the mouse does it
	// Position is where, in CSS pixels from the top left corner inside the target's border, as
	// Playwright counts; nil: in the middle.
	Position *frame.Point
}

// Identify is what an action would act on now. It waits for nothing.
func (i *Input) Identify(ctx context.Context, aim Aim) (element Element, err error) {
	element.Target = aim.Target
	switch {
	case aim.Target != "":
		e, err := i.opts.Frames.Find(ctx, aim.Target)
		if err != nil {
			return element, err
		}
		defer e.Release(ctx)
		missing, err := e.Identify(ctx, aim.Pointer, aim.Position)
		if missing {
			err = i.opts.Frames.Removed(ctx, e)
		}
		element = elementOf(e)
		if err == nil && e.Session == i.opts.Session {
			element.Document, element.Node = i.opts.Frames.Document(), e.Node(ctx)
		}
		return element, err
	case aim.Chooser:
		element, err = i.Choosers.Identify(ctx)
	default:
		var focus frame.Focus
		focus, err = i.opts.Frames.Focused(ctx)
		element.Identity, element.Frame = focus.Identity, focus.Frame
	}
	return element, err
}

// Element is an element that an action acts on, as the page presents it then.
type Element struct {
	Target string // ref or selector; empty: what has the focus, or the open file chooser
	frame.Identity
	PreviousLabel string // what the last snapshot called the ref, if that is something else
	Unchanged     bool   // nothing has changed in its document since the agent was last shown that
	// Filled is how a field was filled, and Chosen the labels of the options that were clicked for that, see spot.
	Filled string
	Chosen []string
	// Frame is that of its document; empty: not known.
	Frame protocol.FrameID
	// Node is its node in the page's own process, and Document the loader id of the page's document; 0: not known.
	Node     protocol.BackendNodeID
	Document protocol.LoaderID

	element    *frame.Element // kept until Outcome.Release; nil: not kept
	generation int            // of its document, as frame.Frame.Generation; 0: not known
}

// Outcome is what an action detects in the elements that it acts on.
type Outcome struct {
	Elements []Element    // in the order of the action; also if it failed
	Replaced bool         // the document was, after something had been typed or chosen in it
	Values   []FieldValue // fields whose value differs from the typed text
	// PastValues are those that fields with a secret have had for a while.
	PastValues []FieldValue
	Invalid    []string // fields because of which a form was not submitted, with the message to the user
	// Disabled is the default button of the form in which Enter was pressed, if that was disabled.
	Disabled *frame.Identity
	// NoDrop: the page has accepted no drop where a drag of HTML's ended.
	NoDrop bool
	// OpenedChooser: an upload has clicked its target, which opened a file chooser.
	OpenedChooser bool
	// CaretAtEnd: slow typing has moved the caret to the end of what is there.
	CaretAtEnd bool

	confirm func(Element) error // see Action
	sent    bool                // Enter was pressed, which may well open another document
}

// Run runs an action. The caller must release the outcome, also after an error.
func (a Action) Run(ctx context.Context) (out Outcome, err error) {
	out.confirm = a.Confirm
	err = a.Do(ctx, &out)
	return out, err
}

// Settled adds what the page has made of the action, which failed if it was left midway.
func (i *Input) Settled(ctx context.Context, a Action, failed error, out *Outcome) {
	if a.Check == nil || out.sent && i.IsReplaced(out.Elements...) {
		return
	}
	out.Replaced = i.IsReplaced(out.Elements...)
	if failed == nil || out.Replaced {
		a.Check(ctx, out)
	}
}

// Release lets the page collect the elements that the outcome has kept.
func (o *Outcome) Release(ctx context.Context) {
	for _, e := range o.Elements {
		if e.element != nil {
			e.element.Release(ctx)
		}
	}
}

// note notes an element before the action acts on it, unless the action's caller refuses
// that. It returns its place in Elements.
func (o *Outcome) note(e Element) (index int, err error) {
	o.Elements = append(o.Elements, e)
	if o.confirm != nil {
		err = o.confirm(e)
	}
	return len(o.Elements) - 1, err
}

// FieldValue is the value of a field.
type FieldValue struct {
	Target string
	Value  string // of a secret: as many bullets as it has characters
	Plain  string // a secret's value, never to be shown; empty: not a secret
	// Now is what the page has made of the field after it was filled, for example: is empty
	// again. It is empty if the field has this value since then.
	Now string
}

// SentCount counts the inputs and scripts that were sent to the page.
func (i *Input) SentCount() int64 { return i.sentCount.Load() }

// ScriptRuns counts a script, which may change the page as input does.
func (i *Input) ScriptRuns() { i.sentCount.Add(1) }

// NotReadyError reports why a target was not ready for the action in time.
type NotReadyError struct {
	Target  string
	Label   string // what the target is, for example: button "Save"
	Reason  string // for example: it is covered by <div id="overlay">
	Elapsed string // for example 5s
	// Calm is for how long the page had been still, for example 1s, so that it waited no longer;
	// empty: it was not.
	Calm    string
	Details string // what the agent can do next, if known
}

func (e *NotReadyError) Error() string {
	s := fmt.Sprintf("%s (%s) was not ready within %s: %s", e.Target, e.Label, e.Elapsed, e.Reason)
	if e.Calm != "" {
		s = fmt.Sprintf("%s (%s) is not ready: %s", e.Target, e.Label, e.Reason)
	}
	if e.Details != "" {
		s += ": " + e.Details
	}
	if e.Calm != "" {
		s += fmt.Sprintf(". The page has been still for %s: nothing loads, changes or is animated that could end "+
			"that", e.Calm)
	}
	return s
}

// LateError reports that the page did not respond in time whether a target is ready.
type LateError struct {
	Target  string
	Elapsed time.Duration
}

func (e *LateError) Error() string {
	return fmt.Sprintf("the page did not report within %v whether %s is ready", e.Elapsed, e.Target)
}

// PartialError reports which of several inputs were done before the error.
type PartialError struct {
	Done string // for example: field 1 of 2 is filled
	Err  error
}

func (e *PartialError) Error() string { return fmt.Sprintf("%v (%s)", e.Err, e.Done) }

func (e *PartialError) Unwrap() error { return e.Err }

// Part is what an action has done before it failed; empty: nothing.
func Part(failed error) string {
	var field *FieldError
	var partial *PartialError
	switch {
	case errors.As(failed, &partial):
		return partial.Done
	case errors.As(failed, &field) && len(field.Filled) > 0:
		return fmt.Sprintf("%d of %d fields are filled", len(field.Filled), field.Total)
	}
	return ""
}

// midway records what was done before the error, unless the error has it already.
func midway(err error, done string, args ...any) error {
	if err == nil || errors.As(err, new(*PartialError)) {
		return err
	}
	return &PartialError{Done: fmt.Sprintf(done, args...), Err: err}
}
