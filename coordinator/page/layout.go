package page

import (
	"context"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	cdppage "github.com/chromedp/cdproto/page"
)

// layout is how a page is laid out now. Its lengths are in CSS pixels.
type layout struct {
	view    *cdppage.VisualViewport // its place in the page is from the left and top edge
	content *dom.Rect               // the whole page
	// zoom is the user's own for the site: 1.25 where the browser's menu says 125 %.
	// Sizes of windows and clips are given without it, in device-independent pixels.
	zoom    float64
	density float64 // pixels of the screen per CSS pixel; the zoom is in it
}

func (p *Page) layout(ctx context.Context) (layout, error) {
	var ratio float64
	if err := p.fixed(ctx, "devicePixelRatio", &ratio); err != nil {
		return layout{}, err
	}
	metrics, err := protocol.Call(ctx, p.session, cdppage.GetLayoutMetrics, protocol.Empty{})
	if err != nil {
		return layout{}, err
	}
	l := layout{view: metrics.CSSVisualViewport, content: metrics.CSSContentSize, zoom: metrics.CSSVisualViewport.Zoom, density: 1}
	// Scripts, and the browser here, count from where scrolling begins: on the right in
	// a page that is written from right to left.
	if fixed := metrics.CSSLayoutViewport; fixed != nil {
		if float64(fixed.PageX) > l.view.PageX-l.view.OffsetX+1 {
			l.view.PageX += l.content.Width - float64(fixed.ClientWidth)
		}
		if float64(fixed.PageY) > l.view.PageY-l.view.OffsetY+1 {
			l.view.PageY += l.content.Height - float64(fixed.ClientHeight)
		}
	}
	if l.zoom <= 0 { // an old browser does not tell it
		l.zoom = 1
	}
	if ratio >= 0.1 && ratio <= 10 {
		l.density = ratio
	}
	return l, nil
}

// inPage is a place of the window as one of the page.
func (l layout) inPage(place rect) rect {
	place.X += l.view.PageX - l.view.OffsetX
	place.Y += l.view.PageY - l.view.OffsetY
	return place
}

// clip is a place of the page as the browser captures it.
func (l layout) clip(place rect, scale float64) *cdppage.Viewport {
	return &cdppage.Viewport{X: place.X * l.zoom, Y: place.Y * l.zoom, Width: place.Width * l.zoom, Height: place.Height * l.zoom, Scale: scale}
}
