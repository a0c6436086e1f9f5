package input

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/chromedp/cdproto/input"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
)

// Drag drags one target onto another. The page gets mouse events for a drag that its
// script implements. An HTML drag and drop is intercepted and replayed, because the
// browser's own would follow the user's pointer.
func (i *Input) Drag(from, to string) Action { return i.DragTo(from, nil, to, nil) }

// DragTo is Drag from a position in the first target to one in the other, see Aim.
func (i *Input) DragTo(from string, startAt *frame.Point, to string, endAt *frame.Point) Action {
	wait := i.opts.ActionTimeout
	return Action{Operation: "dragging " + from + " to " + to, Waits: 2 * wait, Arrives: true,
		Do: func(ctx context.Context, out *Outcome) error {
			start, end, err := i.dragSpots(ctx, from, startAt, to, endAt, wait)
			if err != nil {
				return err
			}
			defer func() { start.Release(ctx) }()
			defer end.Release(ctx)
			for _, s := range []*spot{start, end} {
				if _, err := out.note(elementOf(s.Element)); err != nil {
					return err
				}
			}
			i.show(ctx, start)
			for tries := 1; ; tries++ {
				x, y := end.x, end.y
				// the page has scrolled the second target to the first one's place
				if math.Hypot(x-start.x, y-start.y) < dragAtLeast {
					x, y = start.x, start.y+dragAtLeast
				}
				missed, err := i.dragTo(ctx, start, x, y, out, func() (*frame.Element, float64, float64, error) {
					at, err := i.opts.Frames.Place(ctx, end.Element, "nearest")
					if endAt != nil {
						return end.Element, at.X + endAt.X, at.Y + endAt.Y, err
					}
					return end.Element, at.X + at.Width/2, at.Y + at.Height/2, err
				})
				if err != nil || missed == "" {
					return err
				}
				if tries == 2 {
					return start.coveredBy(missed, wait)
				}
				// The target moves, or something covered it when the mouse moved. The page has got no
				// event of the button yet.
				if err := i.refresh(ctx, start, wait, false); err != nil {
					return err
				}
			}
		}}
}

// DragBy drags a target by a distance, in CSS pixels; point is as in Aim.
func (i *Input) DragBy(from string, point *frame.Point, by frame.Point) Action {
	drag := func(ctx context.Context, s *spot, out *Outcome) error {
		for tries := 1; ; tries++ {
			x, y := s.x+by.X, s.y+by.Y
			if x < 0 || y < 0 {
				return &frame.TargetError{
					Target: from,
					Reason: fmt.Sprintf("cannot be dragged to %.0f, %.0f: that is outside of the viewport", x, y),
				}
			}
			missed, err := i.dragToPoint(ctx, s, x, y, out)
			if err != nil || missed == "" {
				return err
			}
			if tries == 2 {
				return s.coveredBy(missed, i.opts.ActionTimeout)
			}
			if err := i.refresh(ctx, s, i.opts.ActionTimeout, false); err != nil {
				return err
			}
		}
	}
	return i.act("dragging "+from, from, purpose{"click", point}, 0, drag)
}

// dragToPoint is dragTo for a point of the viewport, whatever is there.
func (i *Input) dragToPoint(ctx context.Context, start *spot, x, y float64, out *Outcome) (missed string, err error) {
	var destination *frame.Element
	missed, err = i.dragTo(ctx, start, x, y, out, func() (*frame.Element, float64, float64, error) {
		end, err := Vision{i}.elementAt(ctx, x, y)
		if errors.Is(err, errOutside) {
			return nil, x, y, nil
		}
		if err == nil {
			destination = end.Element
		}
		return destination, x, y, err
	})
	if destination != nil {
		destination.Release(ctx)
	}
	return missed, err
}

// dragSpots finds both targets of a drag, both in view if possible. It waits for no
// frame: the press of the button shows whether the first target moves, and the release
// finds the second one's current place.
func (i *Input) dragSpots(
	ctx context.Context, from string, startAt *frame.Point, to string, endAt *frame.Point, wait time.Duration,
) (start, end *spot, err error) {
	end, err = i.ready(ctx, to, purpose{"drop", endAt}, wait, true)
	if err != nil {
		return nil, nil, err
	}
	start, err = i.ready(ctx, from, purpose{"click", startAt}, wait, true)
	if err == nil && !start.mayMove { // it may have scrolled the second target away
		err = i.refresh(ctx, end, wait, true)
		if err == nil && !end.mayMove { // and this may have scrolled the first target away
			err = i.refresh(ctx, start, wait, false)
		}
	}
	if err != nil {
		if start != nil {
			start.Release(ctx)
		}
		end.Release(ctx)
		return nil, nil, err
	}
	return start, end, nil
}

// dragTimeout bounds the wait for the browser's event of a drag that the page
// has started.
const dragTimeout = time.Second

// dragAtLeast is the minimum distance that the start of a drag assumes, in CSS pixels:
// libraries start a drag only after 10.
const dragAtLeast = 30

