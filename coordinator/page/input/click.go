package input

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/chromedp/cdproto/input"

	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/lifecycle"
)

// ClickOptions of Click; the zero value is a plain click.
type ClickOptions struct {
	Button    string        // left (default), right or middle
	Double    bool          // double click
	Modifiers []string      // Alt, Control, ControlOrMeta, Meta, Shift
	Position  *frame.Point  // see Aim; nil: where the target is in view
	Timeout   time.Duration // until the target must be ready; 0: Options.ActionTimeout
}

// Click clicks a target with real input events.
func (i *Input) Click(target string, opts ClickOptions) Action {
	button, mask, err := mouseButton(opts.Button)
	if err != nil {
		return Action{Err: err}
	}
	modifiers, err := modifierMask(opts.Modifiers)
	if err != nil {
		return Action{Err: err}
	}
	count := 1
	if opts.Double {
		count = 2
	}
	return i.act("clicking "+target, target, purpose{
		"click", opts.Position,
	}, opts.Timeout, func(ctx context.Context, s *spot, out *Outcome) error {
		before := i.opts.Lifecycle.Seq()
		err := i.keyboard.holding(ctx, modifiers, func() error {
			return i.clickSpot(ctx, s, button, mask, count, modifiers, cmp.Or(opts.Timeout, i.opts.ActionTimeout))
		})
		out.Invalid = s.unmet
		if err == nil && s.downloads {
			// The event of the download, or of the navigation if the server does not serve one.
			_ = i.opts.Lifecycle.AwaitFor(ctx, downloadTimeout, func() bool {
				return i.opts.Lifecycle.After(before, lifecycle.Download) || i.opts.Lifecycle.IsLeaving()
			})
		}
		return err
	})
}

// downloadTimeout bounds the wait for a download that a link has started.
const downloadTimeout = time.Second

// clickSpot clicks until the click hits the element. An overlay that appears at the last
// moment gets no event; clickSpot then waits for the element again.
func (i *Input) clickSpot(
	ctx context.Context, s *spot, button input.MouseButton, mask int64, count int, modifiers int64, wait time.Duration,
) error {
	for end := time.Now().Add(wait); ; {
		if err := i.mouse.send(ctx, s.x, s.y, modifiers, clicks(button, mask, count)); err != nil {
			return err
		}
		var r struct {
			Missed   string
			Unmet    []string
			Download bool
			Is       frame.Identity // as it was when the click arrived
		}
		err := i.opts.Lifecycle.UnlessLeaving(ctx, func(ctx context.Context) error {
			return s.Call(ctx, "clicked", nil, &r)
		})
		if err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return nil // the click has opened another document
		}
		if r.Missed == "" {
			s.unmet, s.downloads = r.Unmet, r.Download
			if r.Is.Role != "" {
				s.Identity = r.Is
			}
			return nil
		}
		unready := s.coveredBy(r.Missed, wait)
		rest := time.Until(end)
		if rest <= 0 {
			return unready
		}
		err = i.refresh(ctx, s, rest, false)
		if still, ok := errors.AsType[*NotReadyError](err); ok {
			unready.Calm = still.Calm
			return unready
		}
		if err != nil {
			return err
		}
	}
}

// moveTo moves the mouse to a spot and checks that it hits the element. Otherwise, the
// element moves or is covered, and moveTo waits for it.
func (i *Input) moveTo(ctx context.Context, s *spot, wait time.Duration) error {
	for {
		if err := i.mouse.move(ctx, s.x, s.y); err != nil {
			return err
		}
		if !s.mayMove {
			return nil
		}
		var steady bool
		if err := s.Call(ctx, "steady", nil, &steady); err != nil || steady {
			return err
		}
		if err := i.refresh(ctx, s, wait, false); err != nil {
			return err
		}
	}
}

// coveredBy is the error for an element that was covered when the mouse moved to it.
func (s *spot) coveredBy(missed string, wait time.Duration) *NotReadyError {
	return &NotReadyError{
		Target: s.Target, Label: s.Identity.String(), Reason: "it is covered by " + missed,
		Elapsed: wait.Round(time.Millisecond).String(), Details: "it came when the mouse did",
	}
}

// HoverOptions of Hover; the zero value is the middle of the target.
type HoverOptions struct {
	Position *frame.Point // see Aim; without a target a point of the viewport
	DX, DY   float64      // how far the wheel is turned there, in CSS pixels
}

// Hover moves the pointer over a target, or to a point, and may turn the wheel there.
func (i *Input) Hover(target string, opts HoverOptions) Action {
	turn := func(ctx context.Context, at *spot, x, y float64) error {
		if opts.DX == 0 && opts.DY == 0 {
			return nil
		}
		return i.wheel(ctx, at, x, y, opts.DX, opts.DY)
	}
	if target != "" {
		return i.act("hovering over "+target, target, purpose{
			"hover", opts.Position,
		}, 0, func(ctx context.Context, s *spot, _ *Outcome) error {
			i.sentCount.Add(1)
			if err := i.moveTo(ctx, s, i.opts.ActionTimeout); err != nil {
				return err
			}
			return turn(ctx, s, s.x, s.y)
		})
	}
	if opts.Position == nil {
		return Action{Err: errors.New("give a target, or a position in the viewport")}
	}
	move := i.Vision().Move(opts.Position.X, opts.Position.Y)
	if do := move.Do; do != nil {
		move.Do = func(ctx context.Context, out *Outcome) error {
			if err := do(ctx, out); err != nil {
				return err
			}
			return turn(ctx, nil, opts.Position.X, opts.Position.Y)
		}
	}
	return move
}
