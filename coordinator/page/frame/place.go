package frame

import (
	"context"
	_ "embed"

	protocol "github.com/chromedp/cdproto/cdp"
)

// Rect is an area of the page's viewport, in CSS pixels.
type Rect struct {
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

// In reports whether the area is inside another.
func (r Rect) In(other Rect) bool {
	return r.X >= other.X && r.Y >= other.Y && r.X+r.Width <= other.X+other.Width &&
		r.Y+r.Height <= other.Y+other.Height
}

// Intersect returns the part of the area that is inside another.
func (r Rect) Intersect(other Rect) Rect {
	left, top := max(r.X, other.X), max(r.Y, other.Y)
	return Rect{
		X: left, Y: top,
		Width: min(r.X+r.Width, other.X+other.Width) - left, Height: min(r.Y+r.Height, other.Y+other.Height) - top,
	}
}

// Place scrolls an element that is not fully in view to a position named as in
// Element.scrollIntoView, and returns its position. Sticky content at an edge cannot cover
// what is in the "center"; to the "nearest" position, the page scrolls no further than
// necessary. It does not scroll at all if where is empty.
func (t *Tree) Place(ctx context.Context, e *Element, where string) (Rect, error) {
	var r struct {
		Rect
		Gone, Top bool
		Up        int
	}
	if err := e.Call(ctx, "place", where, &r); err != nil {
		return Rect{}, err
	}
	if r.Gone {
		return Rect{}, t.Removed(ctx, e)
	}
	if r.Width == 0 || r.Height == 0 {
		return Rect{}, &TargetError{Target: e.Target, Reason: "has no size or is not displayed"}
	}
	if r.Top {
		return r.Rect, nil
	}
	place, _, err := climb(ctx, t, "lift", e.Frame, r.Up, r.Rect)
	return place, err
}

//go:embed places.js
var placesFunction string

// Places are the positions of numbered elements of a frame, by their numbers, as far as
// they are shown. It scrolls nothing.
func (t *Tree) Places(ctx context.Context, id protocol.FrameID, numbers []int) (map[int]Rect, error) {
	var found []struct {
		Rect
		N, Up int
		Top   bool
	}
	if err := t.Run(ctx, id, placesFunction, numbers, &found); err != nil {
		return nil, err
	}
	places := make(map[int]Rect, len(found))
	for _, f := range found {
		if !f.Top {
			var err error
			if f.Rect, _, err = climb(ctx, t, "lift", id, f.Up, f.Rect); err != nil {
				return nil, err
			}
		}
		places[f.N] = f.Rect
	}
	return places, nil
}

// Outward converts a point of a frame to the page's viewport; up is how many frames above
// id the frame is. covered is what overlaps a frame there.
func (t *Tree) Outward(
	ctx context.Context, id protocol.FrameID, up int, x, y float64,
) (px, py float64, covered string, err error) {
	place, covered, err := climb(ctx, t, "outward", id, up, Rect{X: x, Y: y})
	return place.X, place.Y, covered, err
}

// climb converts an area in the frame that is up frames above id to the page's viewport.
// At each change of the origin, a script cannot go on by itself: climb calls a function of
// the library on the frame's element, which goes on from there, unless it finds the element
// covered. For a rotated frame, the result is the bounding box.
func climb(
	ctx context.Context, t *Tree, function string, id protocol.FrameID, up int, place Rect,
) (_ Rect, covered string, _ error) {
	for {
		root, _ := t.Frame(id)
		for range up {
			root, _ = t.Frame(root.Parent)
		}
		if root.Parent == "" {
			return place, "", nil
		}
		e, err := t.Owner(ctx, root)
		if err != nil {
			return place, "", err
		}
		var out struct {
			Rect
			Covered string
			Top     bool
			Up      int
		}
		err = e.Call(ctx, function, place, &out)
		e.Release(ctx)
		if err != nil || out.Top || out.Covered != "" {
			return out.Rect, out.Covered, err
		}
		place, id, up = out.Rect, root.Parent, out.Up
	}
}
