package page

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/chromedp/cdproto/browser"
	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/address"
	"browser-coordinator/coordinator/page/audit"
	"browser-coordinator/coordinator/page/capture"
	"browser-coordinator/coordinator/page/emulation"
	"browser-coordinator/coordinator/page/fetch"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/guard"
	"browser-coordinator/coordinator/page/highlight"
	"browser-coordinator/coordinator/page/history"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/inspect"
	"browser-coordinator/coordinator/page/lifecycle"
	"browser-coordinator/coordinator/page/observe"
	"browser-coordinator/coordinator/page/pick"
	"browser-coordinator/coordinator/page/pointer"
	"browser-coordinator/coordinator/page/profiling"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/coordinator/page/sources"
	"browser-coordinator/coordinator/page/storage"
	"browser-coordinator/coordinator/page/video"
	"browser-coordinator/coordinator/page/webmcp"
)

// Page is one attached page. Its methods may be called from any goroutine.
// The caller must order actions that depend on one another.
type Page struct {
	id      target.ID
	browser *Browser
	session *cdp.Session // of the page itself; frames may have their own
	frames  *frame.Tree
	life    *lifecycle.Lifecycle

	pointer   *pointer.Pointer
	screen    *capture.Screen
	history   *history.History
	reader    *snapshot.Reader
	input     *input.Input
	emulation *emulation.Emulation
	guard     *guard.Guard
	sources   *sources.Sources
	picker    *pick.Picker
	observer  *observe.Observer
	highlight *highlight.Highlighter
	inspector *inspect.Inspector
	auditor   *audit.Auditor
	fetcher   *fetch.Fetcher
	storage   *storage.Storage
	profiler  *profiling.Profiler
	recorder  *video.Recorder
	tools     *webmcp.Tools

	calls      atomic.Int32         // under way
	hung       atomic.Bool          // the page has not responded to the last probe, see probe
	scriptURLs map[scriptKey]string // only the event loop uses it, see scriptParsed

	mu       sync.Mutex // guards reported, and orders what is reported
	reported reported
}

// reported is what the results of actions have reported, so that no later result does.
type reported struct {
	console int64 // the last message plus one; 0: there was no result
	failure int64 // number of the last failed request
	pages   int   // higher than the index of each page that had opened
}

// newPage composes a page and its capabilities.
func (b *Browser) newPage(id target.ID, session *cdp.Session) *Page {
	p := &Page{id: id, browser: b, session: session, life: lifecycle.New(), scriptURLs: map[scriptKey]string{}}
	o, logger := b.opts, b.log.With("page", id)
	// The target id usually is the id of the main frame.
	p.frames = frame.New(protocol.FrameID(id), session, frame.Options{
		Library: library, Flush: b.flush, Refs: o.Refs,
		Elsewhere: func(n int) (label, address string, ok bool) { return b.refElsewhere(p, n) },
		Reported:  func() string { return b.targets.url(string(id)) },
	})
	p.pointer = pointer.New(pointer.Options{
		Conn: b.conn, ID: id, Frames: p.frames, Rest: o.PointerRest, Go: b.running.Go,
	})
	p.screen = capture.New(capture.Config{
		Run: p.run, Lifecycle: p.life, ID: string(id), Browser: b.conn, Session: session, Frames: p.frames,
		PrintTimeout: o.NavigateTimeout, Conceal: p.pointer.Conceal, Go: b.running.Go, Finish: b.captures.Go,
	})
	p.history = history.New(history.Options{
		Run: p.run, Lifecycle: p.life, Conn: b.conn, Session: session, Frames: p.frames,
		ConsoleSize: o.ConsoleSize, NetworkSize: o.NetworkSize, PastTimeout: o.attachTime(), Go: b.running.Go,
		Logger: logger,
	})
	p.reader = snapshot.New(snapshot.Config{
		Run: p.run, Lifecycle: p.life, Frames: p.frames, Screen: p.screen, Network: p.history.Network,
		CompareTimeout: o.compareTime(),
	})
	p.input = input.New(input.Options{
		Lifecycle: p.life, Session: session, Frames: p.frames, Screen: p.screen, Network: p.history.Network,
		ActionTimeout: o.ActionTimeout, CallTimeout: o.CallTimeout, TakenOver: o.TakenOver,
		Before: func(ctx context.Context) { p.lookBefore(ctx, false) },
		Acts: func(at frame.Point) {
			if b.userKnown() {
				p.pointer.Show(at)
			}
		},
	})
	p.emulation = emulation.New(emulation.Options{
		Conn: b.conn, ID: id, Session: session, Frames: p.frames, Screen: p.screen, Viewport: o.Viewport,
		Network: func(emulated any) any { return b.router.Conditions(p.emulation, emulated) }, Owner: o.Owner,
	})
	p.guard = guard.New(guard.Options{
		Conn: b.conn, ID: id, Session: session, Frames: p.frames, Lifecycle: p.life,
		CallTimeout: o.CallTimeout, Explain: p.explain, Go: b.running.Go, Logger: logger,
	})
	p.sources = sources.New(p.life, p.history.Network, o.Folders, logger)
	p.picker = pick.New(pick.Options{
		Run: p.run, Session: session, Frames: p.frames, Reader: p.reader, Screen: p.screen, Sources: p.sources,
	})
	p.observer = observe.New(observe.Options{
		Run: p.run, Lifecycle: p.life, Session: session, Frames: p.frames, Reader: p.reader, Library: library,
		Shows: p.guard.Shows, Go: b.running.Go,
	})
	p.highlight = highlight.New(highlight.Options{Run: p.run, Frames: p.frames, Go: b.running.Go})
	p.inspector = inspect.New(inspect.Options{
		Run: p.run, Frames: p.frames, Input: p.input, Network: p.history.Network, Sources: p.sources,
	})
	p.auditor = audit.New(audit.Options{
		Run: p.run, Frames: p.frames, Reader: p.reader,
		Script: func(ctx context.Context, s *cdp.Session, run func(context.Context) error) error {
			return p.runScript(ctx, s, o.auditTime(), run)
		},
	})
	p.fetcher = &fetch.Fetcher{
		Run: p.run, Lifecycle: p.life, Frames: p.frames, Guard: p.guard, Network: p.history.Network,
	}
	p.storage = storage.New(storage.Options{
		Run: p.run, Conn: b.conn, ID: id, Session: session, Frames: p.frames, Network: p.history.Network,
		Logger: logger, StateTimeout: o.NavigateTimeout,
	})
	p.profiler = profiling.New(&b.recordings, profiling.Options{
		Run: p.run, Lifecycle: p.life, ID: id, Browser: b.ID(), Session: session, Frames: p.frames, Screen: p.screen,
		Network: p.history.Network, Owner: o.Owner,
	})
	p.recorder = video.New(video.Options{
		Conn: b.conn, ID: id, Input: p.input, Screen: p.screen, Conceal: p.pointer.Conceal, Go: b.running.Go,
	})
	p.tools = webmcp.New(webmcp.Options{
		Lifecycle: p.life, Frames: p.frames,
		Script: func(ctx context.Context, s *cdp.Session, run func(context.Context) error) error {
			p.input.ScriptRuns()
			return p.runScript(ctx, s, p.timeLeft(ctx), run)
		},
	})
	return p
}

