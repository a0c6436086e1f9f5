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
	Conn *cdp.Conn
	ID   target.ID // of the page
	// Go runs a function that the browser's connection waits for at its end.
	Go func(func())
}

// Pointer is shown where the agent has acted last. It goes some time after that, with the document,
// and with the connection. It has a session of its own, since each has one thing in the overlay:
// it replaces no highlight.
type Pointer struct {
	opts Options

	sending sync.Mutex // held from a decision until it is sent, so that the last one counts; locked before mu

	mu       sync.Mutex // guards the fields that follow
	at       frame.Point
	until    time.Time // it is not hidden before
	shown    bool
	drawing  bool         // draw runs
	session  *cdp.Session // nil: it was never drawn
	rest     *time.Timer  // hides it; nil: it was never shown
	captures int          // under way: it is in none of them
}

// New returns the pointer of a page.
func New(opts Options) *Pointer { return &Pointer{opts: opts} }

const (
	// restTime is how long it is shown after the last action.
	restTime = 3 * time.Second
	// drawTimeout bounds how long the browser takes to draw it.
	drawTimeout = 10 * time.Second
)

// Show shows it at a point of the viewport, in CSS pixels. It waits for nothing.
func (p *Pointer) Show(at frame.Point) {
	p.mu.Lock()
	p.at, p.shown, p.until = at, true, time.Now().Add(restTime)
	if p.rest == nil {
		p.rest = time.AfterFunc(restTime, func() { p.opts.Go(p.hide) })
	}
	p.rest.Reset(restTime)
	p.mu.Unlock()
	p.redraw()
}

// Conceal hides it from a capture, until reveal is called.
func (p *Pointer) Conceal(ctx context.Context) (reveal func()) {
	erased := p.erase(ctx, func() bool { p.captures++; return true })
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

// hide hides it after the last action, unless there was another one meanwhile.
func (p *Pointer) hide() {
	ctx, cancel := context.WithTimeout(context.Background(), drawTimeout)
	defer cancel()
	p.erase(ctx, func() bool {
		p.shown = time.Now().Before(p.until)
		return !p.shown
	})
}

// erase removes it from the overlay if decide, for which mu is held, returns true; nil: it does nothing.
func (p *Pointer) erase(ctx context.Context, decide func() bool) *cdp.Pending {
	p.sending.Lock()
	defer p.sending.Unlock()
	p.mu.Lock()
	session, erases := p.session, decide()
	p.mu.Unlock()
	if session == nil || !erases {
		return nil
	}
	erased, _ := session.Start(ctx, overlay.CommandHideHighlight, nil)
	return erased
}

// redraw has it drawn where it is by then. mu is not held: Go may draw at once.
func (p *Pointer) redraw() {
	p.mu.Lock()
	starts := !p.drawing && p.isVisible()
	p.drawing = p.drawing || starts
	p.mu.Unlock()
	if starts {
		p.opts.Go(p.draw)
	}
}

// isVisible reports whether the user is to see it. mu is held.
func (p *Pointer) isVisible() bool { return p.shown && p.captures == 0 }

// draw draws it. If that fails, the next action tries again.
func (p *Pointer) draw() {
	ctx, cancel := context.WithTimeout(context.Background(), drawTimeout)
	defer cancel()
	session, err := p.attach(ctx)
	var pixel float64
	if err == nil {
		pixel, err = quadPixel(ctx, session)
	}
	p.sending.Lock()
	defer p.sending.Unlock()
	p.mu.Lock()
	p.drawing = false
	at, visible := p.at, p.isVisible()
	p.mu.Unlock()
	if err == nil && visible {
		_, _ = session.Start(ctx, overlay.CommandHighlightQuad, arrow(at, pixel))
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
