package page

import (
	"context"
	"time"

	"github.com/chromedp/cdproto/input"

	"browser-coordinator/coordinator/cdp"
)

// Drag drags one target onto another. What the page does with mouse events it
// sees as such; a drag of HTML's drag and drop is taken from the browser and
// replayed, since the browser's own would follow the user's pointer.
func (p *Page) Drag(ctx context.Context, from, to string) (Change, error) {
	patience := p.patience(0)
	return p.operate(ctx, "dragging "+from+" to "+to, 2*patience+p.browser.opts.CallTimeout, func(ctx context.Context) error {
		start, x, y, err := p.dragSpots(ctx, from, to, patience)
		if err != nil {
			return err
		}
		defer start.release(ctx)
		return p.dragTo(ctx, start, x, y)
	})
}

// dragSpots waits until both targets are ready, and gives where the drag begins,
// to be released, and the middle of where it ends.
func (p *Page) dragSpots(ctx context.Context, from, to string, patience time.Duration) (start *spot, x, y float64, err error) {
	// Whether the second moves is seen while the first is watched, which takes a
	// frame.
	end, err := p.readyFor(ctx, to, "hover", patience, true)
	if err != nil {
		return nil, 0, 0, err
	}
	defer func() { end.release(ctx) }()
	before, err := p.placeOf(ctx, end.element)
	if err != nil {
		return nil, 0, 0, err
	}
	start, err = p.ready(ctx, from, "click", patience)
	if err != nil {
		return nil, 0, 0, err
	}
	after, err := p.placeOf(ctx, end.element)
	if err == nil && end.unproven && after != before {
		// It moves, or the first has made the page scroll: that would take it from
		// where it was found.
		var again *spot
		if again, err = p.ready(ctx, to, "hover", patience); err == nil {
			end.become(ctx, again)
			start.release(ctx)
			start, err = p.ready(ctx, from, "click", patience)
		}
		if err == nil {
			after, err = p.placeOf(ctx, end.element)
		}
	}
	if err != nil {
		if start != nil {
			start.release(ctx)
		}
		return nil, 0, 0, err
	}
	return start, after.X + after.Width/2, after.Y + after.Height/2, nil
}

// dragPatience bounds the wait for the browser's word of a drag that the page
// has begun.
const dragPatience = time.Second

func (p *Page) dragTo(ctx context.Context, start *spot, x, y float64) error {
	intercepted := p.session.Listen(input.DragIntercepted.Method)
	defer intercepted.Close()
	if err := start.call(ctx, "watchDrag", nil, nil); err != nil {
		return err
	}
	if err := p.session.Call(ctx, input.CommandSetInterceptDrags, input.SetInterceptDragsParams{Enabled: true}, nil); err != nil {
		return err
	}
	defer func() {
		_, _ = p.session.Start(context.WithoutCancel(ctx), input.CommandSetInterceptDrags, input.SetInterceptDragsParams{})
	}()
	const left = input.MouseButtonLeft
	held := input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved, Button: left, Buttons: 1}
	data, err := p.dragHalfway(ctx, start, x, y, held, intercepted)
	switch {
	case err != nil:
		return midway(err, "the drag has begun, and nothing was dropped")
	case data != nil:
		return p.drop(ctx, data, x, y)
	}
	return p.mouse(ctx, x, y, 0, []input.DispatchMouseEventParams{
		held,
		{Type: input.DispatchMouseEventTypeMouseReleased, Button: left, ClickCount: 1},
	})
}

// dragHalfway presses the button and begins to move. It returns the data of a drag
// of HTML's, if that has begun.
func (p *Page) dragHalfway(ctx context.Context, start *spot, x, y float64, held input.DispatchMouseEventParams, intercepted *cdp.Subscription) (*input.DragData, error) {
	const left = input.MouseButtonLeft
	if err := p.mouse(ctx, start.x, start.y, 0, []input.DispatchMouseEventParams{
		{Type: input.DispatchMouseEventTypeMouseMoved},
		{Type: input.DispatchMouseEventTypeMousePressed, Button: left, Buttons: 1, ClickCount: 1},
	}); err != nil {
		return nil, err
	}
	// A drag begins only after the first few pixels.
	for _, share := range []float64{0.1, 0.5} {
		if err := p.mouse(ctx, start.x+(x-start.x)*share, start.y+(y-start.y)*share, 0, []input.DispatchMouseEventParams{held}); err != nil {
			return nil, err
		}
	}
	var began bool
	if err := start.call(ctx, "dragBegan", nil, &began); err != nil || !began {
		return nil, err
	}
	select {
	case e, ok := <-intercepted.C():
		var drag input.EventDragIntercepted
		if !ok || e.Decode(&drag) != nil {
			return nil, nil
		}
		return drag.Data, nil
	case <-time.After(dragPatience):
		return nil, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// drop replays a drag over the target and lets go.
func (p *Page) drop(ctx context.Context, data *input.DragData, x, y float64) error {
	if err := p.dragEvents(ctx, data, x, y); err != nil {
		return err
	}
	return p.mouse(ctx, x, y, 0, []input.DispatchMouseEventParams{{Type: input.DispatchMouseEventTypeMouseReleased, Button: input.MouseButtonLeft, ClickCount: 1}})
}
