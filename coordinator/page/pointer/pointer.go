// Package pointer shows the user of a page where an agent acts in it, in the browser's own overlay:
// nothing is added to the page, and the page gets no event.
package pointer

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/overlay"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
)

// Options of a Pointer. All are required.
type Options struct {
	Conn   *cdp.Conn
	ID     target.ID // of the page
	Frames *frame.Tree
	Rest   time.Duration // how long it is shown after the last action
	// Go starts a goroutine that the browser's connection waits for. It fails once that has ended.
	Go func(func()) error
}

// Pointer is shown where the agent has acted last. It goes some time after that, with the document,
// and with the connection. It has a session of its own, since each has one thing in the overlay:
// it replaces no highlight.
type Pointer struct {
	opts Options

	mu       sync.Mutex // guards the fields that follow, and orders what is sent to the overlay
	at       frame.Point
	document int          // that at is in, as frame.Frame.Generation
	until    time.Time    // when it goes; zero: it was never shown
	drawing  bool         // draw runs
	session  *cdp.Session // nil: it was never drawn
	rest     *time.Timer  // hides it; nil: it was never shown
	captures int          // under way: it is in none of them
}

// New returns the pointer of a page.
func New(opts Options) *Pointer { return &Pointer{opts: opts} }

// drawTimeout bounds how long the browser takes to draw it.
const drawTimeout = 10 * time.Second

// Show shows it at a point of the viewport, in CSS pixels. It does not wait for the browser's
// responses: mu is held while a command is sent, not until its response comes.
func (p *Pointer) Show(at frame.Point) {
	p.mu.Lock()
	p.at, p.document, p.until = at, p.shownDocument(), time.Now().Add(p.opts.Rest)
	if p.rest != nil {
		p.rest.Stop()
	}
	p.rest = time.AfterFunc(p.opts.Rest, func() { _ = p.opts.Go(p.hide) })
	p.mu.Unlock()
	p.redraw()
}

// Conceal hides it from a capture, until reveal is called.
func (p *Pointer) Conceal(ctx context.Context) (reveal func()) {
	p.mu.Lock()
	p.captures++
	erased := p.erase(ctx)
	p.mu.Unlock()
	if erased != nil {
		_ = erased.Wait(ctx, nil) // a page that has gone shows none
	}
	return func() {
		p.mu.Lock()
		p.captures--
		p.mu.Unlock()
		p.redraw()
	}
}

// Committed hides it in another document, in which it may have been drawn meanwhile. It waits for nothing.
// Once the connection has ended, the browser shows no pointer.
func (p *Pointer) Committed() { _ = p.opts.Go(p.hide) }

// hide hides it after the last action, and in another document.
func (p *Pointer) hide() {
	ctx, cancel := context.WithTimeout(context.Background(), drawTimeout)
	defer cancel()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.isVisible() {
		p.erase(ctx)
	}
}

// erase removes it from the overlay; nil: it was never there. mu is held.
func (p *Pointer) erase(ctx context.Context) *cdp.Pending {
	if p.session == nil {
		return nil
	}
	erased, _ := p.session.Start(ctx, overlay.CommandHideHighlight, nil)
	return erased
}

// redraw has it drawn where it is by then, unless the connection has ended. mu is not held.
func (p *Pointer) redraw() {
	p.mu.Lock()
	starts := !p.drawing && p.isVisible()
	p.drawing = p.drawing || starts
	p.mu.Unlock()
	if starts {
		_ = p.opts.Go(p.draw)
	}
}

// isVisible reports whether the user is to see it. mu is held.
func (p *Pointer) isVisible() bool {
	return p.captures == 0 && time.Now().Before(p.until) && p.document == p.shownDocument()
}

// shownDocument is the document that the page shows.
func (p *Pointer) shownDocument() (generation int) {
	main, _ := p.opts.Frames.Frame(p.opts.Frames.Main())
	return main.Generation
}

// draw draws it. If that fails, the next action tries again.
func (p *Pointer) draw() {
	ctx, cancel := context.WithTimeout(context.Background(), drawTimeout)
	defer cancel()
	session, err := p.attach(ctx)
	var pixel float64
	if err == nil {
		pixel, err = quadPixel(ctx, session)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drawing = false
	if err == nil && p.isVisible() {
		_, _ = session.Start(ctx, overlay.CommandHighlightQuad, arrow(p.at, pixel))
	}
}

// attach returns the session in whose overlay it is drawn.
func (p *Pointer) attach(ctx context.Context) (*cdp.Session, error) {
	p.mu.Lock()
	session := p.session
	p.mu.Unlock()
	if session != nil {
		return session, nil
	}
	session, err := p.opts.Conn.Attach(ctx, p.opts.ID)
	if err != nil {
		return nil, err
	}
	for _, command := range []string{dom.CommandEnable, overlay.CommandEnable} {
		_, _ = session.Start(ctx, command, nil) // a browser that has no overlay shows nothing
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.session = session
	return session, nil
}

// quadPixel is the length of a CSS pixel in a quad of the overlay. Chromium multiplies a quad by the density
// of the screen, by which it would have to divide it. The zoom of the site counts, an emulated density does not.
func quadPixel(ctx context.Context, s *cdp.Session) (float64, error) {
	var metrics struct {
		Screen struct {
			ClientWidth float64 `json:"clientWidth"`
		} `json:"visualViewport"` // in pixels of the screen
		CSS struct {
			ClientWidth float64 `json:"clientWidth"`
			Zoom        float64 `json:"zoom"`
		} `json:"cssVisualViewport"`
	}
	if err := s.Call(ctx, cdppage.CommandGetLayoutMetrics, nil, &metrics); err != nil {
		return 0, err
	}
	zoom := metrics.CSS.Zoom
	density := metrics.Screen.ClientWidth / metrics.CSS.ClientWidth / zoom
	if !(zoom > 0 && density > 0) || math.IsInf(density, 0) {
		return 0, errNoPlace
	}
	return zoom / density, nil
}

var errNoPlace = errors.New("the browser does not report where the overlay has a point of the page")

// shape is the arrow of a mouse pointer, whose tip is at the point.
var shape = []frame.Point{{X: 0, Y: 0}, {X: 15, Y: 10}, {X: 7, Y: 11.5}, {X: 3, Y: 18}}

func arrow(tip frame.Point, pixel float64) overlay.HighlightQuadParams {
	quad := make(dom.Quad, 0, 2*len(shape))
	for _, corner := range shape {
		quad = append(quad, (tip.X+corner.X)*pixel, (tip.Y+corner.Y)*pixel)
	}
	return overlay.HighlightQuadParams{
		Quad:         quad,
		Color:        &protocol.RGBA{R: 62, G: 125, B: 240, A: 1},
		OutlineColor: &protocol.RGBA{R: 255, G: 255, B: 255, A: 1},
	}
}
