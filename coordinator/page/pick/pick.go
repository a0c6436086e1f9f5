// Package pick lets the user point at an element of a page.
package pick

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/overlay"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/capture"
	"browser-coordinator/coordinator/page/component"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/lifecycle"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/coordinator/page/sources"
)

//go:embed picked.js
var pickedFunction string

// ErrCancelled reports that the user pressed Escape instead of picking.
var ErrCancelled = errors.New("the user cancelled the pick with Escape")

// Picked is an element that the user clicked.
type Picked struct {
	// Line is the element's line in a snapshot, with its ref if it accepts an action.
	Line       string
	Selector   string // CSS; matches only this element in its document
	Tag        string
	Text       string // the start of its text
	Attributes map[string]string
	// Box is in CSS pixels of the page's viewport.
	X, Y, Width, Height float64
	// Component is what a framework's development build reports about the element; nil
	// without one.
	Component *component.Component
	Image     capture.Image // of the element, with a small margin
	URL       string
}

// pickMargin is the margin around an element in its image, in CSS pixels.
const pickMargin = 12

// Options of a Picker. All are required.
type Options struct {
	Run     lifecycle.Run
	Session *cdp.Session // of the page itself
	Frames  *frame.Tree
	Reader  *snapshot.Reader
	Screen  *capture.Screen
	Sources *sources.Sources
}

// Picker lets the user pick elements of one page.
type Picker struct {
	opts Options

	mu     sync.Mutex
	picked chan node // nil while no pick is active; mu guards it
}

// node is the node that the user has picked, or none after Escape.
type node struct {
	session *cdp.Session
	id      protocol.BackendNodeID
}

// New returns the picker of a page.
func New(opts Options) *Picker { return &Picker{opts: opts} }

// Pick waits for the user to click an element of the page, in the browser's own
// inspect mode. The page gets no event for it, and nothing is injected into it. Pick
// calls ready as soon as a click counts. It ends with the context, and with
// ErrCancelled on Escape.
func (p *Picker) Pick(ctx context.Context, timeout time.Duration, ready func()) (Picked, error) {
	var picked Picked
	err := p.opts.Run(ctx, "waiting for the user to click an element", timeout, func(ctx context.Context) (err error) {
		picked, err = p.pick(ctx, ready)
		return err
	})
	return picked, err
}

func (p *Picker) pick(ctx context.Context, ready func()) (Picked, error) {
	picked := make(chan node, 1)
	p.mu.Lock()
	if p.picked != nil {
		p.mu.Unlock()
		return Picked{}, errors.New("another pick is going on in this page")
	}
	p.picked = picked
	p.mu.Unlock()
	sessions := p.opts.Frames.Sessions()
	defer p.end(ctx, sessions)

	for _, s := range sessions {
		if err := startPick(ctx, s); err != nil && s == p.opts.Session {
			return Picked{}, err
		}
	}
	ready()
	select {
	case n := <-picked:
		if n.id == 0 {
			return Picked{}, ErrCancelled
		}
		return p.describe(ctx, n)
	case <-ctx.Done():
		return Picked{}, context.Cause(ctx)
	}
}

// startPick turns on the inspect mode in the frames of one process.
func startPick(ctx context.Context, s *cdp.Session) error {
	for _, command := range []string{dom.CommandEnable, overlay.CommandEnable} {
		if err := s.Call(ctx, command, nil, nil); err != nil {
			return fmt.Errorf("%s: %w", command, err)
		}
	}
	blue := &protocol.RGBA{R: 62, G: 125, B: 240, A: 0.35}
	return s.Call(ctx, overlay.CommandSetInspectMode, overlay.SetInspectModeParams{
		Mode: overlay.InspectModeSearchForNode,
		HighlightConfig: &overlay.HighlightConfig{
			ShowInfo: true, ShowAccessibilityInfo: true, ContentColor: blue, PaddingColor: blue,
			BorderColor: blue,
		},
	}, nil)
}

// These bound how long end waits for a process that hangs. A cancelled pick must
// return at once.
const endTimeout, cancelledEndTimeout = time.Second, 50 * time.Millisecond

// end turns off the inspect mode, whatever the result of the pick is. The next
// click reaches the page.
func (p *Picker) end(ctx context.Context, sessions []*cdp.Session) {
	p.mu.Lock()
	p.picked = nil
	p.mu.Unlock()
	var commands []*cdp.Pending
	unbound := context.WithoutCancel(ctx)
	for _, s := range sessions {
		// A frame that has gone no longer has the mode.
		off, err := s.Start(unbound, overlay.CommandSetInspectMode, overlay.SetInspectModeParams{
			Mode: overlay.InspectModeNone, HighlightConfig: &overlay.HighlightConfig{},
		})
		if err == nil {
			commands = append(commands, off)
		}
		_, _ = s.Start(unbound, overlay.CommandDisable, nil)
		_, _ = s.Start(unbound, dom.CommandDisable, nil)
	}
	timeout := endTimeout
	if ctx.Err() != nil {
		timeout = cancelledEndTimeout
	}
	unbound, cancel := context.WithTimeout(unbound, timeout)
	defer cancel()
	for _, off := range commands {
		_ = off.Wait(unbound, nil)
	}
}