// dragTo drags towards a point and releases the button at the target's place at that
// time. missed is the element that the button was pressed on if it was not the start;
// the page gets no event then. destination is the target's element, nil if there is none.
func (i *Input) dragTo(
	ctx context.Context, start *spot, x, y float64, out *Outcome,
	target func() (destination *frame.Element, x, y float64, err error),
) (missed string, err error) {
	const button = input.MouseButtonLeft
	move := input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved, Button: button, Buttons: 1}
	release := input.DispatchMouseEventParams{
		Type: input.DispatchMouseEventTypeMouseReleased, Button: button, ClickCount: 1,
	}
	intercepted := i.opts.Session.Listen(input.DragIntercepted.Method)
	defer intercepted.Close()
	defer func() {
		_, _ = i.opts.Session.Start(context.WithoutCancel(ctx), input.CommandSetInterceptDrags,
			input.SetInterceptDragsParams{})
	}()
	var data *input.DragData
	var destination *frame.Element
	pending, err := i.dragHalfway(ctx, start, x, y, move)
	if err == nil {
		destination, x, y, err = target() // while the response is pending
		if missed, data, err = i.dragBegan(ctx, start, pending, intercepted, err); missed != "" {
			return missed, i.mouse.send(ctx, start.x, start.y, 0, []input.DispatchMouseEventParams{release})
		}
	}
	if err != nil {
		if i.mouse.currentPosition().buttons != 0 { // cancel as a user would: back to the start
			cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Millisecond)
			defer cancel()
			_ = i.mouse.send(cleanup, start.x, start.y, 0, []input.DispatchMouseEventParams{move, release})
		}
		return "", midway(err, "the drag has begun, and nothing was dropped")
	}
	if data != nil {
		accepted, err := i.dropOn(ctx, destination, data, x, y, false)
		i.mouse.set(pointer{x: x, y: y})
		out.NoDrop = err == nil && !accepted // some pages need none: they reorder while the pointer moves
		return "", err
	}
	if err := i.moveAlong(ctx, start, x, y, move, 0.6, 0.7, 0.8, 0.9, 1); err != nil {
		return "", err
	}
	// Many boards look for the place under the pointer only when the next frame is drawn.
	if err := i.opts.Lifecycle.UnlessLeaving(ctx, func(ctx context.Context) error {
		return start.Call(ctx, "awaitFrame", nil, nil)
	}); err != nil && ctx.Err() != nil {
		return "", err
	}
	return "", i.mouse.send(ctx, x, y, 0, []input.DispatchMouseEventParams{release})
}

// moveAlong moves the mouse to parts of the way from the start to a point.
func (i *Input) moveAlong(
	ctx context.Context, start *spot, x, y float64, move input.DispatchMouseEventParams, parts ...float64,
) error {
	for _, part := range parts {
		if err := i.mouse.send(ctx, start.x+(x-start.x)*part, start.y+(y-start.y)*part, 0,
			[]input.DispatchMouseEventParams{move}); err != nil {
			return err
		}
	}
	return nil
}

// dragHalfway presses the button and begins to move. It returns the pending response to
// whether that has started a drag.
func (i *Input) dragHalfway(
	ctx context.Context, start *spot, x, y float64, move input.DispatchMouseEventParams,
) (pending *cdp.Pending, err error) {
	// Nothing waits for this before the button is pressed: a drag begins with
	// the movements that follow.
	watching, err := start.Start(ctx, "watchDrag", nil)
	if err != nil {
		return nil, err
	}
	if _, err := i.opts.Session.Start(ctx, input.CommandSetInterceptDrags, input.SetInterceptDragsParams{
		Enabled: true,
	}); err != nil {
		return nil, err
	}
	if err := i.mouse.send(ctx, start.x, start.y, 0, clicks(move.Button, move.Buttons, 1)[:2]); err != nil {
		return nil, err
	}
	if err := start.Outcome(ctx, watching, nil); err != nil {
		return nil, err
	}
	// A drag begins only after the first few pixels.
	if err := i.moveAlong(ctx, start, x, y, move, 0.1, 0.5); err != nil {
		return nil, err
	}
	return start.Start(ctx, "dragBegan", nil)
}

// dragBegan returns what the button was pressed on if that was not the start, and
// otherwise the data of an HTML drag, if one has begun. failed is an earlier error, which
// counts only if the start was hit.
func (i *Input) dragBegan(
	ctx context.Context, start *spot, pending *cdp.Pending, intercepted *cdp.Subscription, failed error,
) (missed string, data *input.DragData, err error) {
	var r struct {
		Began  bool
		Missed string
	}
	if err := start.Outcome(ctx, pending, &r); err != nil {
		return "", nil, err
	}
	if r.Missed != "" || failed != nil || !r.Began {
		return r.Missed, nil, failed
	}
	select {
	case e, ok := <-intercepted.C():
		var drag input.EventDragIntercepted
		if !ok || e.Decode(&drag) != nil {
			return "", nil, nil
		}
		return "", drag.Data, nil
	case <-time.After(dragTimeout):
		return "", nil, nil
	case <-ctx.Done():
		return "", nil, context.Cause(ctx)
	}
}
