package input

import (
	"context"
	"time"

	"github.com/chromedp/cdproto/input"

	"browser-coordinator/coordinator/page/frame"
)

// reach moves the pointer to a point in a frame of another origin; levels is how many frames
// above the element's the point belongs to. It returns the point
// in the page once the pointer has arrived in that frame. The browser routes events to
// processes by the last drawn frame. After scrolling, that may be out of date, and a
// click would hit something else.
func (i *Input) reach(
	ctx context.Context, e *frame.Element, innerX, innerY float64, levels int, wait time.Duration,
) (x, y float64, reason string, err error) {
	end := time.Now().Add(wait)
	for budget := arrivalBudget; time.Now().Before(end); budget *= 2 {
		x, y, reason, err = i.opts.Frames.Outward(ctx, e.Frame, levels, innerX, innerY)
		if err != nil || reason != "" {
			return 0, 0, reason, err
		}
		var arrived bool
		if arrived, err = i.arrives(ctx, e, x, y, min(budget, time.Until(end))); arrived || err != nil {
			return x, y, "", err
		}
	}
	return 0, 0, "input events do not reach its frame", nil
}

// arrivalBudget is how long the first movement of the pointer may take to arrive. The
// budget doubles with each further movement: on a busy or rarely drawn page a frame takes
// longer, and a movement counts only within its budget.
const arrivalBudget = 100 * time.Millisecond

func (i *Input) arrives(ctx context.Context, e *frame.Element, x, y float64, budget time.Duration) (bool, error) {
	listening, err := e.Start(ctx, "arrival", budget.Milliseconds())
	if err != nil {
		return false, err
	}
	// Two movements, because one to the same position has no effect.
	for _, x := range []float64{x - 1, x} {
		move := input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved, X: x, Y: y}
		if err := i.opts.Session.Call(ctx, input.CommandDispatchMouseEvent, move, nil); err != nil {
			return false, err
		}
	}
	var arrived bool
	err = e.Outcome(ctx, listening, &arrived)
	return arrived, err
}
