package frame

import (
	"context"

	protocol "github.com/chromedp/cdproto/cdp"
)

// Rect is an area of the page's viewport, in CSS pixels.
type Rect struct {
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

// Show scrolls an element into view and returns its position. An element that is not
// fully in view moves to the middle, because sticky content at an edge could cover it.
func (t *Tree) Show(ctx context.Context, e *Element) (Rect, error) {
	return t.scrollTo(ctx, e, "center")
}

// Place scrolls an element into view, no further than necessary, and returns its
// position.
func (t *Tree) Place(ctx context.Context, e *Element) (Rect, error) {
	return t.scrollTo(ctx, e, "nearest")
}

// scrollTo scrolls an element that is not fully in view to a position named as in
// Element.scrollIntoView, and returns its position.
func (t *Tree) scrollTo(ctx context.Context, e *Element, where string) (Rect, error) {
	var r struct {
		Rect
		Gone, Top bool
	}
	if err := e.Call(ctx, "place", where, &r); err != nil {
		return Rect{}, err
	}
	if r.Gone {
		return Rect{}, t.Removed(ctx, e)
	}
	if r.Width == 0 || r.Height == 0 {
		return Rect{}, &TargetError{e.Target, "has no size or is not displayed"}
	}
	var err error
	if !r.Top {
		r.Rect, err = t.lift(ctx, e.Frame, r.Rect)
	}
	return r.Rect, err
}

// lift converts an area in a frame of another process to the page's viewport. For a
// rotated frame, the result is the bounding box.
func (t *Tree) lift(ctx context.Context, id protocol.FrameID, place Rect) (Rect, error) {
	for {
		root := t.processRoot(id)
		if root.Parent == "" {
			return place, nil
		}
		e, err := t.Owner(ctx, root)
		if err != nil {
			return place, err
		}
		var out struct {
			Rect
			Top bool
		}
		err = e.Call(ctx, "lift", place, &out)
		e.Release(ctx)
		if err != nil || out.Top {
			return out.Rect, err
		}
		place, id = out.Rect, root.Parent
	}
}

// Outward converts a point from a frame of another process to the page's viewport,
// through each process in between. covered is what overlaps the frame there.
func (t *Tree) Outward(ctx context.Context, id protocol.FrameID, x, y float64) (float64, float64, string, error) {
	for {
		root := t.processRoot(id)
		if root.Parent == "" {
			return x, y, "", nil
		}
		e, err := t.Owner(ctx, root)
		if err != nil {
			return 0, 0, "", err
		}
		var out struct {
			X, Y    float64
			Covered string
			Top     bool
		}
		err = e.Call(ctx, "outward", map[string]float64{"x": x, "y": y}, &out)
		e.Release(ctx)
		if err != nil || out.Covered != "" {
			return 0, 0, out.Covered, err
		}
		x, y = out.X, out.Y
		if out.Top {
			return x, y, "", nil
		}
		id = root.Parent
	}
}

// processRoot returns the topmost frame above this one that the same process
// renders.
func (t *Tree) processRoot(id protocol.FrameID) Frame {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.frames[id]
	if f == nil {
		return Frame{}
	}
	for f.Parent != "" {
		parent := t.frames[f.Parent]
		if parent == nil || parent.Session != f.Session {
			break
		}
		f = parent
	}
	return *f
}
