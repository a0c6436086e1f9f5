package page

import (
	"context"
	_ "embed"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
)

//go:embed place.js
var placeScript string

//go:embed outward.js
var outwardScript string

// rect is a place in the page's viewport, in CSS pixels.
type rect struct{ X, Y, Width, Height float64 }

// place scrolls an element into view and tells where it is.
func (p *Page) place(ctx context.Context, target string) (rect, error) {
	e, err := p.find(ctx, target)
	if err != nil {
		return rect{}, err
	}
	defer e.release(ctx)
	var r struct {
		rect
		Gone, Top bool
	}
	if err := e.call(ctx, placeScript, nil, &r); err != nil {
		return rect{}, err
	}
	if r.Gone {
		return rect{}, &StaleRefError{target, e.label, "its element was removed"}
	}
	if r.Width == 0 || r.Height == 0 {
		return rect{}, &TargetError{target, "has no size or is not displayed"}
	}
	if !r.Top {
		r.X, r.Y, _, err = p.outward(ctx, e.frame, r.X, r.Y)
	}
	return r.rect, err
}

// outward moves a point from a frame of another process to the page's viewport,
// through each process in between. covered tells what lies over the frame there.
func (p *Page) outward(ctx context.Context, id protocol.FrameID, x, y float64) (float64, float64, string, error) {
	for {
		root := p.processRoot(id)
		if root.parent == "" {
			return x, y, "", nil
		}
		parentSession, world, err := p.world(ctx, root.parent)
		if err != nil {
			return 0, 0, "", err
		}
		owner, err := protocol.Call(ctx, parentSession, dom.GetFrameOwner, dom.GetFrameOwnerParams{FrameID: root.id})
		if err != nil {
			return 0, 0, "", err
		}
		r, err := protocol.Call(ctx, parentSession, dom.ResolveNode, dom.ResolveNodeParams{BackendNodeID: owner.BackendNodeID, ExecutionContextID: world})
		if err != nil {
			return 0, 0, "", err
		}
		e := &element{target: "frame", frame: root.parent, session: parentSession, handle: r.Object.ObjectID}
		var out struct {
			X, Y    float64
			Covered string
			Top     bool
		}
		err = e.call(ctx, outwardScript, map[string]float64{"x": x, "y": y}, &out)
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
