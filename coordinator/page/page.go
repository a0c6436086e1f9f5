package page

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/emulation"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/history"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/internal/notify"
)

// Page is one attached page. Its methods may be called from any goroutine;
// acts that depend on one another are the caller's to order.
type Page struct {
	browser   *Browser
	id        target.ID
	session   *cdp.Session // of the page itself; frames may have their own
	frames    *frame.Tree
	reader    *snapshot.Reader
	input     *input.Input
	emulation *emulation.Emulation
	history   *history.History

	shots    atomic.Int32 // see captureEarly
	hung     atomic.Bool  // asked whether it still answers, the page has not; see slow
	guarding sync.Mutex   // held while the page's bounds are set; before mu

	// mu guards the fields that follow.
	mu       sync.Mutex
	changed  notify.Broadcast                  // of any state, see notify
	sessions map[target.SessionID]*cdp.Session // those whose events are taken in
	loaded   bool                              // the main document's load event has fired
	parsed   bool                              // its DOMContentLoaded has
	pending  string                            // URL of a navigation of the main frame under way
	told     int64                             // one more than the console's last message when an act was answered; 0: none was
	over     int64                             // the console message that was the last when the tasks of an act were over
	tasks    chan struct{}                     // closed when they are; nil: there was none
	left     time.Time                         // when it began
	commits  int                               // documents that the main frame has shown
	moves    int                               // URL changes within a document
	windows  int                               // windows that the page asked to open
	download string                            // URL of the last download
	dialog   *Dialog
	lost     bool          // its renderer has gone and no other has come
	guard    *guard        // nil: every address is allowed; see guarding
	picking  chan pickNews // nil while nobody picks
	ended    error         // ErrCrashed until revived, or ErrPageClosed
	ops      map[*operation]struct{}
	focused  bool                 // focus emulation is on
	drawing  bool                 // see draw
	scripts  map[scriptKey]string // addresses, see askPaused
}

// ID is the page's CDP target id.
func (p *Page) ID() string { return string(p.id) }

// Session is the page's own session, for what this package has no method for.
func (p *Page) Session() *cdp.Session { return p.session }

// attach opens the session and turns on what the events need. The commands are
// sent together, and only the frame tree is waited for: a page that hangs in a
// dialog or in the debugger can be attached to all the same.
func (b *Browser) attach(ctx context.Context, id target.ID) (*Page, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, b.opts.CallTimeout, cdp.ErrTimeout)
	defer cancel()
	session, err := b.conn.Attach(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("attach to page %s: %w", id, b.translate(err))
	}
	p := &Page{
		browser: b, id: id, session: session,
		sessions: map[target.SessionID]*cdp.Session{session.ID(): session},
		ops:      map[*operation]struct{}{},
	}
	// A page's target id is the id of its main frame.
	p.frames = frame.New(protocol.FrameID(id), session, frame.Options{
		Library: library, Flush: b.flush, Refs: b.opts.Refs,
		Elsewhere: func(n int) (label, address string, ok bool) { return b.refElsewhere(p, n) },
	})
	p.reader = snapshot.New(host{p}, p.frames)
	p.input = input.New(host{p}, session, p.frames, input.Options{ActionTimeout: b.opts.ActionTimeout, CallTimeout: b.opts.CallTimeout})
	p.emulation = emulation.New(host{p}, emulation.Options{Conn: b.conn, Viewport: b.opts.Viewport, Network: b.router.conditions})
	p.history = history.New(host{p}, history.Options{
		Session: session, Frames: p.frames, ConsoleSize: b.opts.ConsoleSize, NetworkSize: b.opts.NetworkSize,
		Flush: b.flush, Go: b.recording.Go, Logger: b.log,
	})
	b.mu.Lock()
	b.sessions[session.ID()] = p
	b.mu.Unlock()
	if err := p.enable(ctx, session); err != nil {
		return nil, fmt.Errorf("attach to page %s: %w", id, b.translate(err))
	}
	if err := p.emulation.SendViewport(ctx); err != nil {
		return nil, fmt.Errorf("attach to page %s: %w", id, b.translate(err))
	}
	if err := p.readFrames(ctx); err != nil {
		var late *TimeoutError
		var hung *HungError
		var dialog *DialogError
		if !errors.As(err, &late) && !errors.As(err, &hung) && !errors.As(err, &dialog) {
			b.forget(p)
			b.detach(session)
			return nil, p.explain(err, "attaching to page "+string(id))
		}
		// A page that hangs can still be navigated or freed; what needs it to
		// answer says so in its own time.
		b.log.Warn("page: attached to a page that does not answer", "page", id)
	}
	return p, nil
}

