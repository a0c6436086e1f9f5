package capture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/chromedp/cdproto/browser"
	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"

	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/internal/pagelock"
)

// A page may have another size than the space that its window has for it, because two captures with a clip
// overlapped, or one whose program was killed: ours take care, those of other tools may not. Such a page
// is stuck in the clip's size, smaller or larger, without an event or a state that tells. It looks like one
// whose size a client has emulated, except that it takes the size of Emulation.setVisibleSize.

// bounds is what Screen knows of the page's size and of the window around it, guarded by Screen.mu.
type bounds struct {
	chrome    *frame.Size // what the window has more than the page; nil: not known
	unhealed  frame.Size  // a size that was examined, and stays
	unchanged bool        // no event has reported another size since it was compared
	sentence  string      // for the agent, see Healed
}

// Resized notes that the page may have another size. The event loop calls it.
func (s *Screen) Resized() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bounds.unchanged = false
}

// Healed examines the page, and returns a sentence for the agent once after it was stuck; empty: it was not.
func (s *Screen) Healed(ctx context.Context) string {
	s.examine(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	sentence := s.bounds.sentence
	s.bounds.sentence = ""
	return sentence
}

// examine finds out whether the page is stuck in the size of a capture, if it may have another size than
// when it was last compared, and gives it its own.
func (s *Screen) examine(ctx context.Context) {
	s.mu.Lock()
	compared := s.bounds.unchanged
	s.bounds.unchanged = true
	s.mu.Unlock()
	if compared {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, examineTimeout) // a page that hangs is examined later
	defer cancel()
	l, err := s.config.Frames.Layout(ctx)
	if err != nil {
		s.Resized() // the next call examines it
		return
	}
	if w, err := s.window(ctx); err == nil && s.isStuck(l, w) { // a shared debug session has no window
		s.heal(ctx)
	}
}

// examineTimeout bounds what examining the page adds to a call.
const examineTimeout = 2 * time.Second

// window is the window that the page is in.
func (s *Screen) window(ctx context.Context) (browser.GetWindowForTargetResult, error) {
	return protocol.Call(ctx, s.config.Browser, browser.GetWindowForTarget, browser.GetWindowForTargetParams{
		TargetID: target.ID(s.config.ID),
	})
}

// own is the size of a page in device-independent pixels.
func own(l frame.Layout) frame.Size {
	if l.View.Scale != 1 {
		return frame.Size{
			Width:  math.Round(l.View.ClientWidth * l.View.Scale * l.Zoom),
			Height: math.Round(l.View.ClientHeight * l.View.Scale * l.Zoom),
		}
	}
	return frame.Size{Width: math.Round(l.Inner.Width * l.Zoom), Height: math.Round(l.Inner.Height * l.Zoom)}
}

// How much less than the window a page may have by what browsers show beside it: bars above it come and go
// while it is shown, panels take only of its width.
const (
	maxBars  = 120
	maxPanel = 40
	maxUI    = 300 // above and below, of a page that was never seen in its own size
	// maxRounding is how much larger than its window a zoomed page may seem.
	maxRounding = 5
)

// isStuck reports whether a page may be stuck, and learns what the window has more than one that is not.
func (s *Screen) isStuck(l frame.Layout, w browser.GetWindowForTargetResult) bool {
	size := own(l)
	lost := frame.Size{Width: float64(w.Bounds.Width) - size.Width, Height: float64(w.Bounds.Height) - size.Height}
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.bounds.chrome
	switch {
	case w.Bounds.WindowState == browser.WindowStateMinimized: // its bounds are those after that
		return false
	case l.Outer != frame.Size{Width: float64(w.Bounds.Width), Height: float64(w.Bounds.Height)}:
		return false // in the background, or emulated: it gets its size from the window when it is shown
	case lost.Width < -maxRounding || lost.Height < -maxRounding:
	case known == nil && lost.Height <= maxUI, known != nil && lost.Height-known.Height <= maxBars &&
		(lost.Height-known.Height <= maxPanel || lost.Width-known.Width <= maxPanel):
		s.bounds.chrome, s.bounds.unhealed = &lost, frame.Size{}
		return false
	}
	return size != s.bounds.unhealed
}

// heal gives a stuck page its own size.
func (s *Screen) heal(ctx context.Context) {
	before, after, err := s.restore(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil:
		s.bounds.sentence = fmt.Sprintf("The page was stuck at %.0f × %.0f pixels, as other tools' pictures and one that "+
			"was ended midway can leave it. It has its own %.0f × %.0f again.", before.Width, before.Height, after.Width, after.Height)
	case errors.Is(err, errNotStuck):
		s.bounds.unhealed = before
	default: // the next call examines it
		s.bounds.unchanged = false
	}
}

// errNotStuck reports a page whose size is meant, or is not known to be wrong.
var errNotStuck = errors.New("the page is not stuck")

// errNotYet reports a page that has not taken its own size yet.
var errNotYet = errors.New("the page does not take its size")

// restore gives the page its own size, unless a client emulates one. It waits until no program of ours
// captures the page with a clip, for which the browser changes the size.
func (s *Screen) restore(ctx context.Context) (before, after frame.Size, err error) {
	release, err := pagelock.Capture.Acquire(ctx, s.config.ID)
	if err != nil {
		return before, after, err
	}
	defer func() { err = errors.Join(err, release()) }()
	l, err := s.config.Frames.Layout(ctx)
	if err != nil {
		return before, after, err
	}
	before = own(l)
	w, err := s.window(ctx)
	if err != nil {
		return before, before, err
	}
	if !s.isStuck(l, w) {
		return before, before, errNotStuck
	}
	if shown, err := s.hasDevTools(ctx); err != nil || shown {
		return before, before, cmp.Or(err, errNotStuck)
	}
	// Whatever follows is done to its end: else the page would have the probe's size.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), healTimeout)
	defer cancel()
	// A page whose size is emulated does not notice the probe.
	stuck, err := s.resize(ctx, frame.Size{Width: before.Width + 1, Height: before.Height}, l.Zoom, probeWait)
	s.mu.Lock()
	chrome := s.bounds.chrome
	s.mu.Unlock()
	switch {
	case err == nil && stuck && chrome != nil:
		after = frame.Size{
			Width: float64(w.Bounds.Width) - chrome.Width, Height: float64(w.Bounds.Height) - chrome.Height,
		}
		if has, err := s.resize(ctx, after, l.Zoom, ownWait); err != nil || !has {
			return before, after, cmp.Or(err, errNotYet)
		}
		return before, after, nil
	case err == nil && stuck && w.Bounds.WindowState == browser.WindowStateNormal:
		if after, err = s.layOutWindow(ctx, w); err == nil {
			return before, after, nil
		}
	}
	_, undone := s.resize(ctx, before, l.Zoom, probeWait)
	if err = errors.Join(err, undone); ctx.Err() != nil {
		return before, before, err
	}
	return before, before, errors.Join(err, errNotStuck)
}

// hasDevTools reports whether the user has DevTools open in the browser, which may be beside the page.
func (s *Screen) hasDevTools(ctx context.Context) (bool, error) {
	r, err := protocol.Call(ctx, s.config.Browser, target.GetTargets, target.GetTargetsParams{})
	if err != nil {
		return false, err
	}
	for _, info := range r.TargetInfos {
		if strings.HasPrefix(info.URL, "devtools://") {
			return true, nil
		}
	}
	return false, nil
}

const (
	healTimeout = 10 * time.Second
	// How long a page may take for a size, before it counts as one that does not take it.
	probeWait = 200 * time.Millisecond
	ownWait   = 5 * time.Second
)

// awaitSize waits until the page has that size, which one whose size is emulated does not get, or until a time
// has passed and some frames are drawn. In the background none are.
const awaitSize = `([width, height, wait]) => new Promise((done) => {
  const has = () => Math.abs(innerWidth - width) < 1 && Math.abs(innerHeight - height) < 1;
  const end = () => { removeEventListener("resize", look); done(has()); };
  const look = () => has() && end();
  addEventListener("resize", look);
  setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(end)), wait);
  setTimeout(end, wait + 600);
  look();
})`

// resize gives the page's widget a size, and reports whether the page has it within about that time.
func (s *Screen) resize(ctx context.Context, size frame.Size, zoom float64, wait time.Duration) (has bool, err error) {
	err = s.config.Session.Call(ctx, "Emulation.setVisibleSize", map[string]int64{
		"width": int64(size.Width), "height": int64(size.Height),
	}, nil)
	if err != nil {
		return false, err
	}
	err = s.config.Frames.Run(ctx, s.config.Frames.Main(), awaitSize,
		[]float64{size.Width / zoom, size.Height / zoom, float64(wait.Milliseconds())}, &has)
	return has, err
}

// layOutWindow has the browser lay out the page's window, by a pixel more and one less, for a page that was
// never seen in its own size. It returns that size.
func (s *Screen) layOutWindow(ctx context.Context, w browser.GetWindowForTargetResult) (frame.Size, error) {
	l, err := s.config.Frames.Layout(ctx)
	for _, width := range []int64{w.Bounds.Width + 1, w.Bounds.Width} {
		if err == nil {
			_, err = protocol.Call(ctx, s.config.Browser, browser.SetWindowBounds, browser.SetWindowBoundsParams{
				WindowID: w.WindowID, Bounds: &browser.Bounds{Width: width},
			})
		}
		if err == nil {
			before := []float64{float64(width), l.Inner.Width, l.Inner.Height}
			err = s.config.Frames.Run(ctx, s.config.Frames.Main(), awaitWindow, before, nil)
		}
		if err == nil {
			l, err = s.config.Frames.Layout(ctx)
		}
		if err != nil {
			return frame.Size{}, err
		}
	}
	if s.isStuck(l, w) { // it is in the background
		return own(l), errNotStuck
	}
	return own(l), nil
}

// awaitWindow waits until the page's window has that width, and the page another size than before.
const awaitWindow = `([width, ...before]) => new Promise((done) => {
  const has = () => outerWidth === width && before.join() !== [innerWidth, innerHeight].join() && done();
  addEventListener("resize", has);
  setTimeout(() => { removeEventListener("resize", has); done(); }, 1000);
  has();
})`
