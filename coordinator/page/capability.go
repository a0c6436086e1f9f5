package page

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/browser"
	protocol "github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/capture"
	"browser-coordinator/coordinator/page/emulation"
	"browser-coordinator/coordinator/page/fetch"
	"browser-coordinator/coordinator/page/guard"
	"browser-coordinator/coordinator/page/history"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/pick"
	"browser-coordinator/coordinator/page/profiling"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/coordinator/page/sources"
	"browser-coordinator/coordinator/page/storage"
)

// host adapts a page to its capabilities. Each capability declares an interface with
// the methods that it needs.
type host struct{ *Page }

// Run runs an operation on the page and explains its error; limit 0: that of any call.
func (h host) Run(ctx context.Context, doing string, limit time.Duration, do func(context.Context) error) error {
	return h.operations.run(ctx, doing, cmp.Or(limit, h.connection.opts.CallTimeout), do)
}

// RunUnwatched is Run for operations that may be slow. It does not probe the page for the
// reason, and returns the operation's own error.
func (h host) RunUnwatched(ctx context.Context, doing string, do func(context.Context) error) error {
	ctx, end, err := h.operations.beginOperation(ctx, doing, h.connection.opts.CallTimeout/attachShare, &operation{unwatched: true})
	if err != nil {
		return err
	}
	defer end()
	return do(ctx)
}

// Wake makes all waiters for a state of the page check it again.
func (h host) Wake() { h.state.wake() }

// CallFunction calls a function in the isolated world of the main document, with one
// argument, and decodes the JSON text that it returns.
func (h host) CallFunction(ctx context.Context, function string, argument, result any) error {
	return h.frames.Run(ctx, h.frames.Main(), function, argument, result)
}

// KnownURLs are the URLs that the page and its frames show or have shown.
func (h host) KnownURLs() []string {
	urls := h.history.Network.DocumentURLs()
	for _, f := range h.frames.All() {
		urls = append(urls, f.URL)
	}
	return urls
}

// Awaited are the URLs of what scripts or frames have requested and not received yet.
func (h host) Awaited() []string { return h.history.Network.Awaited() }

// longPoll is how long a response may be awaited that changes the page: one that takes longer
// is a long poll, which never ends.
const longPoll = 5 * time.Second

// Loads reports whether the page is loading, or awaits responses that may change it. One of an
// address that has kept the page waiting before is none of them.
func (h host) Loads() bool {
	h.state.mu.Lock()
	loads := h.state.pending != "" || !h.state.loaded
	h.state.mu.Unlock()
	return loads || h.history.Network.Pending(longPoll)
}

// FrameSessions are the sessions of the page's frames in other processes.
func (h host) FrameSessions() []*cdp.Session { return h.frames.Sessions()[1:] }

// Zoom is the zoom that the user has set for the site of the page.
func (h host) Zoom(ctx context.Context) (float64, error) {
	l, err := h.frames.Layout(ctx)
	return l.Zoom, err
}

// Closed reports whether the page is closed or has crashed.
func (h host) Closed() bool {
	return h.state.whyEnded() != nil
}

// Documents counts the documents that the main frame has shown.
func (h host) Documents() int {
	return h.state.documents()
}

func (h host) EmulateFocus(ctx context.Context) error { return h.screen.EmulateFocus(ctx) }

func (h host) ResourceContent(ctx context.Context, url string) ([]byte, error) {
	return h.history.Network.ResourceContent(ctx, url)
}

// Profiler starts recordings of the browser's work for the page.
func (p *Page) Profiler() *profiling.Profiler { return p.connection.recordings.Of(host{p}) }

// Storage is the data that the sites of the page's browser context have stored.
func (p *Page) Storage() *storage.Storage {
	return storage.New(host{p}, storage.Options{
		Conn: p.connection.conn, Session: p.session, Logger: p.connection.log, StateTimeout: p.connection.opts.NavigateTimeout,
	})
}

// Console is what the page has logged.
func (p *Page) History() *history.History { return p.history }

