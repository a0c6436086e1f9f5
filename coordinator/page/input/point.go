package input

import (
	"context"
	"errors"
	"fmt"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
)

// Vision is the input of an agent that looks at pictures: it acts at points of the viewport,
// in CSS pixels.
type Vision struct{ *Input }

// Vision is the page's input at points.
func (i *Input) Vision() Vision { return Vision{i} }

// Move moves the mouse to a point of the viewport, in CSS pixels.
func (i Vision) Move(x, y float64) Action {
	return i.atPoint("moving the mouse", x, y, func(ctx context.Context, _ *Outcome) error {
		pressed := i.mouse.currentPosition()
		return i.mouse.send(ctx, x, y, 0, []input.DispatchMouseEventParams{
			{Type: input.DispatchMouseEventTypeMouseMoved, Button: pressed.button, Buttons: pressed.buttons},
		})
	})
}

// Click clicks at a point; delay is how long the button is held.
func (i Vision) Click(x, y float64, button string, count int, delay time.Duration) Action {
	b, mask, err := mouseButton(button)
	if err != nil {
		return Action{Err: err}
	}
	if count == 0 {
		count = 1
	}
	if count < 1 || count > 3 {
		return Action{Err: fmt.Errorf("%d clicks: want 1 to 3", count)}
	}
	if longest := i.opts.CallTimeout / 2; delay < 0 || delay > longest {
		return Action{Err: fmt.Errorf("a delay of %v: want at most %v", delay, longest)}
	}
	return i.atPoint("clicking", x, y, func(ctx context.Context, _ *Outcome) error {
		events := clicks(b, mask, count)
		if delay == 0 {
			return i.mouse.send(ctx, x, y, 0, events)
		}
		for _, e := range events {
			if err := i.mouse.send(ctx, x, y, 0, []input.DispatchMouseEventParams{e}); err != nil {
				return err
			}
			if e.Type == input.DispatchMouseEventTypeMousePressed {
				if err := rest(ctx, delay); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// rest waits for a requested time.
func rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Button presses or releases a button at the mouse's position.
func (i Vision) Button(button string, press bool) Action {
	b, mask, err := mouseButton(button)
	if err != nil {
		return Action{Err: err}
	}
	position := i.mouse.currentPosition()
	operation, kind, pressed := "pressing a mouse button", input.DispatchMouseEventTypeMousePressed, position.buttons|mask
	if !press {
		operation, kind = "releasing a mouse button", input.DispatchMouseEventTypeMouseReleased
		pressed = position.buttons &^ mask
	}
	return i.atPoint(operation, position.x, position.y, func(ctx context.Context, _ *Outcome) error {
		return i.mouse.send(ctx, position.x, position.y, 0, []input.DispatchMouseEventParams{
			{Type: kind, Button: b, Buttons: pressed, ClickCount: 1},
		})
	})
}

// Wheel turns the wheel at the mouse's position, by CSS pixels.
func (i Vision) Wheel(dx, dy float64) Action {
	position := i.mouse.currentPosition()
	return i.atPoint("turning the mouse wheel", position.x, position.y, func(ctx context.Context, _ *Outcome) error {
		return i.wheel(ctx, nil, position.x, position.y, dx, dy)
	})
}

// wheel turns the wheel at a point, by CSS pixels, and waits for the scrolling in the document
// of the element there; nil: what is at the point of the page.
func (i *Input) wheel(ctx context.Context, at *spot, x, y, dx, dy float64) error {
	// Unlike the point, the distance is not in CSS pixels on a zoomed site.
	l, err := i.opts.Frames.Layout(ctx)
	if err != nil {
		return err
	}
	i.sentCount.Add(1)
	// cdproto's parameters omit a 0, which the browser requires here.
	err = i.opts.Session.Call(ctx, input.CommandDispatchMouseEvent, map[string]any{
		"type": input.DispatchMouseEventTypeMouseWheel, "x": x, "y": y, "deltaX": dx * l.Zoom, "deltaY": dy * l.Zoom,
	}, nil)
	if err != nil {
		return err
	}
	// The page scrolls later than it handles the event. What that changes is this action's.
	if at == nil {
		if at, err = i.Vision().elementAt(ctx, x, y); err != nil {
			return nil // there is none, or not any longer
		}
		defer at.Release(ctx)
	}
	err = i.opts.Lifecycle.UnlessLeaving(ctx, func(ctx context.Context) error {
		return at.Call(ctx, "scrolled", nil, nil)
	})
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// Drag drags from one point to another, as Drag does.
func (i Vision) Drag(fromX, fromY, toX, toY float64) Action {
	if toX < 0 || toY < 0 {
		return Action{Err: errOutside}
	}
	return i.atPoint("dragging", fromX, fromY, func(ctx context.Context, out *Outcome) error {
		if err := i.checkPoint(ctx, toX, toY); err != nil {
			return err
		}
		start, err := i.elementAt(ctx, fromX, fromY)
		if err != nil {
			return err
		}
		defer start.Release(ctx)
		_, err = i.dragToPoint(ctx, start, toX, toY, out)
		return err
	})
}

var errOutside = errors.New("the point is outside of the viewport")

func (i Vision) atPoint(operation string, x, y float64, do func(ctx context.Context, out *Outcome) error) Action {
	if x < 0 || y < 0 {
		return Action{Err: errOutside}
	}
	return Action{Operation: operation, Arrives: true, Do: func(ctx context.Context, out *Outcome) error {
		if err := i.opts.Screen.EmulateFocus(ctx); err != nil {
			return err
		}
		if err := i.checkPoint(ctx, x, y); err != nil {
			return err
		}
		return do(ctx, out)
	}}
}

// checkPoint refuses a point that the viewport does not show: the page gets no event there.
func (i Vision) checkPoint(ctx context.Context, x, y float64) error {
	var size [2]float64
	if err := i.opts.Frames.Evaluate(ctx, "[innerWidth, innerHeight]", &size); err != nil {
		return err
	}
	if x < size[0] && y < size[1] {
		return nil
	}
	return fmt.Errorf("the point %g, %g is outside of the viewport, which has %g × %g CSS pixels: scroll there first, "+
		"and take a new picture", x, y, size[0], size[1])
}

// elementAt is the main document's element at a point.
func (i Vision) elementAt(ctx context.Context, x, y float64) (*spot, error) {
	var (
		in *cdp.Session
		r  runtime.EvaluateResult
	)
	err := i.opts.Frames.InWorld(ctx, i.opts.Frames.Main(),
		func(session *cdp.Session, world runtime.ExecutionContextID) (err error) {
			in = session
			r, err = protocol.Call(ctx, session, runtime.Evaluate, runtime.EvaluateParams{
				Expression: fmt.Sprintf("document[$.elementFromPoint](%g, %g)", x, y), ContextID: world,
			})
			return err
		})
	if err != nil {
		return nil, err
	}
	if r.Result == nil || r.Result.ObjectID == "" {
		return nil, errOutside
	}
	return &spot{Element: &frame.Element{
		Target: "the point", Frame: i.opts.Frames.Main(), Session: in, Handle: r.Result.ObjectID,
	}, x: x, y: y}, nil
}
