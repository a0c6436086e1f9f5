package frame

import (
	"context"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	cdppage "github.com/chromedp/cdproto/page"
)

// Layout is the current layout of a page. Its lengths are in CSS pixels.
type Layout struct {
	View    *cdppage.VisualViewport // its position in the page counts from the left and top edge
	Content *dom.Rect               // the whole page
	// Zoom is the zoom that the user has set for the site: 1.25 for 125 % in the browser's
	// menu. Sizes of windows and clips exclude it; they are in device-independent pixels.
	Zoom    float64
	Density float64 // pixels of the screen per CSS pixel, including the zoom
}

// Layout reads the current layout of the page.
func (t *Tree) Layout(ctx context.Context) (Layout, error) {
	var ratio float64
	if err := t.Evaluate(ctx, "devicePixelRatio", &ratio); err != nil {
		return Layout{}, err
	}
	metrics, err := protocol.Call(ctx, t.session, cdppage.GetLayoutMetrics, protocol.Empty{})
	if err != nil {
		return Layout{}, err
	}
	l := Layout{
		View: metrics.CSSVisualViewport, Content: metrics.CSSContentSize, Zoom: metrics.CSSVisualViewport.Zoom,
		Density: 1,
	}
	// Scripts, and the browser here, count from the scroll origin, which is on the right in
	// a right-to-left page.
	if fixed := metrics.CSSLayoutViewport; fixed != nil {
		if float64(fixed.PageX) > l.View.PageX-l.View.OffsetX+1 {
			l.View.PageX += l.Content.Width - float64(fixed.ClientWidth)
		}
		if float64(fixed.PageY) > l.View.PageY-l.View.OffsetY+1 {
			l.View.PageY += l.Content.Height - float64(fixed.ClientHeight)
		}
	}
	if l.Zoom <= 0 { // an old browser does not report it
		l.Zoom = 1
	}
	if ratio >= 0.1 && ratio <= 10 {
		l.Density = ratio
	}
	return l, nil
}

// InPage converts a position in the viewport to one in the page.
func (l Layout) InPage(place Rect) Rect {
	place.X += l.View.PageX - l.View.OffsetX
	place.Y += l.View.PageY - l.View.OffsetY
	return place
}

// Clip converts a position in the page to a clip for the browser's capture.
func (l Layout) Clip(place Rect, scale float64) *cdppage.Viewport {
	return &cdppage.Viewport{
		X: place.X * l.Zoom, Y: place.Y * l.Zoom, Width: place.Width * l.Zoom, Height: place.Height * l.Zoom,
		Scale: scale,
	}
}
