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

// Bounds are the addresses that a page is kept to. A func gives an error for one
// that is refused; nil: all are allowed.
type Bounds struct {
	// Open is asked of the main frame's navigations, whoever begins them and
	// wherever they are redirected, of each document that the main frame shows, and
	// of what Fetch requests. Each address is as the browser has read it: no other
	// reading of an address can differ from what the browser does.
	Open func(address string) error
	// File is asked of every file: address that the page and its frames of the
	// same process ask for, a picture's too.
	File func(address string) error
}

// guard keeps a page to its bounds. It has a session of its own, so that it and
// the routes do not undo each other, and pauses no other request.
type guard struct {
	page    *Page
	session *cdp.Session

	mu       sync.Mutex                 // guards the fields that follow
	bounds   Bounds                     // what was set is not set anew
	fetching map[string]bool            // the marks of what Fetch requests now
	fetches  map[network.RequestID]bool // those requests, through their redirects
	refused  []error                    // since the page was attached to
	// early are the files beyond the bounds that the document of so many commits had
	// asked for before the guard was there.
	early    []string
	document int
	leave    chan struct{} // the main frame shows a document that is refused
}

// Guard keeps the page to the bounds from now on and for as long as this
// connection lives. Of several calls each bound's first one counts.
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

// begin has the requests from now on paused, and looks at those from before.
func (g *guard) begin(ctx context.Context) error {
	if err := g.enable(ctx); err != nil {
		return err
	}
	return g.lookBack(ctx)
}

// lookBack notes which files the document has asked for before it was guarded, as one
// that a page has opened by itself may have.
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

// holds are the files beyond the bounds that the document of so many commits holds.
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

// widen sets what was not set before, and says whether there was any.
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

// enable has the requests paused that are to be looked at now.
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

// checkFile asks the bounds of an address that Navigate or Fetch is given. Only a
// file's is asked for: where another leads to, the browser alone knows.
func (g *guard) checkFile(address string) error {
	if FileAddress(address) == "" {
		return nil
	}
	return g.check(address)
}

// check asks the bounds of an address as the browser has read it.
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

// loop is owned by the Browser and ends with the session.
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

// shows refuses an address that the main frame shows.
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

// committed ends the calls under way where the main frame shows a document that is
// refused, and has the page leave it. No request was paused for one that was restored
// from the history, or that a service worker or a route has answered. Page.mu is held.
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
	default: // it is about to
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
	// What a document holds fails as if it were not readable. Aborted leaves the page
	// as it is; other reasons show an error page.
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

// concerns says whether a request is the main frame's document, or Fetch's.
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
	// A preflight comes before its request and has another id. Where a redirect has a
	// fragment, that takes the place of the mark.
	preflight := len(g.fetching) > 0 && mark != "" && e.Request.Method == http.MethodOptions
	return g.fetches[e.NetworkID] || preflight
}

// fetch makes the guard look at what Fetch requests, until the returned func is
// called. The mark is the fragment that its address has to have: no server and no
// cache sees it, and the request is known by it however the browser reads the rest.
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
	// A service worker would ask in the page's place, where nobody looks.
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

// refusals counts what was refused so far.
func (g *guard) refusals() int {
	if g == nil {
		return 0
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.refused)
}

// refusal is the last that was refused after so many; nil: none.
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

// guardedBy is the page's guard; nil: none.
func (p *Page) guardedBy() *guard {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.guard
}

// OriginError reports an address that is not allowed.
type OriginError struct {
	URL    string
	Reason string // for example: --allowed-origins does not list it
}

func (e *OriginError) Error() string { return fmt.Sprintf("%s is not allowed: %s", e.URL, e.Reason) }
