package page

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/overlay"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
)

// ErrPickCancelled reports that the user pressed Escape instead of picking.
var ErrPickCancelled = errors.New("the user cancelled the pick with Escape")

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
	Component *Component
	Image     Image // of the element, with a small margin
	URL       string
}

// Component is the framework's component that rendered an element.
type Component struct {
	Framework string `json:"framework"`
	Name      string `json:"name"`
	// Owners are the components around it, nearest first.
	Owners []string `json:"owners"`
	// File, Line and Column come from the framework's compiler; empty and 0 if it sets
	// none. A React 19 build sets Stack instead.
	File         string `json:"file"`
	Line, Column int
	Stack        string `json:"stack"`
	// Place, file:line:column, is the position of its element in the source, or in the
	// workspace if a source map leads there. Empty if unknown.
	Place string
}

// pickNews is the result of a pick: the node, or none after Escape.
type pickNews struct {
	session *cdp.Session
	node    protocol.BackendNodeID
}

// pickMargin is the margin around an element in its image, in CSS pixels.
const pickMargin = 12

// Pick waits for the user to click an element of the page, in the browser's own
// inspect mode. The page gets no event for it, and nothing is injected into it. Pick
// calls on as soon as a click counts. It ends with the context, and with
// ErrPickCancelled on Escape.
func (p *Page) Pick(ctx context.Context, patience time.Duration, on func()) (Picked, error) {
	const doing = "waiting for the user to click an element"
	ctx, end, err := p.begin(ctx, doing, patience)
	if err != nil {
		return Picked{}, err
	}
	defer end()
	picked, err := p.pick(ctx, on)
	if errors.Is(err, ErrPickCancelled) {
		return Picked{}, err
	}
	return picked, p.explain(err, doing)
}