// NodePicked handles the event that the user has clicked a node, or pressed Escape (id 0).
func (p *Picker) NodePicked(s *cdp.Session, id protocol.BackendNodeID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case p.picked <- node{s, id}:
	default: // no pick is active, or it has its result already
	}
}

// describe describes a picked node, which it scrolls into view for the image.
func (p *Picker) describe(ctx context.Context, n node) (Picked, error) {
	picked, e, err := p.read(ctx, n)
	if err != nil {
		return Picked{}, err
	}
	defer e.Release(ctx)
	box, err := p.opts.Frames.Place(ctx, e, "nearest")
	if err != nil {
		return Picked{}, err
	}
	picked.X, picked.Y = hundredths(box.X), hundredths(box.Y)
	picked.Width, picked.Height = hundredths(box.Width), hundredths(box.Height)
	picked.Image, err = p.opts.Screen.Area(ctx, box, pickMargin)
	return picked, err
}

// Describe describes a node that the user has picked elsewhere, in the document with that loader id.
// It has no box and no image, and nothing scrolls. If the time is over, the error comes with what is known by
// then: the line or the component may be missing.
func (p *Picker) Describe(
	ctx context.Context, document protocol.LoaderID, id protocol.BackendNodeID,
) (picked Picked, err error) {
	if !p.opts.Frames.Shows(document) {
		return Picked{}, errors.New("the page shows another document now")
	}
	err = p.opts.Run(ctx, "describing an element", DescribeTimeout, func(ctx context.Context) error {
		described, e, err := p.read(ctx, node{p.opts.Session, id})
		if err != nil {
			return err
		}
		e.Release(ctx)
		picked = described
		return context.Cause(ctx)
	})
	return picked, err
}

// DescribeTimeout bounds Describe, and all the descriptions that one answer waits for.
const DescribeTimeout = 3 * time.Second

// read describes a node without its box and image. The caller releases the element.
func (p *Picker) read(ctx context.Context, n node) (Picked, *frame.Element, error) {
	e, err := p.elementOf(ctx, n)
	if err != nil {
		return Picked{}, nil, err
	}
	picked := Picked{URL: p.opts.Frames.PageURL()}
	if err := e.Run(ctx, pickedFunction, nil, &picked); err != nil {
		e.Release(ctx)
		return Picked{}, nil, err
	}
	e.Target = picked.Selector
	if line, err := p.opts.Reader.Line(ctx, e); err == nil {
		picked.Line = line
	}
	picked.Component = p.componentOf(ctx, n)
	return picked, e, nil
}

// elementOf resolves a node in the isolated world of its document. The document belongs
// to one of the frames of the node's process.
func (p *Picker) elementOf(ctx context.Context, n node) (*frame.Element, error) {
	for _, f := range p.opts.Frames.All() {
		if f.Session != n.session {
			continue
		}
		e, err := p.opts.Frames.Resolve(ctx, f.ID, n.id, "the element")
		if err != nil {
			continue // not of this frame, or the frame has gone
		}
		own, err := protocol.Call(ctx, n.session, runtime.CallFunctionOn, runtime.CallFunctionOnParams{
			FunctionDeclaration: "function () { return this[$.ownerDocument] === document }",
			ObjectID:            e.Handle, ReturnByValue: new(true),
		})
		if err == nil && own.Result != nil && string(own.Result.Value) == "true" {
			return e, nil
		}
		e.Release(ctx)
	}
	return nil, &frame.StaleRefError{Ref: "the element", Cause: "its document was replaced"}
}

func (p *Picker) componentOf(ctx context.Context, n node) *component.Component {
	r, err := protocol.Call(ctx, n.session, dom.ResolveNode, dom.ResolveNodeParams{BackendNodeID: n.id})
	if err != nil {
		return nil
	}
	defer frame.Release(ctx, n.session, r.Object.ObjectID)
	return component.Find(ctx, n.session, r.Object.ObjectID, p.opts.Sources, false)
}

// hundredths rounds to 1/100 CSS pixel, which is finer than the layout of a dense screen.
func hundredths(n float64) float64 { return math.Round(n*100) / 100 }
