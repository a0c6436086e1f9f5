package page

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"sync"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"

	"browser-coordinator/coordinator/cdp"
)

// Bounds restrict the URLs of a page. Each func returns an error for a URL that it
// refuses; nil: all are allowed.
type Bounds struct {
	// Open checks the main frame's navigations, whatever starts them and wherever they
	// redirect. It also checks each document that the main frame shows, and the requests
	// of Fetch. Each URL is the one that the browser has parsed, so that no difference in
	// parsing can bypass the check.
	Open func(address string) error
	// File checks every file: URL that the page and its frames of the same process
	// request, including images.
	File func(address string) error
}

// guard enforces the bounds of a page. It has a session of its own, so that it and the
// routes do not override each other. It pauses no other request.
type guard struct {
	page    *Page
	session *cdp.Session

	mu       sync.Mutex                 // guards the fields that follow
	bounds   Bounds                     // each bound is set at most once
	fetching map[string]bool            // the marks of the current requests of Fetch
	fetches  map[network.RequestID]bool // those requests, through their redirects
	refused  []error                    // refusals since the page was attached
	// early are the refused files that the document had requested before the guard was
	// enabled; document is that document's number (Page.commits).
	early    []string
	document int
	leave    chan struct{} // the main frame shows a document that is refused
}

// Guard enforces the bounds on the page from now on until this connection ends. The
// first call that sets a bound wins.
func (p *Page) Guard(ctx context.Context, bounds Bounds) error {
	p.guarding.Lock()
	defer p.guarding.Unlock()
	ctx, cancel := context.WithTimeoutCause(ctx, p.browser.opts.CallTimeout, cdp.ErrTimeout)
	defer cancel()
	g := p.guardedBy()
	if g != nil && !g.widen(bounds) {
		return nil
	}
	if g != nil {
		return p.explain(g.begin(ctx), "guarding the page")
	}
	session, err := p.browser.conn.Attach(ctx, target.ID(p.id))
	if err != nil {
		return p.explain(err, "guarding the page")
	}
	g = &guard{page: p, session: session, bounds: bounds, fetching: map[string]bool{}, fetches: map[network.RequestID]bool{}, leave: make(chan struct{}, 1)}
	paused := session.Listen(fetch.RequestPaused.Method)
	p.browser.guards.Add(1)
	go g.loop(paused)
	if err := g.begin(ctx); err != nil {
		paused.Close()
		p.browser.detach(session)
		return p.explain(err, "guarding the page")
	}
	p.mu.Lock()
	p.guard = g
	p.mu.Unlock()
	return nil
}

// begin pauses the requests from now on, and checks the earlier ones.
func (g *guard) begin(ctx context.Context) error {
	if err := g.enable(ctx); err != nil {
		return err
	}
	return g.lookBack(ctx)
}

