package page

import (
	"context"
	"fmt"
	"sync"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/target"

	"browser-coordinator/coordinator/cdp"
)

// guard keeps a page to the addresses that are allowed: its main frame's
// navigations, whoever begins them and wherever they are redirected, and what
// Fetch asks for. It has a session of its own, so that it and the routes do not
// undo each other, and pauses no other request.
type guard struct {
	page    *Page
	session *cdp.Session
	allow   func(address string) error

	mu       sync.Mutex                 // guards the fields that follow
	fetching map[string]int             // what Fetch asks for now, by address
	fetches  map[network.RequestID]bool // those requests, through their redirects
	refused  []error                    // since the page was attached to
}

// Guard refuses addresses for which allow gives an error, from now on and for as
// long as this connection lives. Only the first guard of a page counts.
func (p *Page) Guard(ctx context.Context, allow func(address string) error) error {
	p.mu.Lock()
	guarded := p.guard != nil
	p.mu.Unlock()
	if guarded {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, p.browser.opts.CallTimeout, cdp.ErrTimeout)
	defer cancel()
	session, err := p.browser.conn.Attach(ctx, target.ID(p.id))
	if err != nil {
		return p.explain(err, "guarding the page")
	}
	g := &guard{page: p, session: session, allow: allow, fetching: map[string]int{}, fetches: map[network.RequestID]bool{}}
	paused := session.Listen(fetch.RequestPaused.Method)
	p.browser.guards.Add(1)
	go g.loop(paused)
	if err := session.Call(ctx, fetch.CommandEnable, guarding(false), nil); err != nil {
		paused.Close()
		p.browser.detach(session)
		return p.explain(err, "guarding the page")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.guard == nil {
		p.guard = g
	}
	return nil
}

// guarding are the requests that are paused to be looked at.
func guarding(fetches bool) fetch.EnableParams {
	patterns := []*fetch.RequestPattern{{URLPattern: "*", ResourceType: network.ResourceTypeDocument}}
	if fetches {
		patterns = append(patterns, &fetch.RequestPattern{URLPattern: "*", ResourceType: network.ResourceTypeFetch})
	}
	return fetch.EnableParams{Patterns: patterns}
}

// loop is owned by the Browser and ends with the session.
func (g *guard) loop(paused *cdp.Subscription) {
	defer g.page.browser.guards.Done()
	for e := range paused.C() {
		var request fetch.EventRequestPaused
		if err := e.Decode(&request); err != nil {
			g.page.browser.log.Error("page: an event was not understood", "err", err)
			continue
		}
		g.judge(&request)
	}
}

func (g *guard) judge(e *fetch.EventRequestPaused) {
	ctx, cancel := context.WithTimeout(context.Background(), g.page.browser.opts.CallTimeout)
	defer cancel()
	if g.concerns(e) {
		if err := g.allow(e.Request.URL); err != nil {
			g.mu.Lock()
			g.refused = append(g.refused, err)
			g.mu.Unlock()
			g.page.wake()
			// Aborted leaves the page as it is; other reasons show an error page.
			_, _ = g.session.Start(ctx, fetch.CommandFailRequest, fetch.FailRequestParams{RequestID: e.RequestID, ErrorReason: network.ErrorReasonAborted})
			return
		}
	}
	_, _ = g.session.Start(ctx, fetch.CommandContinueRequest, fetch.ContinueRequestParams{RequestID: e.RequestID})
}

// concerns says whether a request is the main frame's document, or Fetch's.
func (g *guard) concerns(e *fetch.EventRequestPaused) bool {
	if e.ResourceType == network.ResourceTypeDocument {
		return e.FrameID == g.page.mainID()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.fetching[e.Request.URL] > 0 {
		g.fetches[e.NetworkID] = true
	}
	return g.fetches[e.NetworkID]
}

// fetch makes the guard look at what Fetch asks for, until the returned func is
// called.
func (g *guard) fetch(ctx context.Context, address string) (end func(), err error) {
	if err := g.allow(address); err != nil {
		return nil, err
	}
	g.mu.Lock()
	g.fetching[address]++
	g.mu.Unlock()
	end = func() {
		g.mu.Lock()
		if g.fetching[address]--; g.fetching[address] == 0 {
			delete(g.fetching, address)
		}
		last := len(g.fetching) == 0
		if last {
			clear(g.fetches)
		}
		g.mu.Unlock()
		if last {
			_, _ = g.session.Start(context.WithoutCancel(ctx), fetch.CommandEnable, guarding(false))
			_, _ = g.page.session.Start(context.WithoutCancel(ctx), network.CommandSetBypassServiceWorker, network.SetBypassServiceWorkerParams{})
		}
	}
	// A service worker would ask in the page's place, where nobody looks.
	if err := g.page.session.Call(ctx, network.CommandSetBypassServiceWorker, network.SetBypassServiceWorkerParams{Bypass: true}, nil); err != nil {
		end()
		return nil, err
	}
	if err := g.session.Call(ctx, fetch.CommandEnable, guarding(true), nil); err != nil {
		end()
		return nil, err
	}
	return end, nil
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