// Emulate overrides properties of the page's environment.
func (p *Page) Emulate(ctx context.Context, s emulation.Settings) (Change, error) {
	apply, err := p.emulation.Plan(s)
	if err != nil {
		return Change{}, err
	}
	return p.act(ctx, "emulating", p.connection.opts.CallTimeout, apply)
}

// EmulatedNetwork is the page's network override; nil: none.
func (h host) EmulatedNetwork() any { return h.emulation.Network() }

// Guard limits the addresses that the page may open.
func (p *Page) Guard() *guard.Guard { return p.guard }

// Screen captures what the page draws.
func (p *Page) Screen() *capture.Screen { return p.screen }

// Sources maps positions in the page's scripts to the workspace.
func (p *Page) Sources() *sources.Sources { return p.sources }

// Headless reports whether the page's browser draws on no screen.
func (p *Page) Headless(ctx context.Context) (bool, error) {
	version, err := protocol.Call(ctx, p.connection.conn, browser.GetVersion, protocol.Empty{})
	if err != nil {
		return false, fmt.Errorf("find out whether the browser is visible: %w", err)
	}
	return strings.Contains(version.UserAgent, "Headless") || strings.HasPrefix(version.Product, "Headless"), nil
}

// Product is the browser's name and version.
func (b *Browser) Product(ctx context.Context) (string, error) {
	version, err := protocol.Call(ctx, b.conn, browser.GetVersion, protocol.Empty{})
	if err != nil {
		return "", fmt.Errorf("ask the browser for its version: %w", err)
	}
	return version.Product, nil
}

// Picker lets the user point at an element of the page.
func (p *Page) Picker() *pick.Picker { return p.picker }

// Fetcher makes requests as the page.
func (p *Page) Fetcher() *fetch.Fetcher {
	return &fetch.Fetcher{Page: host{p}, Frames: p.frames, Guard: p.guard, Network: p.history.Network}
}

// Explain turns an error into one that the caller of an operation can act on.
func (h host) Explain(err error, doing string) error { return h.operations.explain(err, doing) }

// Interrupt ends the calls under way with an error. It is called with mu held.
func (h host) Interrupt(err error) { h.operations.interrupt(err) }

// Flush waits until the events received so far are handled.
func (h host) Flush() { h.connection.flush() }

// MainFrame is the id of the main frame, after the events received so far.
func (h host) MainFrame() protocol.FrameID {
	h.Flush()
	return h.frames.Main()
}

// AwaitParsed waits until a document that has just begun is parsed. It returns false if
// the document was parsed before, or is not parsed in time.
func (h host) AwaitParsed(ctx context.Context) bool {
	h.state.mu.Lock()
	parsed := h.state.parsed
	h.state.mu.Unlock()
	bounded, cancel := context.WithTimeoutCause(ctx, loadTimeout, errLimit)
	defer cancel()
	return !parsed && h.state.await(bounded, func() bool { return h.state.parsed }) == nil
}

// Reader reads the page: snapshots, text, HTML, and properties of elements.
func (p *Page) Reader() *snapshot.Reader { return p.reader }

func (h host) UnlessLeaving(ctx context.Context, ask func(ctx context.Context) error) error {
	return h.observer.unlessLeaving(ctx, ask)
}

// StopLeaving stops the navigation to another document.
func (h host) StopLeaving(ctx context.Context) error {
	if !h.state.isLeaving() {
		return nil
	}
	_, err := h.session.Start(ctx, cdppage.CommandStopLoading, nil)
	return err
}

func (h host) Await(ctx context.Context, condition func() bool) error {
	return h.state.await(ctx, condition)
}

func (h host) AwaitDownload(ctx context.Context) { h.observer.awaitDownload(ctx) }

// WindowOpens notes that a window opens for which the page gets no event.
func (h host) WindowOpens() {
	h.state.mu.Lock()
	defer h.state.mu.Unlock()
	h.state.windows++
}

// Input returns the page's user input; [Page.Act] runs its actions.
func (p *Page) Input() *input.Input { return p.input }
