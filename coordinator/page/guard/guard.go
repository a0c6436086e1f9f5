// Package guard limits the addresses that a page may open and the files that it may
// request.
package guard

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"sync"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/address"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/lifecycle"
)

// Bounds restrict the URLs of a page. Each func returns an error for a URL that it
// refuses; nil: all are allowed.
type Bounds struct {
	// Open checks the main frame's navigations, whatever starts them and wherever they
	// redirect. It also checks each document that the main frame shows, and the requests
	// of Fetch. Each URL is the one that the browser has parsed, so that no difference in
	// parsing can bypass the check.
	Open func(addr string) error
	// File checks every file: URL that the page and its frames of the same process
	// request, including images.
	File func(addr string) error
}

// Options of a Guard. All are required.
type Options struct {
	Conn        *cdp.Conn
	ID          target.ID    // of the page
	Session     *cdp.Session // of the page itself
	Frames      *frame.Tree
	Lifecycle   *lifecycle.Lifecycle
	CallTimeout time.Duration
	// Explain turns an error into one that the caller of an operation can act on.
	Explain func(err error, operation string) error
	// Go starts a goroutine that the browser's connection waits for. It fails once that has ended.
	Go     func(func()) error
	Logger *slog.Logger
}

// Guard enforces the bounds of a page. It has a session of its own, so that it and the
// routes do not override each other. It pauses no other request.
type Guard struct {
	opts       Options
	limiting   sync.Mutex    // serializes Limit; taken before mu
	session    *cdp.Session  // nil: there never were bounds; Limit sets it, before loop starts
	disallowed chan struct{} // the main frame shows a document that is refused

	mu       sync.Mutex                 // guards the fields that follow
	bounds   Bounds                     // each bound is set at most once
	fetching map[string]bool            // the marks of the current requests of Fetch
	fetches  map[network.RequestID]bool // those requests, through their redirects
	// earlyRefusals are the refused files that the document had requested before the guard was
	// enabled; document is that document's number (Lifecycle.Documents).
	earlyRefusals []string
	document      int
}

// New returns the guard of a page, without bounds.
func New(opts Options) *Guard {
	return &Guard{
		opts: opts, disallowed: make(chan struct{}, 1),
		fetching: map[string]bool{}, fetches: map[network.RequestID]bool{},
	}
}

// Limit enforces the bounds on the page from now on until the connection ends. The first
// call that sets a bound wins.
func (g *Guard) Limit(ctx context.Context, bounds Bounds) error {
	g.limiting.Lock()
	defer g.limiting.Unlock()
	before, changed := g.widen(bounds)
	if !changed {
		return nil
	}
	if err := g.begin(ctx); err != nil {
		g.mu.Lock()
		g.bounds = before // the next call tries again
		g.mu.Unlock()
		return g.opts.Explain(err, "guarding the page")
	}
	return nil
}

// begin pauses the requests from now on, and checks the earlier ones.
func (g *Guard) begin(ctx context.Context) error {
	if g.session == nil {
		session, err := g.opts.Conn.Attach(ctx, g.opts.ID)
		if err != nil {
			return err
		}
		g.session = session
		paused := session.Listen(fetch.RequestPaused.Method)
		if err := g.opts.Go(func() { g.loop(paused) }); err != nil {
			return err
		}
	}
	if err := g.enable(ctx); err != nil {
		return err
	}
	return g.lookBack(ctx)
}