// ID is the page's CDP target id.
func (p *Page) ID() string { return string(p.id) }

// BrowserID is that of the page's browser.
func (p *Page) BrowserID() string { return p.browser.ID() }

// Session is the page's own session, for CDP commands without a method in this package.
func (p *Page) Session() *cdp.Session { return p.session }

// Info returns the page's title and URL now.
func (p *Page) Info(ctx context.Context) (Info, error) {
	r, err := protocol.Call(ctx, p.browser.conn, target.GetTargetInfo, target.GetTargetInfoParams{TargetID: p.id})
	if err != nil {
		return Info{}, p.explain(err, "reading the page's title")
	}
	return p.browser.targets.one(r.TargetInfo), nil
}

// Dialog returns the open dialog, or nil.
func (p *Page) Dialog() *Dialog { return p.life.Dialog() }

// URL is the URL of the main frame. For a page that has not responded yet, it is the one
// that the browser reports.
func (p *Page) URL() string { return p.frames.PageURL() }

// Host is the host name of that URL; empty for a URL without one.
func (p *Page) Host() string {
	u, err := url.Parse(p.URL())
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// Site is the origin of the page's URL; empty: it is no web address.
func (p *Page) Site() string { return address.Origin(p.URL()) }

// Place is where the page is, see [address.Place].
func (p *Page) Place() string {
	p.frames.Flush()
	return address.Place(p.URL())
}

// Origin is the page's site, if that is the origin of its document and of those that these elements
// are in. Else it is empty: for a document without an origin of its own, such as a sandboxed one, for
// an address that is on no site, and for what is not known.
func (p *Page) Origin(ctx context.Context, elements ...input.Element) string {
	site := p.Site()
	for _, e := range append([]input.Element{{Frame: p.frames.Main()}}, elements...) {
		f, _ := p.frames.Frame(e.Frame)
		origin := f.Origin
		if origin == "" {
			err := p.run(ctx, "reading the page's origin", respondTimeout, func(ctx context.Context) (err error) {
				origin, err = p.frames.Origin(ctx, e.Frame)
				return err
			})
			if err != nil {
				return ""
			}
		}
		if origin != site {
			return ""
		}
	}
	return site
}

// IsOnOneSite reports whether the page's frames are all on its site, as far as their addresses tell. A
// blank one has the origin of the page around it.
func (p *Page) IsOnOneSite() bool {
	return !slices.ContainsFunc(p.frames.All(), func(f frame.Frame) bool {
		return f.URL != "about:blank" && f.URL != "about:srcdoc" && address.Origin(f.URL) != p.Site()
	})
}

// LearnURL reads the frames of a page that did not respond when it was attached to. If it
// still does not respond, only its URL is known. An error means that nothing is.
func (p *Page) LearnURL(ctx context.Context) error {
	if p.frames.URL() != "" {
		return nil
	}
	if err := p.readFrames(ctx); err != nil && p.URL() == "" {
		return p.explain(err, "reading the page's URL")
	}
	return nil
}

// Addresses are the URLs of the page's frames, the main frame's first, and of files
// that the page had loaded before it was guarded.
func (p *Page) Addresses() []string {
	addresses := []string{p.URL()}
	for _, f := range p.frames.All()[1:] {
		addresses = append(addresses, f.URL)
	}
	return append(addresses, p.guard.EarlyRefusals(p.life.Documents())...)
}

// LimitFrames is [frame.Tree.Limit] for the page's frames.
func (p *Page) LimitFrames(check func(address string) error) { p.frames.Limit(check) }

// Folders are the workspace folders of the connection.
func (p *Page) Folders() []string { return p.browser.opts.Folders }

// Opened reports whether another page has opened this one.
func (p *Page) Opened() bool { return p.browser.targets.opener(p.ID()) != "" }

// Headless reports whether the page's browser draws on no screen.
func (p *Page) Headless(ctx context.Context) (bool, error) {
	version, err := protocol.Call(ctx, p.browser.conn, browser.GetVersion, protocol.Empty{})
	if err != nil {
		return false, fmt.Errorf("find out whether the browser is visible: %w", err)
	}
	return strings.Contains(version.UserAgent, "Headless") || strings.HasPrefix(version.Product, "Headless"), nil
}

// Emulate overrides properties of the page's environment.
func (p *Page) Emulate(ctx context.Context, s emulation.Settings) (Change, error) {
	apply, err := p.emulation.Plan(s)
	if err != nil {
		return Change{}, err
	}
	return p.act(ctx, "emulating", p.browser.opts.CallTimeout, apply)
}

// ViewportReplaced is [emulation.Emulation.Replaced], as far as the page responds now.
func (p *Page) ViewportReplaced(ctx context.Context) string {
	p.browser.flush()
	return p.whileResponsive(ctx, p.emulation.Replaced)
}

// Healed is [capture.Screen.Healed], as far as the page responds now.
func (p *Page) Healed(ctx context.Context) string { return p.whileResponsive(ctx, p.screen.Healed) }

// PermissionReplaced is [emulation.Emulation.PermissionReplaced], as far as the page responds now.
func (p *Page) PermissionReplaced(ctx context.Context) string {
	return p.whileResponsive(ctx, p.emulation.PermissionReplaced)
}

// whileResponsive is what a function finds out, if the page responds now; else it is empty.
func (p *Page) whileResponsive(ctx context.Context, find func(context.Context) string) (sentence string) {
	if p.life.IsBlocked() {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, respondTimeout)
	defer cancel()
	_ = p.life.UnlessLeaving(ctx, func(ctx context.Context) error {
		sentence = find(ctx)
		return nil
	})
	return sentence
}

// Reader reads the page: snapshots, text, HTML, and properties of elements.
func (p *Page) Reader() *snapshot.Reader { return p.reader }

// Input returns the page's user input; [Page.Act] runs its actions.
func (p *Page) Input() *input.Input { return p.input }

// History is what the page has logged and requested.
func (p *Page) History() *history.History { return p.history }

// Screen captures what the page draws.
func (p *Page) Screen() *capture.Screen { return p.screen }

// Guard limits the addresses that the page may open.
func (p *Page) Guard() *guard.Guard { return p.guard }

// Sources maps positions in the page's scripts to the workspace.
func (p *Page) Sources() *sources.Sources { return p.sources }

// Picker lets the user point at an element of the page.
func (p *Page) Picker() *pick.Picker { return p.picker }

// Observer records what the user does in the page.
func (p *Page) Observer() *observe.Observer { return p.observer }

// Highlighter highlights an element of the page for the user.
func (p *Page) Highlighter() *highlight.Highlighter { return p.highlight }

// Inspector examines elements of the page for a web developer.
func (p *Page) Inspector() *inspect.Inspector { return p.inspector }

// Auditor finds barriers in the page for people with disabilities.
func (p *Page) Auditor() *audit.Auditor { return p.auditor }

// Fetcher makes requests as the page.
func (p *Page) Fetcher() *fetch.Fetcher { return p.fetcher }

// Storage is the data that the sites of the page's browser context have stored.
func (p *Page) Storage() *storage.Storage { return p.storage }

// Recorder records the page as a video.
func (p *Page) Recorder() *video.Recorder { return p.recorder }

// Profiler starts recordings of the browser's work for the page.
func (p *Page) Profiler() *profiling.Profiler { return p.profiler }

// Tools are those that the page offers to agents.
func (p *Page) Tools() *webmcp.Tools { return p.tools }
