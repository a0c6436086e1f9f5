package page

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/chromedp/cdproto/input"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
)

// readyMargin is how much earlier than its call's deadline the script in the
// page gives up, so that its reason arrives even on a busy machine.
const readyMargin = 2 * time.Second

// spot is an element that is ready to be acted on, and where.
type spot struct {
	*frame.Element
	x, y float64
	// unproven: whether it moves was not waited for. Moving the mouse there, which
	// takes until the next frame anyway, gives the time for that; see prove.
	unproven bool
	link     bool // a click on it follows a link
	// What a click on it has shown: why the form that it sends was not sent, and
	// whether it begins a download.
	unmet     []string
	downloads bool
}

// ready finds a target and waits until it can be acted on: attached, visible,
// not moving from one animation frame to the next, enabled, and really hit by an
// event at its point. What is not in view is scrolled there.
func (p *Page) ready(ctx context.Context, target, kind string, patience time.Duration) (*spot, error) {
	return p.readyFor(ctx, target, kind, patience, false)
}

func (p *Page) readyFor(ctx context.Context, target, kind string, patience time.Duration, quick bool) (*spot, error) {
	until := time.Now().Add(patience)
	if err := p.emulateFocus(ctx); err != nil {
		return nil, err
	}
	for {
		e, err := p.frames.FindInTime(ctx, target, until)
		if err != nil {
			return nil, err
		}
		s, err := p.readyElement(ctx, e, kind, patience, until, quick)
		if err == nil {
			return s, nil
		}
		e.Release(ctx)
		// A ref means one element; a selector whichever matches, and pages make their
		// elements anew all the time.
		_, numbered := frame.ParseRef(target)
		if numbered || !errors.As(err, new(*frame.StaleRefError)) || time.Now().After(until) {
			return nil, err
		}
	}
}

// readyElement is ready for an element that was found.
func (p *Page) readyElement(ctx context.Context, e *frame.Element, kind string, patience time.Duration, until time.Time, quick bool) (*spot, error) {
	var r struct {
		OK, Gone, Top, Quick bool
		Link                 bool
		X, Y                 float64
		Why, Label           string
	}
	err := e.Call(ctx, "ready", map[string]any{"kind": kind, "budget": time.Until(until).Milliseconds(), "quick": quick}, &r)
	// Where another process draws a part of the page, the browser may send there what
	// is meant for this one.
	apart := !r.Top || (kind == "click" || kind == "hover") && len(p.frames.Sessions()[1:]) > 0
	if err == nil && r.OK && apart && r.Quick { // the way there takes longer than a frame
		r.Quick = false
		err = e.Call(ctx, "ready", map[string]any{"kind": kind, "budget": time.Until(until).Milliseconds()}, &r)
	}
	if err == nil && r.OK && apart {
		r.X, r.Y, r.Why, err = p.reach(ctx, e, r.X, r.Y, patience)
		r.OK = r.Why == ""
	}
	if e.Label == "" {
		e.Label = r.Label
	}
	switch {
	case err != nil:
		return nil, err
	case r.Gone:
		return nil, p.frames.Removed(ctx, e)
	case !r.OK:
		return nil, &NotReadyError{Target: e.Target, Was: e.Label, Reason: r.Why, Waited: humanDuration(patience)}
	}
	return &spot{Element: e, x: r.X, y: r.Y, unproven: r.Quick, link: r.Link}, nil
}

// patience returns how long a target may take to become ready.
func (p *Page) patience(asked time.Duration) time.Duration {
	if asked > 0 {
		return asked
	}
	return p.browser.opts.ActionTimeout
}

// actOn runs an act on a target: the target's patience comes on top of what the
// act itself may take.
func (p *Page) actOn(ctx context.Context, doing, target, kind string, patience time.Duration, do func(ctx context.Context, s *spot) error) (Change, error) {
	patience = p.patience(patience)
	return p.operate(ctx, doing, patience+p.browser.opts.CallTimeout, func(ctx context.Context) error {
		waiting, cancel := context.WithTimeoutCause(ctx, patience+readyMargin, &TimeoutError{
			Doing: "waiting for " + target + " to be ready", After: humanDuration(patience), Hint: "the page may be busy or paused in the debugger",
		})
		s, err := p.readyFor(waiting, target, kind, patience, kind == "hover")
		cancel()
		if err != nil {
			return err
		}
		defer s.Release(ctx)
		return do(ctx, s)
	})
}

// Click clicks a target with real input events.
func (p *Page) Click(ctx context.Context, target string, opts ClickOptions) (Change, error) {
	button, mask, err := mouseButton(opts.Button)
	if err != nil {
		return Change{}, err
	}
	modifiers, err := modifierMask(opts.Modifiers)
	if err != nil {
		return Change{}, err
	}
	count := 1
	if opts.Double {
		count = 2
	}
	var unmet []string
	change, err := p.actOn(ctx, "clicking "+target, target, "click", opts.Timeout, func(ctx context.Context, s *spot) error {
		err := p.holding(ctx, modifiers, func() error {
			return p.clickSpot(ctx, s, button, mask, count, modifiers, p.patience(opts.Timeout))
		})
		unmet = s.unmet
		if err == nil && s.downloads {
			p.awaitDownload(ctx)
		}
		if err == nil && s.link && opensWindow(button, modifiers) {
			// Of such a one the page hears nothing.
			p.mu.Lock()
			p.windows++
			p.mu.Unlock()
		}
		return err
	})
	change.Unmet = unmet
	return change, err
}

