// Package inspect examines one element as a web developer does in DevTools: its box and styles,
// the rules that set them, why it cannot be clicked, its event listeners, and its component.
package inspect

import (
	"context"
	_ "embed"
	"fmt"
	"slices"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/debugger"
	"github.com/chromedp/cdproto/domdebugger"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/component"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/history"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/lifecycle"
	"browser-coordinator/coordinator/page/remote"
	"browser-coordinator/coordinator/page/sources"
)

//go:embed element.js
var elementFunction string

// Options of an Inspector. All are required.
type Options struct {
	Run     lifecycle.Run
	Frames  *frame.Tree
	Input   *input.Input
	Network *history.Network
	Sources *sources.Sources
}

// Inspector examines elements of one page.
type Inspector struct{ opts Options }

// New returns the inspector of a page.
func New(opts Options) *Inspector { return &Inspector{opts} }

// Report is what is known of an element.
type Report struct {
	frame.Identity
	Tag, ID string
	Classes []string
	Box     Box
	// Obstacle is why the mouse cannot click it now; empty: it can.
	Obstacle  input.Obstacle
	Styles    []string // computed ones that are not the initial ones
	Rules     []Rule   // strongest first; then those of ancestors
	NoRules   string   // why there are none; empty: they are known
	Listeners []Listener
	Component *component.Component // nil: none is known
}

// Box is an element's box in CSS pixels of its frame's viewport. Sides are from the top clockwise.
type Box struct {
	X, Y, Width, Height         float64
	Margin, Border, Padding     [4]float64
	ContentWidth, ContentHeight float64
	ViewWidth, ViewHeight       float64
}

// IsAway reports whether the box is outside of the viewport.
func (b Box) IsAway() bool {
	return b.X+b.Width <= 0 || b.Y+b.Height <= 0 || b.X >= b.ViewWidth || b.Y >= b.ViewHeight
}

// Listener is an event listener of the element itself.
type Listener struct {
	Type     string
	Options  []string // capture, passive, once
	Position remote.Position
}

// Inspect examines an element. It scrolls nothing and moves no mouse.
func (i *Inspector) Inspect(ctx context.Context, target string) (r Report, err error) {
	err = i.opts.Run(ctx, "inspecting "+target, 0, func(ctx context.Context) error {
		e, err := i.opts.Frames.Find(ctx, target)
		if err != nil {
			return err
		}
		defer e.Release(ctx)
		return i.inspect(ctx, e, &r)
	})
	return r, err
}

func (i *Inspector) inspect(ctx context.Context, e *frame.Element, r *Report) error {
	gone, err := e.Identify(ctx, false, nil)
	if gone {
		err = i.opts.Frames.Removed(ctx, e)
	}
	if err != nil {
		return err
	}
	r.Identity = e.Identity
	var is struct {
		Box
		Tag, ID string
		Classes []string
		Styles  []string
	}
	if err := e.Run(ctx, elementFunction, nil, &is); err != nil {
		return err
	}
	r.Tag, r.ID, r.Classes, r.Box, r.Styles = is.Tag, is.ID, is.Classes, is.Box, is.Styles
	if r.Obstacle, err = i.opts.Input.Obstacle(ctx, e); err != nil {
		return err
	}
	if r.Rules, err = i.rules(ctx, e); cdp.Refused(err) { // another client intercepts requests in this session
		r.NoRules, err = err.Error(), nil
	}
	if err != nil {
		return err
	}
	handle, err := e.OwnHandle(ctx)
	if err != nil {
		return err
	}
	defer frame.Release(ctx, e.Session, handle)
	if r.Listeners, err = i.listeners(ctx, e, handle); err != nil {
		return err
	}
	r.Component = component.Find(ctx, e.Session, handle, i.opts.Sources, true)
	return nil
}

// listeners are those of the page on an element, of which it takes the handle in the page's main
// world.
func (i *Inspector) listeners(
	ctx context.Context, e *frame.Element, handle runtime.RemoteObjectID,
) (found []Listener, err error) {
	r, err := protocol.Call(ctx, e.Session, domdebugger.GetEventListeners, domdebugger.GetEventListenersParams{
		ObjectID: handle,
	})
	if err != nil || len(r.Listeners) == 0 {
		return nil, err
	}
	urls, err := i.scriptURLs(ctx, e)
	if err != nil {
		return nil, err
	}
	for _, l := range r.Listeners {
		listener := Listener{Type: l.Type}
		for name, has := range map[string]bool{"capture": l.UseCapture, "passive": l.Passive, "once": l.Once} {
			if has {
				listener.Options = append(listener.Options, name)
			}
		}
		slices.Sort(listener.Options)
		if url := urls[l.ScriptID]; url != "" {
			listener.Position = remote.NewPosition(url, l.LineNumber, l.ColumnNumber)
			i.opts.Sources.Locate(ctx, &listener.Position)
		}
		found = append(found, listener)
		if l.Handler != nil && l.Handler.ObjectID != "" {
			frame.Release(ctx, e.Session, l.Handler.ObjectID)
		}
	}
	return found, nil
}

// scriptURLs are the addresses of the scripts of a process by their ids, which an enabled
// debugger reports. It is enabled for a moment only: it would stop at debugger statements.
func (i *Inspector) scriptURLs(ctx context.Context, e *frame.Element) (map[protocol.ScriptID]string, error) {
	parsed := e.Session.Listen(debugger.ScriptParsed.Method)
	defer parsed.Close()
	for _, command := range []struct {
		method string
		params any
	}{
		{debugger.CommandEnable, nil}, {debugger.CommandDisable, nil},
	} {
		if err := e.Session.Call(ctx, command.method, command.params, nil); err != nil {
			return nil, fmt.Errorf("%s: %w", command.method, err)
		}
	}
	parsed.Close() // the events came before the responses
	urls := map[protocol.ScriptID]string{}
	for event := range parsed.C() {
		var script struct {
			ScriptID protocol.ScriptID `json:"scriptId"`
			URL      string            `json:"url"`
		}
		if err := event.Decode(&script); err != nil {
			return nil, err
		}
		urls[script.ScriptID] = script.URL
	}
	return urls, nil
}