// attachShare is the part of a call's time that a page gets to answer when it is
// attached to: the rest is for those that wait for it.
const attachShare = 5

// enable turns on the domains of a session without waiting for the replies.
func (p *Page) enable(ctx context.Context, session *cdp.Session) error {
	for _, method := range []string{"Page.enable", "Inspector.enable", "Runtime.enable", "Log.enable"} {
		if _, err := session.Start(ctx, method, nil); err != nil {
			return err
		}
	}
	if err := history.Enable(ctx, session); err != nil {
		return err
	}
	if err := history.KeepBodies(ctx, session); err != nil {
		return err
	}
	// Frames of other processes; nothing is ever held at its start, so a coordinator
	// that hangs holds up nobody's page.
	if _, err := session.Start(ctx, "Target.setAutoAttach", target.SetAutoAttachParams{AutoAttach: true, Flatten: new(true)}); err != nil {
		return err
	}
	return p.browser.router.admit(ctx, p, session)
}

// readFrames learns the frames that were there before the events.
func (p *Page) readFrames(ctx context.Context) error {
	ctx, end, err := p.begin(ctx, "attaching to the page", p.browser.opts.CallTimeout/attachShare)
	if err != nil {
		return err
	}
	defer end()
	tree, err := protocol.Call(ctx, p.session, cdppage.GetFrameTree, protocol.Empty{})
	if err != nil {
		return err
	}
	past, err := p.history.Network.Ask(ctx)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.frames.Add(tree.FrameTree) {
		p.history.AddressKnown(p.frames.URL())
	}
	if p.commits == 0 { // an event since then may know more
		p.loaded = p.loaded || past.State == "complete"
		p.parsed = p.parsed || past.State != "loading"
	}
	p.history.Network.LearnFirst(past)
	p.notify()
	return nil
}

// Info returns the page's title and URL now.
func (p *Page) Info(ctx context.Context) (Info, error) {
	ctx, cancel := context.WithTimeout(ctx, p.browser.opts.CallTimeout)
	defer cancel()
	r, err := protocol.Call(ctx, p.browser.conn, target.GetTargetInfo, target.GetTargetInfoParams{TargetID: p.id})
	if err != nil {
		return Info{}, p.explain(err, "reading the page's title")
	}
	return pageInfo(r.TargetInfo), nil
}

// Dialog returns the open dialog, or nil.
func (p *Page) Dialog() *Dialog {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dialog
}

// URL is the address that the main frame shows.
func (p *Page) URL() string { return p.frames.URL() }

// Host is the host name of that address, empty for one without.
func (p *Page) Host() string {
	u, err := url.Parse(p.URL())
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// notify wakes everybody who waits for a state; mu is held.
func (p *Page) notify() {
	p.changed.Notify()
}

// await waits until the condition, which is called with mu held, is true.
func (p *Page) await(ctx context.Context, condition func() bool) error {
	for {
		p.mu.Lock()
		met, changed := condition(), p.changed.Next()
		p.mu.Unlock()
		if met {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// emulateFocus makes the page believe that it is focused and visible, so that
// input, animation frames and screenshots work in a tab in the background
// without bringing it to the front. It is turned on by the first act only and
// ends with the session: a page that is merely looked at is left as it is.
func (p *Page) emulateFocus(ctx context.Context) error {
	p.mu.Lock()
	on := p.focused
	p.focused = true
	p.mu.Unlock()
	if on {
		return nil
	}
	visible, err := isVisible(ctx, p.session, target.ID(p.id))
	if err != nil {
		return err
	}
	if _, err := p.session.Start(ctx, "Emulation.setFocusEmulationEnabled", map[string]any{"enabled": true}); err != nil {
		return err
	}
	if visible {
		return nil
	}
	p.draw(ctx)
	return p.frames.SetBehind(ctx)
}

// draw makes the browser draw a page in the background, once and for as long as
// the session lives. Focus emulation alone is not enough: after a while nothing
// is drawn, and whatever waits for a frame (mouse events, a screenshot) waits
// for good. A screencast, of whose few pixels hardly any are sent, keeps it
// drawing.
func (p *Page) draw(ctx context.Context) {
	p.mu.Lock()
	on := p.drawing
	p.drawing = true
	p.mu.Unlock()
	if on {
		return
	}
	_, err := p.session.Start(ctx, cdppage.CommandStartScreencast, cdppage.StartScreencastParams{MaxWidth: 8, MaxHeight: 8, EveryNthFrame: 1000})
	if err != nil { // the act that needs it has ended; the next one asks again
		p.mu.Lock()
		p.drawing = false
		p.mu.Unlock()
	}
}