// lookBack notes refused files that the document requested before it was guarded. A
// document that another page has opened may have done so.
func (g *Guard) lookBack(ctx context.Context) error {
	if g.bounds.File == nil || address.OfFile(g.opts.Frames.PageURL()) == "" {
		return nil
	}
	document := g.opts.Lifecycle.Documents()
	tree, err := protocol.Call(ctx, g.opts.Session, cdppage.GetResourceTree, protocol.Empty{})
	if err != nil {
		return err
	}
	var early []string
	for frames := []*cdppage.FrameResourceTree{tree.FrameTree}; len(frames) > 0; frames = frames[1:] {
		frames = append(frames, frames[0].ChildFrames...)
		for _, r := range frames[0].Resources {
			if address.OfFile(r.URL) != "" && !r.Failed && g.bounds.File(r.URL) != nil {
				early = append(early, r.URL)
			}
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.earlyRefusals, g.document = early, document
	return nil
}

// EarlyRefusals returns the refused files that the document with that number contains.
func (g *Guard) EarlyRefusals(document int) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.document != document {
		return nil
	}
	return g.earlyRefusals
}

// widen sets the bounds that are not set yet, and reports whether there were any.
func (g *Guard) widen(bounds Bounds) (before Bounds, changed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	before = g.bounds
	if g.bounds.Open == nil && bounds.Open != nil {
		g.bounds.Open, changed = bounds.Open, true
	}
	if g.bounds.File == nil && bounds.File != nil {
		g.bounds.File, changed = bounds.File, true
	}
	return before, changed
}

// enable pauses the requests that must be checked now.
func (g *Guard) enable(ctx context.Context) error {
	return g.session.Call(ctx, fetch.CommandEnable, g.patterns(), nil)
}

func (g *Guard) patterns() fetch.EnableParams {
	g.mu.Lock()
	defer g.mu.Unlock()
	var patterns []*fetch.RequestPattern
	if g.bounds.Open != nil {
		patterns = append(patterns, &fetch.RequestPattern{URLPattern: "*", ResourceType: network.ResourceTypeDocument})
	}
	if len(g.fetching) > 0 {
		patterns = append(patterns,
			&fetch.RequestPattern{URLPattern: "*", ResourceType: network.ResourceTypeFetch},
			&fetch.RequestPattern{URLPattern: "*", ResourceType: network.ResourceTypeXHR}) // as preflights are
	}
	if g.bounds.File != nil {
		patterns = append(patterns, &fetch.RequestPattern{URLPattern: "file:*"})
	}
	return fetch.EnableParams{Patterns: patterns}
}

// CheckFile checks the URL that a caller passes to Navigate or Fetch if it is a file.
// For other URLs, only the browser knows the final URL.
func (g *Guard) CheckFile(url string) error {
	if address.OfFile(url) == "" {
		return nil
	}
	return g.check(url)
}

// check checks a URL as the browser has parsed it.
func (g *Guard) check(url string) error {
	g.mu.Lock()
	bounds := g.bounds
	g.mu.Unlock()
	if file := address.OfFile(url); file != "" && bounds.File != nil {
		return bounds.File(file)
	}
	if bounds.Open != nil {
		return bounds.Open(url)
	}
	return nil
}

// loop ends with the session.
func (g *Guard) loop(paused *cdp.Subscription) {
	for {
		select {
		case e, ok := <-paused.C():
			if !ok {
				return
			}
			var request fetch.EventRequestPaused
			if err := e.Decode(&request); err != nil {
				g.opts.Logger.Error("page: cannot decode an event of the browser", "err", err)
				continue
			}
			g.judge(&request)
		case <-g.disallowed:
			ctx, cancel := context.WithTimeout(context.Background(), g.opts.CallTimeout)
			_, _ = g.session.Start(ctx, cdppage.CommandNavigate, cdppage.NavigateParams{URL: "about:blank"})
			cancel()
		}
	}
}

// Shows returns an error if the main frame must not show the URL.
func (g *Guard) Shows(url string) error {
	g.mu.Lock()
	open := g.bounds.Open
	g.mu.Unlock()
	if open == nil {
		return nil
	}
	return open(url)
}

// Committed interrupts the calls under way if the main frame shows a refused document,
// and makes the page leave it. The browser pauses no request for a document from the
// history or for a response of a service worker or a route.
func (g *Guard) Committed(url string) {
	err := g.Shows(url)
	if err == nil {
		return
	}
	g.opts.Lifecycle.Log(lifecycle.Event{Err: err}, lifecycle.Refused)
	g.opts.Lifecycle.Interrupt(err)
	select {
	case g.disallowed <- struct{}{}:
	default: // it leaves already
	}
}

func (g *Guard) judge(e *fetch.EventRequestPaused) {
	ctx, cancel := context.WithTimeout(context.Background(), g.opts.CallTimeout)
	defer cancel()
	asked := g.concerns(e)
	if !asked && address.OfFile(e.Request.URL) == "" {
		_, _ = g.session.Start(ctx, fetch.CommandContinueRequest, fetch.ContinueRequestParams{RequestID: e.RequestID})
		return
	}
	err := g.check(e.Request.URL)
	if err == nil {
		_, _ = g.session.Start(ctx, fetch.CommandContinueRequest, fetch.ContinueRequestParams{RequestID: e.RequestID})
		return
	}
	// Inside a document, the request fails as an unreadable file does. For the document
	// itself, ErrorReasonAborted keeps the page as it is; other reasons show an error page.
	reason := network.ErrorReasonAccessDenied
	if asked {
		reason = network.ErrorReasonAborted
		g.opts.Lifecycle.Log(lifecycle.Event{Err: err}, lifecycle.Refused)
	}
	_, _ = g.session.Start(ctx, fetch.CommandFailRequest, fetch.FailRequestParams{
		RequestID: e.RequestID, ErrorReason: reason,
	})
}

// concerns reports whether a request is the main frame's document or one of those that Fetch checks.
func (g *Guard) concerns(e *fetch.EventRequestPaused) bool {
	if e.ResourceType == network.ResourceTypeDocument {
		g.opts.Frames.Flush()
		return e.FrameID == g.opts.Frames.Main()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	mark := e.Request.URLFragment
	if g.fetching[mark] {
		g.fetches[e.NetworkID] = true
	}
	// A preflight comes before its request and has another id. If a redirect has a
	// fragment, it replaces the mark.
	preflight := len(g.fetching) > 0 && mark != "" && e.Request.Method == http.MethodOptions
	return g.fetches[e.NetworkID] || preflight
}

// Fetch checks the address of a request that a script of ours makes. Where there are
// bounds, the guard checks that request and its redirects until the caller calls end. The
// caller must use the mark as the URL's fragment. No server and no cache sees the
// fragment, and it identifies the request however the browser parses the rest.
func (g *Guard) Fetch(ctx context.Context, url string) (mark string, end func(), err error) {
	g.mu.Lock()
	limited := g.bounds.Open != nil || g.bounds.File != nil
	g.mu.Unlock()
	if !limited {
		return "", func() {}, nil
	}
	if err := g.CheckFile(url); err != nil {
		return "", nil, err
	}
	mark = "#" + rand.Text()
	g.mu.Lock()
	g.fetching[mark] = true
	g.mu.Unlock()
	end = func() {
		g.mu.Lock()
		delete(g.fetching, mark)
		last := len(g.fetching) == 0
		if last {
			clear(g.fetches)
		}
		g.mu.Unlock()
		if last {
			_, _ = g.session.Start(context.WithoutCancel(ctx), fetch.CommandEnable, g.patterns())
			_, _ = g.opts.Session.Start(context.WithoutCancel(ctx), network.CommandSetBypassServiceWorker,
				network.SetBypassServiceWorkerParams{})
		}
	}
	// A service worker would send the request itself, and the guard would not see it.
	if err := g.opts.Session.Call(ctx, network.CommandSetBypassServiceWorker, network.SetBypassServiceWorkerParams{
		Bypass: true,
	}, nil); err != nil {
		end()
		return "", nil, err
	}
	if err := g.enable(ctx); err != nil {
		end()
		return "", nil, err
	}
	return mark, end, nil
}

// LimitError reports a URL or a file outside an agent's limits, and why it is.
type LimitError struct{ Text string }

func (e *LimitError) Error() string { return e.Text }
