package input

import (
	"context"
	_ "embed"
	"time"

	"github.com/chromedp/cdproto/input"

	"browser-coordinator/coordinator/page/frame"
)

// The browser drops input while it asks its user something over the page: for a password, a
// screen to share, a passkey, or whether to open another program. It reports neither the prompt
// nor the drop, and the response to an event is the same. So what has arrived is asked of the
// documents.

//go:embed arrivals.js
var watchArrivals string

const arrivals = "memory.arrivals?.() ?? null"

// arrivalsFound is what a document has to report.
type arrivalsFound struct {
	Arrived bool // an event of the user's
	Opaque  bool // it contains a plugin, which gets events that no document gets
}

// WatchArrivals makes the documents that have been entered watch for input, from its return on:
// the browser handles input before commands that it got earlier.
func (i *Input) WatchArrivals(ctx context.Context) error {
	if _, _, err := i.opts.Frames.World(ctx, i.opts.Frames.Main()); err != nil {
		return err
	}
	if _, all := frame.EvaluateEntered[int](ctx, i.opts.Frames, watchArrivals); !all {
		return frame.ErrGone
	}
	return nil
}

// Arrived reports whether input has arrived since WatchArrivals. A document that cannot be
// asked now may have got some.
func (i *Input) Arrived(ctx context.Context) bool {
	found, all := frame.EvaluateEntered[*arrivalsFound](ctx, i.opts.Frames, arrivals)
	for _, f := range found {
		if f == nil || f.Arrived || f.Opaque {
			return true
		}
	}
	return !all
}

// probes is how often Receives tries, and probePause how long it waits in between: a page that is
// rarely drawn may get a movement late.
const (
	probes     = 3
	probePause = 100 * time.Millisecond
)

// Receives reports whether input arrives in the page. It moves the mouse by a pixel.
func (i *Input) Receives(ctx context.Context) bool {
	if err := i.opts.Frames.ForEach(ctx, i.opts.Frames.Enter(ctx)); err != nil {
		return true
	}
	l, err := i.opts.Frames.Layout(ctx)
	if err != nil {
		return true
	}
	position := i.mouse.currentPosition()
	x, y := min(position.x, l.View.ClientWidth-2), min(position.y, l.View.ClientHeight-2)
	for n := range probes {
		if n > 0 && rest(ctx, probePause) != nil || i.WatchArrivals(ctx) != nil {
			return true
		}
		for _, x := range []float64{x + 1, x} { // a movement to the same position has no effect
			move := input.DispatchMouseEventParams{
				Type: input.DispatchMouseEventTypeMouseMoved, X: x, Y: y, Button: position.button, Buttons: position.buttons,
			}
			if position.buttons == 0 {
				move.Button = ""
			}
			if err := i.opts.Session.Call(ctx, input.CommandDispatchMouseEvent, move, nil); err != nil {
				return true
			}
		}
		if i.Arrived(ctx) {
			return true
		}
	}
	return false
}
