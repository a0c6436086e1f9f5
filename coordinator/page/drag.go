package page

import (
	"context"
	"time"

	"github.com/chromedp/cdproto/input"
)

// Drag drags one target onto another. What the page does with mouse events it
// sees as such; a drag of HTML's drag and drop is taken from the browser and
// replayed, since the browser's own would follow the user's pointer.
func (p *Page) Drag(ctx context.Context, from, to string) (Change, error) {
	patience := p.patience(0)
	return p.operate(ctx, "dragging "+from+" to "+to, 2*patience+p.browser.opts.CallTimeout, func(ctx context.Context) error {
		end, err := p.ready(ctx, to, "hover", patience)
		if err != nil {
			return err
		}
		end.release(ctx)
		start, err := p.ready(ctx, from, "click", patience)
		if err != nil {
			return err
		}
		defer start.release(ctx)
		// What the first made scroll may have moved the other.
		r, err := p.place(ctx, to)
		if err != nil {
			return err
		}
		return p.dragTo(ctx, start, r.X+r.Width/2, r.Y+r.Height/2)
	})
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
	if err := p.mouse(ctx, start.x, start.y, 0, []input.DispatchMouseEventParams{
		{Type: input.DispatchMouseEventTypeMouseMoved},
		{Type: input.DispatchMouseEventTypeMousePressed, Button: left, Buttons: 1, ClickCount: 1},
	}); err != nil {
		return err
	}
	// A drag begins only after the first few pixels.
	for _, share := range []float64{0.1, 0.5} {
		if err := p.mouse(ctx, start.x+(x-start.x)*share, start.y+(y-start.y)*share, 0, []input.DispatchMouseEventParams{held}); err != nil {
			return err
		}
	}
	var began bool
	if err := start.call(ctx, "dragBegan", nil, &began); err != nil {
		return err
	}
	if began {
		select {
		case e, ok := <-intercepted.C():
			var drag input.EventDragIntercepted
			if !ok || e.Decode(&drag) != nil || drag.Data == nil {
				break
			}
			return p.drop(ctx, drag.Data, x, y)
		case <-time.After(dragPatience):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return p.mouse(ctx, x, y, 0, []input.DispatchMouseEventParams{
		held,
		{Type: input.DispatchMouseEventTypeMouseReleased, Button: left, ClickCount: 1},
	})
}

// drop replays a drag over the target and lets go.
func (p *Page) drop(ctx context.Context, data *input.DragData, x, y float64) error {
	if err := p.dragEvents(ctx, data, x, y); err != nil {
		return err
	}
	return p.mouse(ctx, x, y, 0, []input.DispatchMouseEventParams{{Type: input.DispatchMouseEventTypeMouseReleased, Button: input.MouseButtonLeft, ClickCount: 1}})
}
