package page

import (
	"context"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
)

// rect is a place in the page's viewport, in CSS pixels.
type rect struct {
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

// showPlace scrolls an element into view and tells where it is. Where it was not
// wholly in view, it comes to the middle: what sticks to an edge of the window
// covers it there.
func (p *Page) showPlace(ctx context.Context, target string) (rect, error) {
	e, err := p.find(ctx, target)
	if err != nil {
		return rect{}, err
	}
	defer e.release(ctx)
	return p.scrollTo(ctx, e, "center")
}

// placeOf scrolls an element into view, not further than it must, and tells where
// it is.
func (p *Page) placeOf(ctx context.Context, e *element) (rect, error) {
	return p.scrollTo(ctx, e, "nearest")
}

// scrollTo scrolls an element that is not wholly in view to such a part of it, as
// Element.scrollIntoView names it, and tells where it is.
func (p *Page) scrollTo(ctx context.Context, e *element, where string) (rect, error) {
	var r struct {
		rect
		Gone, Top bool
	}
	if err := e.call(ctx, "place", where, &r); err != nil {
		return rect{}, err
	}
	if r.Gone {
		return rect{}, p.removed(ctx, e)
	}
	if r.Width == 0 || r.Height == 0 {
		return rect{}, &TargetError{e.target, "has no size or is not displayed"}
	}
	var err error
	if !r.Top {
		r.rect, err = p.lift(ctx, e.frame, r.rect)
	}
	return r.rect, err
}

// lift moves a place in a frame of another process to the page's viewport. Where
// a frame is turned, the place is the box around what it becomes.
func (p *Page) lift(ctx context.Context, id protocol.FrameID, place rect) (rect, error) {
	for {
		root := p.processRoot(id)
		if root.parent == "" {
			return place, nil
		}
		e, err := p.frameElement(ctx, root)
		if err != nil {
			return place, err
		}
		var out struct {
			rect
			Top bool
		}
		err = e.call(ctx, "lift", place, &out)
		e.release(ctx)
		if err != nil || out.Top {
			return out.rect, err
		}
		place, id = out.rect, root.parent
	}
}

// frameElement finds the element of a frame in the process that renders its
// parent.
func (p *Page) frameElement(ctx context.Context, f frame) (*element, error) {
	session, world, err := p.world(ctx, f.parent)
	if err != nil {
		return nil, err
	}
	owner, err := protocol.Call(ctx, session, dom.GetFrameOwner, dom.GetFrameOwnerParams{FrameID: f.id})
	if err != nil {
		return nil, err
	}
	r, err := protocol.Call(ctx, session, dom.ResolveNode, dom.ResolveNodeParams{BackendNodeID: owner.BackendNodeID, ExecutionContextID: world})
	if err != nil {
		return nil, err
	}
	return &element{target: "frame", frame: f.parent, session: session, handle: r.Object.ObjectID}, nil
}

// outward moves a point from a frame of another process to the page's viewport,
// through each process in between. covered tells what lies over the frame there.
func (p *Page) outward(ctx context.Context, id protocol.FrameID, x, y float64) (float64, float64, string, error) {
	for {
		root := p.processRoot(id)
		if root.parent == "" {
			return x, y, "", nil
		}
		e, err := p.frameElement(ctx, root)
		if err != nil {
			return 0, 0, "", err
		}
		var out struct {
			X, Y    float64
			Covered string
			Top     bool
		}
		err = e.call(ctx, "outward", map[string]float64{"x": x, "y": y}, &out)
		e.release(ctx)
		if err != nil || out.Covered != "" {
			return 0, 0, out.Covered, err
		}
		x, y = out.X, out.Y
		if out.Top {
			return x, y, "", nil
		}
		id = root.parent
	}
}

// processRoot returns the topmost frame above this one that the same process
// renders.
func (p *Page) processRoot(id protocol.FrameID) frame {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.frames[id]
	if f == nil {
		return frame{}
	}
	for f.parent != "" {
		parent := p.frames[f.parent]
		if parent == nil || parent.session != f.session {
			break
		}
		f = parent
	}
	return *f
}

// reach moves the pointer to a point in a frame of another process and returns
// the point in the page once the pointer has arrived in that frame. The browser
// decides by what was drawn last which process an event goes to; after scrolling
// that may be another, and a click would hit something else.
func (p *Page) reach(ctx context.Context, e *element, innerX, innerY float64, patience time.Duration) (x, y float64, why string, err error) {
	end := time.Now().Add(patience)
	for budget := arrivalBudget; time.Now().Before(end); budget *= 2 {
		x, y, why, err = p.outward(ctx, e.frame, innerX, innerY)
		if err != nil || why != "" {
			return 0, 0, why, err
		}
		var arrived bool
		if arrived, err = p.arrives(ctx, e, x, y, min(budget, time.Until(end))); arrived || err != nil {
			return x, y, "", err
		}
	}
	return 0, 0, "input events do not reach its frame", nil
}

// arrivalBudget is how long the first movement of the pointer may take to arrive.
// Each further one may take twice as long: where little is drawn or much is going
// on, a frame takes longer than that, and a movement counts only while it is
// listened for.
const arrivalBudget = 100 * time.Millisecond

func (p *Page) arrives(ctx context.Context, e *element, x, y float64, budget time.Duration) (bool, error) {
	listening, err := e.start(ctx, "arrival", budget.Milliseconds())
	if err != nil {
		return false, err
	}
	// Two movements: one to the same place would be none.
	for _, x := range []float64{x - 1, x} {
		move := input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved, X: x, Y: y}
		if err := p.session.Call(ctx, input.CommandDispatchMouseEvent, move, nil); err != nil {
			return false, err
		}
	}
	var r runtime.CallFunctionOnResult
	if err := listening.Wait(ctx, &r); err != nil {
		return false, e.gone(err)
	}
	return r.Result != nil && string(r.Result.Value) == "true", nil
}
