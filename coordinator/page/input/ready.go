package input

import (
	"cmp"
	"context"
	"errors"
	"time"

	"browser-coordinator/coordinator/page/frame"
)

// readyMargin is how much earlier than its call's deadline the script in the
// page gives up, so that its reason arrives even on a busy machine.
const readyMargin = 2 * time.Second

// spot is an element that is ready to be acted on, and where.
type spot struct {
	*frame.Element
	x, y float64
	// unproven: whether it moves was not waited for. Moving the mouse there, which
	// takes until the next frame anyway, gives the time for that; see prove.
	unproven bool
	link     bool // a click on it follows a link
	// What a click on it has shown: why the form that it sends was not sent, and
	// whether it begins a download.
	unmet     []string
	downloads bool
}

// ready finds a target and waits until it can be acted on: attached, visible,
// not moving from one animation frame to the next, enabled, and really hit by an
// event at its point. What is not in view is scrolled there.
func (i *Input) ready(ctx context.Context, target, kind string, wait time.Duration) (*spot, error) {
	return i.readyFor(ctx, target, kind, wait, false)
}

func (i *Input) readyFor(ctx context.Context, target, kind string, wait time.Duration, quick bool) (*spot, error) {
	until := time.Now().Add(wait)
	if err := i.page.EmulateFocus(ctx); err != nil {
		return nil, err
	}
	for {
		e, err := i.frames.FindInTime(ctx, target, until)
		if err != nil {
			return nil, err
		}
		s, err := i.readyElement(ctx, e, kind, wait, until, quick)
		if err == nil {
			return s, nil
		}
		e.Release(ctx)
		// A ref means one element; a selector whichever matches, and pages make their
		// elements anew all the time.
		_, numbered := frame.ParseRef(target)
		if numbered || !errors.As(err, new(*frame.StaleRefError)) || time.Now().After(until) {
			return nil, err
		}
	}
}

// readyElement is ready for an element that was found.
func (i *Input) readyElement(ctx context.Context, e *frame.Element, kind string, wait time.Duration, until time.Time, quick bool) (*spot, error) {
	var r struct {
		OK, Gone, Top, Quick bool
		Link                 bool
		X, Y                 float64
		Why, Label           string
	}
	err := e.Call(ctx, "ready", map[string]any{"kind": kind, "budget": time.Until(until).Milliseconds(), "quick": quick}, &r)
	// Where another process draws a part of the page, the browser may send there what
	// is meant for this one.
	apart := !r.Top || (kind == "click" || kind == "hover") && len(i.frames.Sessions()) > 1
	if err == nil && r.OK && apart && r.Quick { // the way there takes longer than a frame
		r.Quick = false
		err = e.Call(ctx, "ready", map[string]any{"kind": kind, "budget": time.Until(until).Milliseconds()}, &r)
	}
	if err == nil && r.OK && apart {
		r.X, r.Y, r.Why, err = i.reach(ctx, e, r.X, r.Y, wait)
		r.OK = r.Why == ""
	}
	if e.Label == "" {
		e.Label = r.Label
	}
	switch {
	case err != nil:
		return nil, err
	case r.Gone:
		return nil, i.frames.Removed(ctx, e)
	case !r.OK:
		return nil, &NotReadyError{Target: e.Target, Was: e.Label, Reason: r.Why, Waited: wait.Round(time.Millisecond).String()}
	}
	return &spot{Element: e, x: r.X, y: r.Y, unproven: r.Quick, link: r.Link}, nil
}

// on is an action on a target: the wait for the target comes on top of what the
// action itself may take.
func (i *Input) on(doing, target, kind string, wait time.Duration, do func(ctx context.Context, s *spot, out *Outcome) error) Action {
	wait = cmp.Or(wait, i.opts.ActionTimeout)
	return Action{Doing: doing, Waits: wait, Do: func(ctx context.Context, out *Outcome) error {
		waiting, cancel := context.WithTimeoutCause(ctx, wait+readyMargin, &LateError{Target: target, Waited: wait})
		s, err := i.readyFor(waiting, target, kind, wait, kind == "hover")
		cancel()
		if err != nil {
			return err
		}
		defer s.Release(ctx)
		return do(ctx, s, out)
	}}
}
