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
	Inner   Size    // of the viewport, with its scroll bars
	Outer   Size    // of the window, as the page knows it
}

// Size is a width and a height.
type Size struct{ Width, Height float64 }

// Layout reads the current layout of the page.
func (t *Tree) Layout(ctx context.Context) (Layout, error) {
	var window [5]float64
	err := t.Evaluate(ctx, "[devicePixelRatio, innerWidth, innerHeight, outerWidth, outerHeight]", &window)
	if err != nil {
		return Layout{}, err
	}
	ratio := window[0]
	metrics, err := protocol.Call(ctx, t.session, cdppage.GetLayoutMetrics, protocol.Empty{})
	if err != nil {
		return Layout{}, err
	}
	l := Layout{
		View: metrics.CSSVisualViewport, Content: metrics.CSSContentSize, Zoom: metrics.CSSVisualViewport.Zoom,
		Density: 1, Inner: Size{window[1], window[2]}, Outer: Size{window[3], window[4]},
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

// scrollBar is the largest width of a scroll bar.
const scrollBar = 20

// Visible is what the window shows of the page, with its scroll bars. What is pinched has none.
func (l Layout) Visible() Rect {
	r := Rect{X: l.View.PageX, Y: l.View.PageY, Width: l.View.ClientWidth, Height: l.View.ClientHeight}
	if l.View.Scale != 1 {
		return r
	}
	if bar := l.Inner.Width - r.Width; bar > 0 && bar <= scrollBar {
		r.Width = l.Inner.Width
	}
	if bar := l.Inner.Height - r.Height; bar > 0 && bar <= scrollBar {
		r.Height = l.Inner.Height
	}
	return r
}

// Pixels is where an area of the page is in a picture of what the window shows.
func (l Layout) Pixels(area Rect) Rect {
	scale := l.Density * l.View.Scale
	return Rect{
		X: (area.X - l.View.PageX) * scale, Y: (area.Y - l.View.PageY) * scale,
		Width: area.Width * scale, Height: area.Height * scale,
	}
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
