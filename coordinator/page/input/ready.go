package input

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"browser-coordinator/coordinator/page/frame"
)

// readyMargin is how much earlier than its call's deadline the script in the
// page stops, so that its reason arrives even on a busy machine.
const readyMargin = 2 * time.Second

// calmTime is how long a page must have been still until a target that is not ready is refused
// early: nothing loads, changes or ends an animation, so that nothing will make it ready.
const calmTime = time.Second

// spot is an element that is ready for an action, and its position.
type spot struct {
	*frame.Element
	x, y float64
	// mayMove means that nothing has waited for the element to stop moving. The mouse
	// movement to it takes until the next frame anyway, which is time enough; see moveTo.
	mayMove bool
	use     purpose
	// field is how a field is filled, see fieldKind.js, or options: a list that is open already. chosen are the
	// labels of the options that were clicked for it.
	field  string
	chosen []string
	// unmet and downloads are results of a click: why it did not submit the form, and
	// whether it starts a download.
	unmet     []string
	downloads bool
	toEnd     bool // slow typing has moved the caret to the end
	// generation is of the document, as frame.Frame.Generation.
	generation int
}

// purpose is what a target is to be ready for.
type purpose struct {
	kind     string
	position *frame.Point // of the pointer, see Aim; nil: where the target is in view
}

var toClick, toDrop = purpose{kind: "click"}, purpose{kind: "drop"}
var toType, toSelect = purpose{kind: "type"}, purpose{kind: "select"}

// points reports whether the pointer performs the action.
func (p purpose) points() bool { return p.kind == "click" || p.kind == "hover" || p.kind == "drop" }

// ready finds a target and waits until it accepts an action: attached, visible, stable
// between two animation frames, enabled (except to hover), and hit by an event at its
// point. It scrolls the target into view. A quick one may still move.
func (i *Input) ready(ctx context.Context, target string, use purpose, wait time.Duration, quick bool) (*spot, error) {
	deadline := time.Now().Add(wait)
	if err := i.opts.Screen.EmulateFocus(ctx); err != nil {
		return nil, err
	}
	for {
		e, err := i.opts.Frames.FindInTime(ctx, target, deadline)
		if err != nil {
			return nil, err
		}
		s, err := i.readyElement(ctx, e, use, wait, deadline, quick)
		if err == nil {
			return s, nil
		}
		e.Release(ctx)
		// A ref means one element. A selector means any match, because pages often replace their
		// elements.
		_, numbered := frame.ParseRef(target)
		if numbered || !errors.As(err, new(*frame.StaleRefError)) || time.Now().After(deadline) {
			return nil, err
		}
	}
}

// refresh waits until the target of a spot is ready again, and updates the spot to its current place.
func (i *Input) refresh(ctx context.Context, s *spot, wait time.Duration, quick bool) error {
	next, err := i.ready(ctx, s.Target, s.use, wait, quick)
	if err != nil {
		return err
	}
	s.Element.Release(ctx)
	next.field, next.chosen = cmp.Or(next.field, s.field), s.chosen
	*s = *next
	return nil
}

// readyElement is ready for a resolved element.
func (i *Input) readyElement(
	ctx context.Context, e *frame.Element, use purpose, wait time.Duration, deadline time.Time, quick bool,
) (*spot, error) {
	var r struct {
		OK, Gone, Top, Quick bool
		Scrolls              bool // it is about to scroll the element into view
		Up                   int
		X, Y                 float64
		Why                  string
		Field                string
		Refused              string // a control in the element that takes the click everywhere
		Is                   frame.Identity
		Still                bool
		Calm                 float64 // milliseconds: why the script has not used its time
	}
	of, _ := i.opts.Frames.Frame(e.Frame)
	var err error
	for prompts, calm := true, true; calm || r.Scrolls; {
		r.Calm, r.Scrolls = 0, false
		err = e.Call(ctx, "ready", map[string]any{
			"kind": use.kind, "position": use.position, "budget": time.Until(deadline).Milliseconds(), "quick": quick,
			"calm": calmTime.Milliseconds(), "asks": prompts, "alone": i.opts.Frames.Single(),
		}, &r)
		// A response that is still awaited may change the page.
		calm = err == nil && r.Calm > 0 && i.loads() && time.Now().Before(deadline)
		if r.Scrolls {
			i.opts.Before(ctx)
			prompts = false
			continue
		}
		quick = false
	}
	// If another process draws a part of the page, the browser may route an event for this
	// process to that one.
	apart := !r.Top || use.points() && len(i.opts.Frames.Sessions()) > 1
	if err == nil && r.OK && apart && r.Quick { // an event takes longer than a frame to arrive
		r.Quick = false
		err = e.Call(ctx, "ready", map[string]any{
			"kind": use.kind, "position": use.position, "budget": time.Until(deadline).Milliseconds(),
		}, &r)
	}
	if err == nil && r.OK && apart {
		i.opts.Before(ctx)
		r.X, r.Y, r.Why, err = i.reach(ctx, e, r.X, r.Y, r.Up, wait)
		r.OK = r.Why == ""
	}
	e.Identity, e.Unchanged = r.Is, r.Still
	switch {
	case err != nil:
		return nil, err
	case r.Gone:
		return nil, i.opts.Frames.Removed(ctx, e)
	case r.Refused != "":
		return nil, &frame.TargetError{Target: e.Target, Reason: "cannot be clicked itself: " + r.Refused + " in it " +
			"takes the click. Use what is in it, or give a position"}
	case !r.OK:
		unready := &NotReadyError{
			Target: e.Target, Label: r.Is.String(), Reason: r.Why, Elapsed: wait.Round(time.Millisecond).String(),
		}
		if r.Calm > 0 {
			unready.Calm = (time.Duration(r.Calm) * time.Millisecond).Round(100 * time.Millisecond).String()
		}
		return nil, unready
	}
	return &spot{Element: e, x: r.X, y: r.Y, mayMove: r.Quick, use: use, field: r.Field, generation: of.Generation}, nil
}