func (p *Page) pick(ctx context.Context, on func()) (Picked, error) {
	news := make(chan pickNews, 1)
	p.mu.Lock()
	if p.picking != nil {
		p.mu.Unlock()
		return Picked{}, errors.New("another pick is going on in this page")
	}
	p.picking = news
	p.mu.Unlock()
	sessions := p.frames.Sessions()
	defer p.endPick(ctx, sessions)

	for _, s := range sessions {
		if err := startPick(ctx, s); err != nil && s == p.session {
			return Picked{}, err
		}
	}
	on()
	select {
	case n := <-news:
		if n.node == 0 {
			return Picked{}, ErrPickCancelled
		}
		return p.describePicked(ctx, n)
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

// These bound how long endPick waits for a process that hangs. A cancelled pick must
// return at once.
const endPickPatience, givenUpPatience = time.Second, 50 * time.Millisecond

// endPick turns off the inspect mode, whatever the result of the pick is. The next
// click reaches the page.
func (p *Page) endPick(ctx context.Context, sessions []*cdp.Session) {
	p.mu.Lock()
	p.picking = nil
	p.mu.Unlock()
	var sent []*cdp.Pending
	unbound := context.WithoutCancel(ctx)
	for _, s := range sessions {
		// A frame that has gone no longer has the mode.
		off, err := s.Start(unbound, overlay.CommandSetInspectMode, overlay.SetInspectModeParams{Mode: overlay.InspectModeNone, HighlightConfig: &overlay.HighlightConfig{}})
		if err == nil {
			sent = append(sent, off)
		}
		_, _ = s.Start(unbound, overlay.CommandDisable, nil)
		_, _ = s.Start(unbound, dom.CommandDisable, nil)
	}
	patience := endPickPatience
	if ctx.Err() != nil {
		patience = givenUpPatience
	}
	unbound, cancel := context.WithTimeout(unbound, patience)
	defer cancel()
	for _, off := range sent {
		_ = off.Wait(unbound, nil)
	}
}

func (p *Page) nodePicked(s *cdp.Session, e *overlay.EventInspectNodeRequested) {
	p.tellPick(pickNews{s, e.BackendNodeID})
}

func (p *Page) pickCancelled(s *cdp.Session, _ *struct{}) { p.tellPick(pickNews{s, 0}) }

func (p *Page) tellPick(n pickNews) {
	select {
	case p.picking <- n:
	default: // no pick is active, or it has its result already
	}
}

func (p *Page) describePicked(ctx context.Context, n pickNews) (Picked, error) {
	e, err := p.elementOf(ctx, n)
	if err != nil {
		return Picked{}, err
	}
	defer e.Release(ctx)
	picked := Picked{URL: p.URL()}
	if err := e.Run(ctx, extra("picked"), nil, &picked); err != nil {
		return Picked{}, err
	}
	e.Target = picked.Selector
	box, err := p.frames.Place(ctx, e, "nearest")
	if err != nil {
		return Picked{}, err
	}
	picked.X, picked.Y, picked.Width, picked.Height = hundredths(box.X), hundredths(box.Y), hundredths(box.Width), hundredths(box.Height)
	if line, err := p.reader.Line(ctx, e); err == nil {
		picked.Line = line
	}
	if picked.Component = p.componentOf(ctx, n); picked.Component != nil {
		p.locateComponent(ctx, picked.Component)
	}
	picked.Image, err = p.pictureOf(ctx, box)
	return picked, err
}

// elementOf resolves a node in the isolated world of its document. The document belongs
// to one of the frames of the node's process.
func (p *Page) elementOf(ctx context.Context, n pickNews) (*frame.Element, error) {
	for _, f := range p.frames.All() {
		if f.Session != n.session {
			continue
		}
		e, err := p.frames.Resolve(ctx, f.ID, n.node, "the element")
		if err != nil {
			continue // not of this frame, or the frame has gone
		}
		own, err := protocol.Call(ctx, n.session, runtime.CallFunctionOn, runtime.CallFunctionOnParams{
			FunctionDeclaration: "function () { return this.ownerDocument === document }", ObjectID: e.Handle, ReturnByValue: new(true),
		})
		if err == nil && own.Result != nil && string(own.Result.Value) == "true" {
			return e, nil
		}
		e.Release(ctx)
	}
	return nil, &frame.StaleRefError{Ref: "the element", Gone: "its document was replaced"}
}

// componentPatience and longestName limit what a page can report as its components.
const (
	componentPatience = 2 * time.Second
	longestName       = 200
)

// componentOf runs in the page's main world: frameworks keep their data in properties of
// DOM nodes, which no isolated world has. A getter of the page runs there, can detect the
// query and can return anything. The result is therefore untrusted text of bounded size.
func (p *Page) componentOf(ctx context.Context, n pickNews) *Component {
	r, err := protocol.Call(ctx, n.session, dom.ResolveNode, dom.ResolveNodeParams{BackendNodeID: n.node})
	if err != nil {
		return nil
	}
	e := &frame.Element{Target: "the element", Session: n.session, Handle: r.Object.ObjectID}
	defer e.Release(ctx)
	bounded, cancel := context.WithTimeout(ctx, componentPatience)
	defer cancel()
	var c *Component
	if err := e.Run(bounded, extra("component"), nil, &c); err != nil || c == nil {
		return nil // the page may have set these fields to anything
	}
	c.Owners = c.Owners[:min(len(c.Owners), 8)]
	c.Framework, c.Name, c.File = nameOf(c.Framework), nameOf(c.Name), nameOf(c.File)
	for i, owner := range c.Owners {
		c.Owners[i] = nameOf(owner)
	}
	return c
}

// nameOf puts a name from the page on one line and shortens it.
func nameOf(text string) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	return string(runes[:min(len(runes), longestName)])
}

// locateComponent finds the source position that the framework's data leads to. In a
// stack, it is the first one outside of libraries.
func (p *Page) locateComponent(ctx context.Context, c *Component) {
	if c.File != "" {
		c.Place = fmt.Sprintf("%s:%d:%d", c.File, c.Line, c.Column)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, mapPatience)
	defer cancel()
	for call := range strings.Lines(c.Stack) {
		at := inScript().FindString(call)
		if at == "" {
			continue
		}
		address, line, column := splitPlace(at)
		place, mapped := p.locate(ctx, address, line, column)
		if mapped && !strings.Contains(place, "node_modules/") {
			c.Place = place
			return
		}
		if c.Place == "" && strings.Contains(call, "at "+c.Name+" ") {
			c.Place = at // a fallback: where the component runs
		}
	}
}

// hundredths rounds to 1/100 CSS pixel, which is finer than the layout of a dense screen.
func hundredths(n float64) float64 { return math.Round(n*100) / 100 }

// pictureOf captures an area of the viewport, with a small margin.
func (p *Page) pictureOf(ctx context.Context, box frame.Rect) (Image, error) {
	l, err := p.frames.Layout(ctx)
	if err != nil {
		return Image{}, err
	}
	left, top := math.Max(0, box.X-pickMargin), math.Max(0, box.Y-pickMargin)
	right, bottom := math.Min(l.View.ClientWidth, box.X+box.Width+pickMargin), math.Min(l.View.ClientHeight, box.Y+box.Height+pickMargin)
	part := l.InPage(frame.Rect{X: left, Y: top, Width: math.Max(1, right-left), Height: math.Max(1, bottom-top)})
	r, err := p.captureFrame(ctx, cdppage.CaptureScreenshotParams{Format: cdppage.CaptureScreenshotFormatPng, Clip: l.Clip(part, 1/l.Density), OptimizeForSpeed: new(true)})
	if err != nil {
		return Image{}, err
	}
	return Image{Data: r.Data, Format: "png", Width: int(math.Round(part.Width)), Height: int(math.Round(part.Height))}, nil
}
