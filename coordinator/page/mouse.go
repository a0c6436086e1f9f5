package page

import (
	"context"
	"errors"
	"fmt"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/page/frame"
)

// pointer is where the mouse is and which of its buttons are held.
type pointer struct {
	x, y    float64
	buttons int64
	button  input.MouseButton // the one that was pressed last and is still held
}

// clicks is a movement and so many clicks, of a button whose bit is mask.
func clicks(button input.MouseButton, mask int64, count int) []input.DispatchMouseEventParams {
	events := []input.DispatchMouseEventParams{{Type: input.DispatchMouseEventTypeMouseMoved}}
	for n := 1; n <= count; n++ {
		events = append(events,
			input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMousePressed, Button: button, Buttons: mask, ClickCount: int64(n)},
			input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseReleased, Button: button, ClickCount: int64(n)})
	}
	return events
}

// MouseMove moves the mouse to a point of the viewport, in CSS pixels.
func (p *Page) MouseMove(ctx context.Context, x, y float64) (Change, error) {
	return p.atPoint(ctx, "moving the mouse", x, y, func(ctx context.Context) error {
		held := p.pointerNow()
		return p.mouse(ctx, x, y, 0, []input.DispatchMouseEventParams{{Type: input.DispatchMouseEventTypeMouseMoved, Button: held.button, Buttons: held.buttons}})
	})
}

// MouseClick clicks at a point. Delay is how long the button is held.
func (p *Page) MouseClick(ctx context.Context, x, y float64, button string, count int, delay time.Duration) (Change, error) {
	b, mask, err := mouseButton(button)
	if err != nil {
		return Change{}, err
	}
	if count == 0 {
		count = 1
	}
	if count < 1 || count > 3 {
		return Change{}, fmt.Errorf("%d clicks: want 1 to 3", count)
	}
	if delay < 0 || delay > p.browser.opts.CallTimeout/2 {
		return Change{}, fmt.Errorf("a delay of %v: want at most %v", delay, p.browser.opts.CallTimeout/2)
	}
	return p.atPoint(ctx, "clicking", x, y, func(ctx context.Context) error {
		events := clicks(b, mask, count)
		if delay == 0 {
			return p.mouse(ctx, x, y, 0, events)
		}
		for _, e := range events {
			if err := p.mouse(ctx, x, y, 0, []input.DispatchMouseEventParams{e}); err != nil {
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

// rest passes time that was asked for.
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

// MouseDown presses a button where the mouse is.
func (p *Page) MouseDown(ctx context.Context, button string) (Change, error) {
	return p.mouseButtonEvent(ctx, "pressing a mouse button", button, input.DispatchMouseEventTypeMousePressed)
}

// MouseUp releases a button where the mouse is.
func (p *Page) MouseUp(ctx context.Context, button string) (Change, error) {
	return p.mouseButtonEvent(ctx, "releasing a mouse button", button, input.DispatchMouseEventTypeMouseReleased)
}

func (p *Page) mouseButtonEvent(ctx context.Context, doing, button string, kind input.DispatchMouseEventType) (Change, error) {
	b, mask, err := mouseButton(button)
	if err != nil {
		return Change{}, err
	}
	at := p.pointerNow()
	return p.atPoint(ctx, doing, at.x, at.y, func(ctx context.Context) error {
		held := at.buttons | mask
		if kind == input.DispatchMouseEventTypeMouseReleased {
			held = at.buttons &^ mask
		}
		return p.mouse(ctx, at.x, at.y, 0, []input.DispatchMouseEventParams{{Type: kind, Button: b, Buttons: held, ClickCount: 1}})
	})
}

// MouseWheel turns the wheel where the mouse is, by CSS pixels.
func (p *Page) MouseWheel(ctx context.Context, dx, dy float64) (Change, error) {
	at := p.pointerNow()
	return p.atPoint(ctx, "turning the mouse wheel", at.x, at.y, func(ctx context.Context) error {
		// Unlike the point, the way is not in CSS pixels where the site is zoomed.
		l, err := p.frames.Layout(ctx)
		if err != nil {
			return err
		}
		p.inputs.Add(1)
		// cdproto's parameters leave out a 0, which the browser demands here.
		return p.session.Call(ctx, input.CommandDispatchMouseEvent, map[string]any{
			"type": input.DispatchMouseEventTypeMouseWheel, "x": at.x, "y": at.y, "deltaX": dx * l.Zoom, "deltaY": dy * l.Zoom,
		}, nil)
	})
}

// MouseDrag drags from one point to another, as Drag does.
func (p *Page) MouseDrag(ctx context.Context, fromX, fromY, toX, toY float64) (Change, error) {
	if toX < 0 || toY < 0 {
		return Change{}, errOutside
	}
	return p.atPoint(ctx, "dragging", fromX, fromY, func(ctx context.Context) error {
		start, err := p.elementAt(ctx, fromX, fromY)
		if err != nil {
			return err
		}
		defer start.Release(ctx)
		_, err = p.dragTo(ctx, start, toX, toY, func() (float64, float64, error) { return toX, toY, nil })
		return err
	})
}

var errOutside = errors.New("the point is outside of the viewport")

func (p *Page) atPoint(ctx context.Context, doing string, x, y float64, do func(ctx context.Context) error) (Change, error) {
	if x < 0 || y < 0 {
		return Change{}, errOutside
	}
	return p.operate(ctx, doing, p.browser.opts.CallTimeout, func(ctx context.Context) error {
		if err := p.emulateFocus(ctx); err != nil {
			return err
		}
		return do(ctx)
	})
}

func (p *Page) pointerNow() pointer {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pointer
}

// elementAt is the main document's element at a point.
func (p *Page) elementAt(ctx context.Context, x, y float64) (*spot, error) {
	session, world, err := p.frames.World(ctx, p.frames.Main())
	if err != nil {
		return nil, err
	}
	r, err := protocol.Call(ctx, session, runtime.Evaluate, runtime.EvaluateParams{
		Expression: fmt.Sprintf("document.elementFromPoint(%g, %g)", x, y), ContextID: world,
	})
	if err != nil {
		return nil, err
	}
	if r.Result == nil || r.Result.ObjectID == "" {
		return nil, errOutside
	}
	return &spot{Element: &frame.Element{Target: "the point", Frame: p.frames.Main(), Session: session, Handle: r.Result.ObjectID}, x: x, y: y}, nil
}
