// Package highlight marks an element for the user, in the browser's own overlay:
// nothing is added to the page, and the page gets no event.
package highlight

import (
	"context"
	_ "embed"
	"fmt"
	"sync"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/overlay"

	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/lifecycle"
)

//go:embed state.js
var stateFunction string

// Options of a Highlighter. All are required.
type Options struct {
	Run    lifecycle.Run
	Frames *frame.Tree
	// Go starts a goroutine that the browser's connection waits for. It fails once that has ended.
	Go func(func()) error
}

// Highlighter highlights one element of a page at a time, wherever the element is then. The
// highlight goes with the element, with its document, with the connection, and when the user is
// asked to pick an element.
type Highlighter struct {
	opts Options

	mu     sync.Mutex // guards the field that follows
	marked *marked    // nil: nothing is highlighted
}

// marked is the element that is highlighted.
type marked struct {
	element *frame.Element
	cancel  context.CancelFunc
	ended   chan struct{} // closed when it is no longer highlighted, or nothing keeps it so
}

// New returns the highlighter of a page.
func New(opts Options) *Highlighter { return &Highlighter{opts: opts} }

// Element is an element that is highlighted.
type Element struct {
	frame.Identity
	// OffScreen: it is outside of the viewport, where the user must scroll to.
	OffScreen bool
}

// Show highlights an element in place of the one before. It scrolls nothing, since a page notices that.
func (h *Highlighter) Show(ctx context.Context, target string) (element Element, err error) {
	err = h.opts.Run(ctx, "highlighting "+target, 0, func(ctx context.Context) error {
		h.hide(ctx)
		element, err = h.show(ctx, target)
		return err
	})
	return element, err
}

func (h *Highlighter) show(ctx context.Context, target string) (element Element, err error) {
	e, err := h.opts.Frames.Find(ctx, target)
	if err != nil {
		return Element{}, err
	}
	f := &marked{element: e, ended: make(chan struct{})}
	defer func() {
		if err != nil {
			f.erase(ctx)
		}
	}()
	if _, err = e.Identify(ctx, false, nil); err != nil {
		return Element{}, err
	}
	for _, command := range []string{dom.CommandEnable, overlay.CommandEnable} {
		if err = e.Session.Call(ctx, command, nil, nil); err != nil {
			return Element{}, fmt.Errorf("%s: %w", command, err)
		}
	}
	var current state
	if err = e.Run(ctx, stateFunction, false, &current); err == nil {
		err = f.draw(ctx)
	}
	if err == nil && current.Sizeless {
		const reason = "has no size or is not displayed, so nothing can be highlighted"
		err = &frame.TargetError{Target: target, Reason: reason}
	}
	if err != nil {
		return Element{}, err
	}
	var following context.Context
	following, f.cancel = context.WithCancel(context.Background())
	h.mu.Lock()
	before := h.marked // of another call at the same time
	h.marked = f
	h.mu.Unlock()
	before.end(ctx)
	if err := h.opts.Go(func() { f.follow(following) }); err != nil {
		close(f.ended)
		return Element{}, err
	}
	return Element{Identity: e.Identity, OffScreen: current.Away}, nil
}

// Hide ends the highlight, and reports whether there was one.
func (h *Highlighter) Hide(ctx context.Context) (hidden bool, err error) {
	err = h.opts.Run(ctx, "hiding the highlight", 0, func(ctx context.Context) error {
		hidden = h.hide(ctx)
		return nil
	})
	return hidden, err
}

func (h *Highlighter) hide(ctx context.Context) bool {
	h.mu.Lock()
	f := h.marked
	h.marked = nil
	h.mu.Unlock()
	return f.end(ctx)
}

// end reports whether the element was still highlighted.
func (f *marked) end(ctx context.Context) (lit bool) {
	if f == nil {
		return false
	}
	select {
	case <-f.ended:
	default:
		lit = true
	}
	f.cancel()
	<-f.ended
	f.erase(ctx)
	return lit
}

// erase ends what show has begun in the frame's process, unless that has gone.
func (f *marked) erase(ctx context.Context) {
	_ = f.element.Session.Call(ctx, overlay.CommandDisable, nil, nil)
	_, _ = f.element.Session.Start(ctx, dom.CommandDisable, nil)
	f.element.Release(ctx)
}

// follow highlights the element again whenever the mouse has moved, until its document has gone
// or ctx ends.
func (f *marked) follow(ctx context.Context) {
	defer close(f.ended)
	for {
		var current state
		if err := f.element.Run(ctx, stateFunction, true, &current); err != nil || current.Gone || f.draw(ctx) != nil {
			_, _ = f.element.Session.Start(context.WithoutCancel(ctx), overlay.CommandHideHighlight, nil)
			return
		}
	}
}

// state is how an element is shown.
type state struct{ Gone, Sizeless, Away bool }

// draw highlights the element, also where it is later.
func (f *marked) draw(ctx context.Context) error {
	blue := &protocol.RGBA{R: 62, G: 125, B: 240, A: 0.35}
	return f.element.Session.Call(ctx, overlay.CommandHighlightNode, overlay.HighlightNodeParams{
		ObjectID:        f.element.Handle,
		HighlightConfig: &overlay.HighlightConfig{ContentColor: blue, PaddingColor: blue, BorderColor: blue},
	}, nil)
}
