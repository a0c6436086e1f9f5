package emulation

import (
	"context"
	"fmt"

	"github.com/chromedp/cdproto/emulation"
)

// sized is the size of the page, as far as it was set here.
type sized struct {
	viewport *Viewport // nil: none was set, or another client has replaced it
	resized  bool      // the page may have another size since it was last compared with viewport
}

// resize sets the page's size. The browser applies the one that any client has set last, but in one session the
// same size again changes nothing: one that follows another client's is set anew.
func (e *Emulation) resize(ctx context.Context, v *Viewport) error {
	layout, err := e.opts.Frames.Layout(ctx)
	if err != nil {
		return err
	}
	e.Replaced(ctx)
	e.mu.Lock()
	_, set := e.overrides[emulation.CommandSetDeviceMetricsOverride]
	replaced := set && e.sized.viewport == nil
	e.mu.Unlock()
	if replaced {
		if err := e.opts.Session.Call(ctx, emulation.CommandClearDeviceMetricsOverride, nil, nil); err != nil {
			return err
		}
	}
	for _, o := range v.overrides(layout.Zoom) {
		if err := e.add(ctx, o); err != nil {
			return err
		}
	}
	e.setSize(v)
	return nil
}

// setSize notes the size that the page was given.
func (e *Emulation) setSize(v *Viewport) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sized = sized{v, true} // another client may have changed it meanwhile
}

// Resized notes that the page's frames have another size. The event loop calls it.
func (e *Emulation) Resized() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sized.resized = true
}

// seenSize is what the page shows, in CSS pixels before any pinch. Of a phone's page the visual viewport alone
// has the width of the screen, of others it is without scroll bars.
const seenSize = `(({scale, width, height}) => scale === 1 ? [innerWidth, innerHeight] : [width, height].map(
	(length) => Math.round(length * scale)))(visualViewport)`

// Replaced returns a sentence for the agent once after another client has replaced or ended the size that was set
// here; empty: none has. A page that does not respond is asked again the next time.
func (e *Emulation) Replaced(ctx context.Context) string {
	e.mu.Lock()
	set, resized := e.sized.viewport, e.sized.resized
	e.sized.resized = false
	e.mu.Unlock()
	if set == nil || !resized {
		return ""
	}
	var now [2]int
	err := e.opts.Frames.Evaluate(ctx, seenSize, &now)
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil {
		e.sized.resized = true
	}
	isNear := func(a, b int) bool { return max(a, b)-min(a, b) <= 1 } // of a zoomed page a pixel may be cut
	if err != nil || e.sized.viewport != set || isNear(now[0], set.Width) && isNear(now[1], set.Height) {
		return ""
	}
	e.sized.viewport = nil
	return fmt.Sprintf("The viewport is now %d × %d, no longer the %d × %d that was set.", now[0], now[1], set.Width,
		set.Height)
}