// lookBack notes refused files that the document requested before it was guarded. A
// document that another page has opened may have done so.
func (g *guard) lookBack(ctx context.Context) error {
	p := g.page
	if g.bounds.File == nil || FileAddress(p.URL()) == "" {
		return nil
	}
	p.mu.Lock()
	document := p.commits
	p.mu.Unlock()
	tree, err := protocol.Call(ctx, p.session, cdppage.GetResourceTree, protocol.Empty{})
	if err != nil {
		return err
	}
	var early []string
	for frames := []*cdppage.FrameResourceTree{tree.FrameTree}; len(frames) > 0; frames = frames[1:] {
		frames = append(frames, frames[0].ChildFrames...)
		for _, r := range frames[0].Resources {
			if FileAddress(r.URL) != "" && !r.Failed && g.bounds.File(r.URL) != nil {
				early = append(early, r.URL)
			}
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.early, g.document = early, document
	return nil
}

// holds returns the refused files that the document with that number contains.
func (g *guard) holds(document int) []string {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.document != document {
		return nil
	}
	return g.early
}

// widen sets the bounds that are not set yet, and reports whether there were any.
func (g *guard) widen(bounds Bounds) (changed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.bounds.Open == nil && bounds.Open != nil {
		g.bounds.Open, changed = bounds.Open, true
	}
	if g.bounds.File == nil && bounds.File != nil {
		g.bounds.File, changed = bounds.File, true
	}
	return changed
}

// enable pauses the requests that must be checked now.
func (g *guard) enable(ctx context.Context) error {
	return g.session.Call(ctx, fetch.CommandEnable, g.patterns(), nil)
}

func (g *guard) patterns() fetch.EnableParams {
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

// checkFile checks the URL that a caller passes to Navigate or Fetch if it is a file.
// For other URLs, only the browser knows the final URL.
func (g *guard) checkFile(address string) error {
	if FileAddress(address) == "" {
		return nil
	}
	return g.check(address)
}

// check checks a URL as the browser has parsed it.
func (g *guard) check(address string) error {
	g.mu.Lock()
	bounds := g.bounds
	g.mu.Unlock()
	if file := FileAddress(address); file != "" && bounds.File != nil {
		return bounds.File(file)
	}
	if bounds.Open != nil {
		return bounds.Open(address)
	}
	return nil
}

// The Browser owns loop; it ends with the session.
func (g *guard) loop(paused *cdp.Subscription) {
	defer g.page.browser.guards.Done()
	for {
		select {
		case e, ok := <-paused.C():
			if !ok {
				return
			}
			var request fetch.EventRequestPaused
			if err := e.Decode(&request); err != nil {
				g.page.browser.log.Error("page: an event was not understood", "err", err)
				continue
			}
			g.judge(&request)
		case <-g.leave:
			ctx, cancel := context.WithTimeout(context.Background(), g.page.browser.opts.CallTimeout)
			_, _ = g.session.Start(ctx, cdppage.CommandNavigate, cdppage.NavigateParams{URL: "about:blank"})
			cancel()
		}
	}
}

// shows returns an error if the main frame must not show the URL.
func (g *guard) shows(address string) error {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	open := g.bounds.Open
	g.mu.Unlock()
	if open == nil {
		return nil
	}
	return open(address)
}

// committed interrupts the calls under way if the main frame shows a refused document,
// and makes the page leave it. The browser pauses no request for a document from the
// history or for a response of a service worker or a route. Page.mu is held.
func (g *guard) committed(address string) {
	err := g.shows(address)
	if err == nil {
		return
	}
	g.mu.Lock()
	g.refused = append(g.refused, err)
	g.mu.Unlock()
	g.page.interrupt(err)
	select {
	case g.leave <- struct{}{}:
	default: // it leaves already
	}
}

func (g *guard) judge(e *fetch.EventRequestPaused) {
	ctx, cancel := context.WithTimeout(context.Background(), g.page.browser.opts.CallTimeout)
	defer cancel()
	asked := g.concerns(e)
	if !asked && FileAddress(e.Request.URL) == "" {
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
		g.mu.Lock()
		g.refused = append(g.refused, err)
		g.mu.Unlock()
		g.page.wake()
	}
	_, _ = g.session.Start(ctx, fetch.CommandFailRequest, fetch.FailRequestParams{RequestID: e.RequestID, ErrorReason: reason})
}

// concerns reports whether a request is the main frame's document or one of Fetch.
func (g *guard) concerns(e *fetch.EventRequestPaused) bool {
	if e.ResourceType == network.ResourceTypeDocument {
		return e.FrameID == g.page.frames.Main()
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

// fetch makes the guard check the requests of Fetch until the caller calls end. The
// caller must use the mark as the URL's fragment. No server and no cache sees the
// fragment, and it identifies the request however the browser parses the rest.
func (g *guard) fetch(ctx context.Context, address string) (mark string, end func(), err error) {
	if err := g.checkFile(address); err != nil {
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
			_, _ = g.page.session.Start(context.WithoutCancel(ctx), network.CommandSetBypassServiceWorker, network.SetBypassServiceWorkerParams{})
		}
	}
	// A service worker would send the request itself, and the guard would not see it.
	if err := g.page.session.Call(ctx, network.CommandSetBypassServiceWorker, network.SetBypassServiceWorkerParams{Bypass: true}, nil); err != nil {
		end()
		return "", nil, err
	}
	if err := g.enable(ctx); err != nil {
		end()
		return "", nil, err
	}
	return mark, end, nil
}

// refusals counts the refusals so far.
func (g *guard) refusals() int {
	if g == nil {
		return 0
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.refused)
}

// refusal is the last refusal after the first `after` ones; nil: none.
func (g *guard) refusal(after int) error {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.refused) <= after {
		return nil
	}
	return g.refused[len(g.refused)-1]
}

// guardedBy returns the page's guard; nil: none.
func (p *Page) guardedBy() *guard {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.guard
}

// OriginError reports a URL that is not allowed.
type OriginError struct {
	URL    string
	Reason string // for example: --allowed-origins does not list it
}

func (e *OriginError) Error() string { return fmt.Sprintf("%s is not allowed: %s", e.URL, e.Reason) }