// Obstacle is why an element cannot be clicked where it is.
type Obstacle struct {
	Why    string // empty: it can
	Misses bool   // a click would miss it there: scrolling, which a click does first, may help
}

// Obstacle finds out what keeps a click from an element, by the checks of a click, but without
// waiting, scrolling, or a movement of the mouse.
func (i *Input) Obstacle(ctx context.Context, e *frame.Element) (o Obstacle, err error) {
	var r struct {
		OK, Gone, Top, Misses bool
		Up                    int
		X, Y                  float64
		Why                   string
	}
	// A drop needs the same as a click, but prepares for none.
	params := map[string]any{"kind": toDrop.kind, "budget": 0, "fixed": true}
	if err := e.Call(ctx, "ready", params, &r); err != nil {
		return o, err
	}
	if r.Gone {
		return o, i.opts.Frames.Removed(ctx, e)
	}
	if r.OK && !r.Top {
		_, _, r.Why, err = i.opts.Frames.Outward(ctx, e.Frame, r.Up, r.X, r.Y)
	}
	return Obstacle{Why: r.Why, Misses: r.Misses}, err
}

func elementOf(e *frame.Element) Element {
	return Element{
		Target: e.Target, Identity: e.Identity, PreviousLabel: e.PreviousLabel(), Unchanged: e.Unchanged, Frame: e.Frame,
	}
}

// keep is elementOf for an element that [Outcome.Release] releases.
func keep(e *frame.Element) Element {
	element := elementOf(e)
	element.element = e
	return element
}

// keep is that for the element of a spot, with what was done to it.
func (s *spot) keep() Element {
	element := keep(s.Element)
	element.Filled, element.Chosen, element.generation = s.field, s.chosen, s.generation
	return element
}

// IsReplaced reports whether the document of an element has been replaced since the action began
// with it.
func (i *Input) IsReplaced(elements ...Element) bool {
	return slices.ContainsFunc(elements, func(e Element) bool {
		of, _ := i.opts.Frames.Frame(e.Frame)
		return e.generation != 0 && of.Generation != e.generation
	})
}

// errReplaced is why the rest of an action was left alone: it was for another document.
var errReplaced = errors.New("the document was replaced meanwhile, by a reload for example, so the rest was not done")

// act is an action on a target. The wait for the target is additional to the action's own
// timeout.
func (i *Input) act(
	operation, target string, use purpose, wait time.Duration, do func(ctx context.Context, s *spot, out *Outcome) error,
) Action {
	wait = cmp.Or(wait, i.opts.ActionTimeout)
	act := func(ctx context.Context, out *Outcome) error {
		waiting, cancel := context.WithTimeoutCause(ctx, wait+readyMargin, &LateError{Target: target, Elapsed: wait})
		s, err := i.ready(waiting, target, use, wait, use.kind == "hover" || use.kind == "drop")
		cancel()
		if err != nil {
			return err
		}
		index, err := out.note(s.keep())
		if err != nil {
			return err
		}
		i.show(ctx, s)
		err = do(ctx, s, out)
		out.Elements[index] = s.keep() // the page may have replaced the element
		return err
	}
	return Action{Operation: operation, Waits: wait, Arrives: use.points(), Do: act}
}