// opensWindow says whether a click on a link is the user's wish for another tab or
// window.
func opensWindow(button input.MouseButton, modifiers int64) bool {
	return button == input.MouseButtonMiddle || button == input.MouseButtonLeft && modifiers&(controlKey|metaKey|shiftKey) != 0
}

// clickSpot clicks until the element is what the click hits: something that comes
// over it at the last moment gets no event, and the element is waited for again.
func (p *Page) clickSpot(ctx context.Context, s *spot, button input.MouseButton, mask int64, count int, modifiers int64, patience time.Duration) error {
	for end := time.Now().Add(patience); ; {
		if err := p.mouse(ctx, s.x, s.y, modifiers, clicks(button, mask, count)); err != nil {
			return err
		}
		var r struct {
			Missed   string
			Unmet    []string
			Download bool
		}
		err := p.unlessLeaving(ctx, func(ctx context.Context) error { return s.Call(ctx, "clicked", nil, &r) })
		if err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return nil // the click has led to another document
		}
		if r.Missed == "" {
			s.unmet, s.downloads = r.Unmet, r.Download
			return nil
		}
		unready := &NotReadyError{Target: s.Target, Was: s.Label, Reason: "it is covered by " + r.Missed, Waited: humanDuration(patience), Details: "it came when the mouse did"}
		left := time.Until(end)
		if left <= 0 {
			return unready
		}
		again, err := p.ready(ctx, s.Target, "click", left)
		if errors.As(err, new(*NotReadyError)) {
			return unready
		}
		if err != nil {
			return err
		}
		s.become(ctx, again)
	}
}

// prove moves the mouse to a spot and makes sure that it is there: where it is
// not, the element moves or something has come over it, and it is waited for.
func (p *Page) prove(ctx context.Context, s *spot, patience time.Duration) error {
	for {
		if err := p.moveTo(ctx, s.x, s.y); err != nil {
			return err
		}
		if !s.unproven {
			return nil
		}
		var steady bool
		if err := s.Call(ctx, "steady", nil, &steady); err != nil || steady {
			return err
		}
		again, err := p.ready(ctx, s.Target, "hover", patience)
		if err != nil {
			return err
		}
		s.become(ctx, again)
	}
}

// become takes the place that the same target has now.
func (s *spot) become(ctx context.Context, again *spot) {
	s.Element.Release(ctx)
	*s = *again
}

// Hover moves the pointer over a target.
func (p *Page) Hover(ctx context.Context, target string) (Change, error) {
	return p.actOn(ctx, "hovering over "+target, target, "hover", 0, func(ctx context.Context, s *spot) error {
		p.inputs.Add(1)
		return p.prove(ctx, s, p.patience(0))
	})
}

// moveTo moves the mouse; for an act that is to come it counts as nothing done.
func (p *Page) moveTo(ctx context.Context, x, y float64) error {
	p.mu.Lock()
	p.pointer = pointer{x: x, y: y}
	p.mu.Unlock()
	move := input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved, X: x, Y: y}
	return p.session.Call(ctx, input.CommandDispatchMouseEvent, move, nil)
}

// mouse sends events in one go, the browser keeps their order, then waits until
// the page has taken them all.
func (p *Page) mouse(ctx context.Context, x, y float64, modifiers int64, events []input.DispatchMouseEventParams) error {
	p.inputs.Add(1)
	sent := make([]*cdp.Pending, 0, len(events))
	for _, e := range events {
		e.X, e.Y, e.Modifiers = x, y, modifiers
		pending, err := p.session.Start(ctx, input.CommandDispatchMouseEvent, e)
		if err != nil {
			return err
		}
		sent = append(sent, pending)
		p.mu.Lock()
		p.pointer = pointer{x: x, y: y, buttons: e.Buttons}
		if e.Buttons != 0 {
			p.pointer.button = e.Button
		}
		p.mu.Unlock()
	}
	return waitAll(ctx, sent)
}

func waitAll(ctx context.Context, sent []*cdp.Pending) error {
	var first error
	for _, pending := range sent {
		if err := pending.Wait(ctx, nil); err != nil && first == nil {
			first = err
		}
	}
	return first
}

func mouseButton(name string) (input.MouseButton, int64, error) {
	switch name {
	case "", "left":
		return input.MouseButtonLeft, 1, nil
	case "right":
		return input.MouseButtonRight, 2, nil
	case "middle":
		return input.MouseButtonMiddle, 4, nil
	}
	return "", 0, fmt.Errorf("unknown mouse button %q: left, right and middle are known", name)
}
