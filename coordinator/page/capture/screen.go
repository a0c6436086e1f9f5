// Package capture makes a page draw, also in a background tab, and captures what it
// draws: as an image, or as a PDF file.
package capture

import (
	"context"
	"sync"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/lifecycle"
)

// Config is what a Screen needs. All of it is required.
type Config struct {
	Run          lifecycle.Run
	Lifecycle    *lifecycle.Lifecycle
	ID           string // of the page's target
	Browser      *cdp.Conn
	Session      *cdp.Session
	Frames       *frame.Tree
	PrintTimeout time.Duration // bounds how long printing may take
	// Conceal hides from a picture what is no part of the page.
	Conceal func(context.Context) (reveal func())
	// Go starts a goroutine that the connection waits for. It fails once that has ended.
	Go func(func()) error
	// Finish is Go, but the connection waits for the goroutine before it ends: a capture with a clip whose session
	// ends before the browser has answered leaves the page at the clip's size.
	Finish func(func()) error
}

// Screen is what one page draws. It owns the page's pictures: whoever wants one asks it.
type Screen struct {
	config Config

	mu      sync.Mutex // guards the fields that follow
	focused bool       // focus emulation is on
	behind  bool       // it was in the background when focus emulation was turned on
	drawing bool       // see Draw
	// The pictures that have not begun, and those that have not ended, see visible.
	waiting, running map[wish]*picture
	bounds           bounds
}

// New returns the screen of a page.
func New(c Config) *Screen {
	return &Screen{config: c, waiting: map[wish]*picture{}, running: map[wish]*picture{}}
}

// EmulateFocus makes the page believe that it is focused and visible, so that
// input, animation frames and screenshots work in a background tab without bringing
// it to the front. Only the first action turns it on, and it ends with the session:
// a page that is only read stays unchanged.
//
// What needs the page to be drawn needs it in its own size, too.
func (s *Screen) EmulateFocus(ctx context.Context) (err error) {
	s.examine(ctx)
	if s.set(&s.focused, true) {
		return nil
	}
	defer func() {
		if err != nil { // the next action tries again
			s.set(&s.focused, false)
		}
	}()
	visible, err := IsVisible(ctx, s.config.Session, s.config.Frames.Main())
	if err != nil {
		return err
	}
	if _, err := s.config.Session.Start(ctx, "Emulation.setFocusEmulationEnabled", map[string]any{
		"enabled": true,
	}); err != nil {
		return err
	}
	if visible {
		return nil
	}
	s.set(&s.behind, true)
	s.Draw(ctx)
	return s.config.Frames.SetBehind(ctx)
}

// Draw makes the browser draw a background page, once and for the lifetime of the
// session. Focus emulation alone is not enough: after a while nothing is drawn, and
// whatever needs a frame (mouse events, a screenshot) waits forever. A screencast of a
// few pixels keeps the page drawing, and hardly any of its frames are sent.
func (s *Screen) Draw(ctx context.Context) {
	if s.set(&s.drawing, true) {
		return
	}
	_, err := s.config.Session.Start(ctx, cdppage.CommandStartScreencast, cdppage.StartScreencastParams{
		MaxWidth: 8, MaxHeight: 8, EveryNthFrame: 1000,
	})
	if err != nil { // the action that needs it has ended; the next one tries again
		s.set(&s.drawing, false)
	}
}

// Redraw is Draw for a page whose focus is emulated: it may have gone to the background.
func (s *Screen) Redraw(ctx context.Context) {
	s.mu.Lock()
	focused := s.focused
	s.mu.Unlock()
	if focused {
		s.Draw(ctx)
	}
}

func (s *Screen) isBehind() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.behind
}

// set sets a flag and returns its previous value.
func (s *Screen) set(flag *bool, value bool) (before bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, *flag = *flag, value
	return before
}

// IsVisible queries a page in an isolated world of its main frame, where the page cannot fake
// the result.
func IsVisible(ctx context.Context, s *cdp.Session, main protocol.FrameID) (bool, error) {
	r, err := frame.EvaluateApart(ctx, s, main, runtime.EvaluateParams{
		Expression: frame.OfDocument("visibilityState") + `=== "visible"`, ReturnByValue: new(true),
	})
	return err == nil && r.Result != nil && string(r.Result.Value) == "true", err
}

// PDF prints the page.
func (s *Screen) PDF(ctx context.Context) ([]byte, error) {
	var r cdppage.PrintToPDFResult
	err := s.config.Run(ctx, "printing the page", s.config.PrintTimeout, func(ctx context.Context) (err error) {
		r, err = protocol.Call(ctx, s.config.Session, cdppage.PrintToPDF, cdppage.PrintToPDFParams{
			PrintBackground: new(true), PreferCSSPageSize: new(true),
		})
		return err
	})
	return r.Data, err
}
