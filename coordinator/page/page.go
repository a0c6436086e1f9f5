package page

import (
	"browser-coordinator/coordinator/page/guard"
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

// Page is one attached page. Its methods may be called from any goroutine.
// The caller must order actions that depend on one another.
type Page struct {
	browser   *Browser
	id        target.ID
	session   *cdp.Session // of the page itself; frames may have their own
	frames    *frame.Tree
	reader    *snapshot.Reader
	input     *input.Input
	emulation *emulation.Emulation
	history   *history.History
	guard     *guard.Guard

	shots atomic.Int32 // see captureEarly
	hung  atomic.Bool  // the page has not responded to the last probe; see slow

	// mu guards the fields that follow.
	mu       sync.Mutex
	changed  notify.Broadcast                  // of any state; see notify
	sessions map[target.SessionID]*cdp.Session // sessions whose events are handled
	loaded   bool                              // the main document's load event has fired
	parsed   bool                              // its DOMContentLoaded has
	pending  string                            // URL of a navigation of the main frame under way
	told     int64                             // console's last message plus one when an action last returned; 0: none did
	over     int64                             // the console's last message when the tasks of an action were over
	tasks    chan struct{}                     // closed when those tasks are over; nil: there was no action
	left     time.Time                         // when pending began
	commits  int                               // documents that the main frame has shown
	moves    int                               // URL changes within a document
	windows  int                               // windows that the page requested
	download string                            // URL of the last download
	dialog   *Dialog
	lost     bool          // the renderer has gone without a replacement
	picking  chan pickNews // nil while no user picks an element
	ended    error         // ErrCrashed until revived, or ErrPageClosed
	ops      map[*operation]struct{}
	focused  bool                 // focus emulation is on
	drawing  bool                 // see draw
	scripts  map[scriptKey]string // addresses, see askPaused
}

// ID is the page's CDP target id.
func (p *Page) ID() string { return string(p.id) }

// Session is the page's own session, for CDP commands without a method in this package.
func (p *Page) Session() *cdp.Session { return p.session }

// attach opens the session and turns on the domains whose events are needed. It sends
// the commands together and waits only for the frame tree, so that it can attach to a
// page that hangs in a dialog or in the debugger.
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
	p.emulation = emulation.New(host{p}, emulation.Options{Conn: b.conn, Viewport: b.opts.Viewport, Network: b.router.Conditions})
	p.history = history.New(host{p}, history.Options{
		Session: session, Frames: p.frames, ConsoleSize: b.opts.ConsoleSize, NetworkSize: b.opts.NetworkSize,
		Flush: b.flush, Go: b.running.Go, Logger: b.log,
	})
	p.guard = guard.New(host{p}, guard.Options{Conn: b.conn, CallTimeout: b.opts.CallTimeout, Go: b.running.Go, Logger: b.log})
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
		// A page that hangs can still be navigated or resumed. A call that needs its response
		// reports the hang itself.
		b.log.Warn("page: attached to a page that does not answer", "page", id)
	}
	return p, nil
}

// attachShare is the divisor of a call's timeout that bounds the page's response while
// attaching: the rest is left for the calls that wait for the attachment.
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
	// This attaches to frames of other processes. They are not paused at their start here,
	// so a coordinator that hangs blocks no page.
	if _, err := session.Start(ctx, "Target.setAutoAttach", target.SetAutoAttachParams{AutoAttach: true, Flatten: new(true)}); err != nil {
		return err
	}
	return p.browser.router.Admit(ctx, host{p}, session)
}

// readFrames reads the frames that existed before the first event.
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
	if p.commits == 0 { // a later event may be newer
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

// URL is the URL of the main frame.
func (p *Page) URL() string { return p.frames.URL() }

// Host is the host name of that URL; empty for a URL without one.
func (p *Page) Host() string {
	u, err := url.Parse(p.URL())
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// Addresses are the URLs of the page's frames, the main frame's first, and of files
// that the page had loaded before it was guarded.
func (p *Page) Addresses() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var addresses []string
	for _, f := range p.frames.All() {
		addresses = append(addresses, f.URL)
	}
	return append(addresses, p.guard.Early(p.commits)...)
}

// Folders are the workspace folders of the connection.
func (p *Page) Folders() []string { return p.browser.opts.Folders }

// Opened reports whether another page has opened this one.
func (p *Page) Opened() bool {
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	info := p.browser.opened[p.id]
	return info != nil && info.OpenerID != ""
}

// notify wakes all waiters for a state; mu is held.
func (p *Page) notify() {
	p.changed.Notify()
}

// await waits until the condition is true. It calls the condition with mu held.
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
// input, animation frames and screenshots work in a background tab without bringing
// it to the front. Only the first action turns it on, and it ends with the session:
// a page that is only read stays unchanged.
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

// draw makes the browser draw a background page, once and for the lifetime of the
// session. Focus emulation alone is not enough: after a while nothing is drawn, and
// whatever needs a frame (mouse events, a screenshot) waits forever. A screencast of a
// few pixels keeps the page drawing, and hardly any of its frames are sent.
func (p *Page) draw(ctx context.Context) {
	p.mu.Lock()
	on := p.drawing
	p.drawing = true
	p.mu.Unlock()
	if on {
		return
	}
	_, err := p.session.Start(ctx, cdppage.CommandStartScreencast, cdppage.StartScreencastParams{MaxWidth: 8, MaxHeight: 8, EveryNthFrame: 1000})
	if err != nil { // the action that needs it has ended; the next one tries again
		p.mu.Lock()
		p.drawing = false
		p.mu.Unlock()
	}
}
