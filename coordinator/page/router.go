package page

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	protocol "github.com/chromedp/cdproto/cdp"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/emulation"
)

// router holds the network settings of a connection for its pages: routes, and
// whether the pages are offline. The browser drops both when the connection ends,
// for whatever reason.
type router struct {
	browser *Browser
	running sync.WaitGroup // loop, and the goroutines that change responses

	// mu guards the fields that follow. No other lock may be taken while it is held.
	mu       sync.Mutex
	routes   []*activeRoute
	offline  bool
	known    map[target.SessionID]known        // sessions of pages, frames and workers
	sessions map[target.SessionID]*cdp.Session // those of pages in use
	working  map[*Page]bool                    // the pages in use
	paused   *cdp.Subscription                 // nil: there was no route yet
}

// known is a session and the page that it belongs to.
type known struct {
	session *cdp.Session
	page    *Page
}

// activeRoute is a route with its state; router.mu guards it.
type activeRoute struct {
	Route
	matches *regexp.Regexp
	used    int
	// open are requests whose response must be changed, including those that follow a
	// redirect of one of them.
	open map[string]bool
}

// spent reports whether the route has matched its maximum number of times.
func (r *activeRoute) spent() bool { return r.Times > 0 && r.used >= r.Times }

// mostOpen bounds how many requests a route keeps open: a page may have cancelled some.
const mostOpen = 1000

func newRouter(b *Browser) *router {
	return &router{
		browser: b, known: map[target.SessionID]known{}, sessions: map[target.SessionID]*cdp.Session{}, working: map[*Page]bool{},
	}
}

// command is a CDP command that changes a session.
type command struct {
	method string
	params any
}

// routing returns the commands that apply the routes to a session; mu is held. A
// fresh session needs none if there are no routes.
func (r *router) routing(fresh bool) []command {
	routed := len(r.routes) > 0
	if !routed && fresh {
		return nil
	}
	intercept := command{fetch.CommandDisable, nil}
	if routed {
		var patterns []*fetch.RequestPattern
		for _, route := range r.routes {
			pattern := coarse(route.Pattern)
			if route.asks() {
				pattern = "*" // a redirect may lead anywhere
			}
			patterns = append(patterns, &fetch.RequestPattern{URLPattern: pattern})
		}
		intercept = command{fetch.CommandEnable, fetch.EnableParams{Patterns: patterns}}
	}
	// A service worker would respond before the routes apply.
	return []command{intercept, {network.CommandSetBypassServiceWorker, network.SetBypassServiceWorkerParams{Bypass: routed}}}
}

// holding returns the command that pauses new frames and workers at their start until
// they are known. They then send no request before routes and offline mode apply. mu
// is held.
func (r *router) holding() command {
	return command{target.CommandSetAutoAttach, target.SetAutoAttachParams{AutoAttach: true, WaitForDebuggerOnStart: r.holds(), Flatten: new(true)}}
}

// conditions returns the parameters of emulation.NetworkMethod. Offline overrides the
// network conditions that a page emulates.
func (r *router) conditions(emulated any) any {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.offline {
		return emulation.Offline()
	}
	if emulated == nil {
		return emulation.Unlimited()
	}
	return emulated
}

// holds reports whether new frames and workers must wait until they are known; mu
// is held.
func (r *router) holds() bool { return len(r.routes) > 0 || r.offline }

// admit registers a new session. It never blocks, because the event loop calls it.
// It does not change the network of a page that is only recorded.
func (r *router) admit(ctx context.Context, p *Page, s *cdp.Session) error {
	r.mu.Lock()
	r.known[s.ID()] = known{s, p}
	if !r.working[p] {
		r.mu.Unlock()
		return nil
	}
	r.sessions[s.ID()] = s
	commands := r.routing(true)
	if r.offline {
		commands = append(commands, command{emulation.NetworkMethod, emulation.Offline()})
	}
	if r.holds() {
		commands = append(commands, r.holding())
	}
	r.mu.Unlock()
	for _, c := range commands {
		if _, err := s.Start(ctx, c.method, c.params); err != nil {
			return err
		}
	}
	return nil
}

// workIn applies the settings to a page from now on.
func (r *router) workIn(ctx context.Context, p *Page) error {
	r.mu.Lock()
	var sessions []*cdp.Session
	if !r.working[p] {
		r.working[p] = true
		for _, k := range r.known {
			if k.page == p {
				sessions = append(sessions, k.session)
			}
		}
	}
	r.mu.Unlock()
	for _, s := range sessions {
		// A session that has ended meanwhile needs no commands.
		if err := r.admit(ctx, p, s); err != nil && s == p.session {
			return err
		}
	}
	return nil
}

// admitWorker registers a worker of a page that is attached.
func (r *router) admitWorker(p *Page, s *cdp.Session) {
	ctx, cancel := context.WithTimeout(context.Background(), frameStartTimeout)
	defer cancel()
	if err := r.admit(ctx, p, s); err != nil {
		r.browser.log.Debug("page: a worker has gone before its network was set", "err", err)
	}
}

// release resumes a target that was paused at its start.
func (r *router) release(s *cdp.Session) { r.send(s, runtime.CommandRunIfWaitingForDebugger, nil) }

func (r *router) dismiss(id target.SessionID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k := r.known[id]; k.page != nil && k.session == k.page.session {
		delete(r.working, k.page)
	}
	delete(r.known, id)
	delete(r.sessions, id)
}

// apply sends the routes to every session and waits for the responses.
func (r *router) apply(ctx context.Context) error {
	r.mu.Lock()
	if len(r.routes) > 0 && r.paused == nil {
		r.paused = r.browser.conn.ListenAll(fetch.RequestPaused.Method)
		r.running.Add(1)
		go r.loop(r.paused)
	}
	commands := append(r.routing(false), r.holding())
	r.mu.Unlock()
	return r.tell(ctx, func(*cdp.Session) []command { return commands })
}

// SetOffline takes the pages of this connection offline or online.
func (b *Browser) SetOffline(ctx context.Context, offline bool) error {
	r := b.router
	r.mu.Lock()
	r.offline = offline
	holding := r.holding()
	r.mu.Unlock()
	return r.tell(ctx, func(s *cdp.Session) []command {
		b.mu.Lock()
		p := b.sessions[s.ID()]
		b.mu.Unlock()
		var emulated any
		if p != nil {
			emulated = p.emulation.Network()
		}
		return []command{{emulation.NetworkMethod, r.conditions(emulated)}, holding}
	})
}

// tell sends commands to every session and waits for the responses.
func (r *router) tell(ctx context.Context, commands func(*cdp.Session) []command) error {
	ctx, cancel := context.WithTimeoutCause(ctx, r.browser.opts.CallTimeout, cdp.ErrTimeout)
	defer cancel()
	r.mu.Lock()
	sessions := slices.Collect(maps.Values(r.sessions))
	r.mu.Unlock()
	var pending []*cdp.Pending
	for _, s := range sessions {
		for _, c := range commands(s) {
			p, err := s.Start(ctx, c.method, c.params)
			if err != nil {
				break // it has just gone
			}
			pending = append(pending, p)
		}
	}
	for _, p := range pending {
		// A worker refuses commands that only pages support, and a session may end meanwhile.
		if err := p.Wait(ctx, nil); err != nil && !cdp.Refused(err) && ctx.Err() != nil {
			return fmt.Errorf("set the network of the pages: %w", err)
		}
	}
	return nil
}

// loop handles the requests that the browser has paused. It ends with the connection;
// Browser.Close waits for it.
func (r *router) loop(paused *cdp.Subscription) {
	defer r.running.Done()
	for e := range paused.C() {
		var request fetch.EventRequestPaused
		if err := e.Decode(&request); err != nil {
			r.browser.log.Error("page: an event was not understood", "err", err)
			continue
		}
		r.mu.Lock()
		session := r.sessions[e.SessionID]
		r.mu.Unlock()
		if session != nil { // nil: a page that is not in use
			r.handle(session, &request)
		}
	}
}

// handle decides on one request. It never blocks.
func (r *router) handle(s *cdp.Session, e *fetch.EventRequestPaused) {
	key := string(s.ID()) + "/" + string(e.RequestID)
	if e.ResponseStatusCode != 0 || e.ResponseErrorReason != "" {
		route := r.opened(key, "")
		if route == nil || e.ResponseErrorReason != "" {
			r.send(s, fetch.CommandContinueRequest, fetch.ContinueRequestParams{RequestID: e.RequestID})
			return
		}
		r.running.Add(1)
		go r.changeAnswer(s, e, route)
		return
	}
	var route *Route
	if e.RedirectedRequestID != "" {
		route = r.opened(string(s.ID())+"/"+string(e.RedirectedRequestID), key)
	}
	if route == nil {
		route = r.match(key, e.Request.URL)
	}
	switch {
	case route == nil:
		r.send(s, fetch.CommandContinueRequest, fetch.ContinueRequestParams{RequestID: e.RequestID})
	case route.Abort != "":
		r.send(s, fetch.CommandFailRequest, fetch.FailRequestParams{RequestID: e.RequestID, ErrorReason: abortReasons[route.Abort]})
	case route.asks():
		r.send(s, fetch.CommandContinueRequest, fetch.ContinueRequestParams{RequestID: e.RequestID, InterceptResponse: new(true)})
	case route.answers():
		r.send(s, fetch.CommandFulfillRequest, ownAnswer(route, e))
	default:
		r.send(s, fetch.CommandContinueRequest, changedRequest(route, e))
	}
}

// match finds the route of a URL and counts its use.
func (r *router) match(key, url string) *Route {
	url, _, _ = strings.Cut(url, "#")
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, route := range r.routes {
		if route.spent() || !route.matches.MatchString(url) {
			continue
		}
		route.used++
		if route.asks() {
			if route.open == nil || len(route.open) > mostOpen {
				route.open = map[string]bool{}
			}
			route.open[key] = true
		}
		return &route.Route
	}
	return nil
}

// opened finds the route of a request whose response must be changed. If a redirect
// follows, next replaces the request among the open ones.
func (r *router) opened(key, next string) *Route {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, route := range r.routes {
		if !route.open[key] {
			continue
		}
		if next != "" {
			delete(route.open, key)
			route.open[next] = true
		}
		return &route.Route
	}
	return nil
}

// send sends the decision. It ignores a target that has gone.
func (r *router) send(s *cdp.Session, method string, params any) {
	ctx, cancel := context.WithTimeout(context.Background(), frameStartTimeout)
	defer cancel()
	if _, err := s.Start(ctx, method, params); err != nil {
		r.browser.log.Debug("page: a target has gone before its answer", "method", method, "err", err)
	}
}

// ownAnswer responds in place of the server. It allows a request from another origin,
// because the page could not read the response otherwise.
func ownAnswer(route *Route, e *fetch.EventRequestPaused) fetch.FulfillRequestParams {
	params := fetch.FulfillRequestParams{RequestID: e.RequestID, ResponseCode: int64(route.Status)}
	setDefault(&params.ResponseCode, 200)
	header := func(name string) string {
		for n, v := range e.Request.Headers {
			if strings.EqualFold(n, name) {
				return fmt.Sprint(v)
			}
		}
		return ""
	}
	var allowed []*fetch.HeaderEntry
	if origin := header("Origin"); origin != "" {
		allowed = []*fetch.HeaderEntry{
			{Name: "Access-Control-Allow-Origin", Value: origin},
			{Name: "Access-Control-Allow-Credentials", Value: "true"},
			{Name: "Vary", Value: "Origin"},
		}
	}
	if wanted := header("Access-Control-Request-Method"); wanted != "" && e.Request.Method == "OPTIONS" {
		params.ResponseCode = 204
		params.ResponseHeaders = append(allowed, &fetch.HeaderEntry{Name: "Access-Control-Allow-Methods", Value: wanted})
		if names := header("Access-Control-Request-Headers"); names != "" {
			params.ResponseHeaders = append(params.ResponseHeaders, &fetch.HeaderEntry{Name: "Access-Control-Allow-Headers", Value: names})
		}
		return params
	}
	params.ResponseHeaders = route.entries(allowed)
	if route.Body != nil {
		params.Body = []byte(*route.Body)
	}
	return params
}

func changedRequest(route *Route, e *fetch.EventRequestPaused) fetch.ContinueRequestParams {
	params := fetch.ContinueRequestParams{RequestID: e.RequestID, Method: route.Method}
	if route.RequestBody != nil {
		params.PostData = []byte(*route.RequestBody)
	}
	if len(route.Headers) > 0 || len(route.RemoveHeaders) > 0 {
		var headers []*fetch.HeaderEntry
		for name, value := range e.Request.Headers {
			headers = append(headers, &fetch.HeaderEntry{Name: name, Value: fmt.Sprint(value)})
		}
		params.Headers = route.entries(headers)
	}
	return params
}

// answerPatience bounds the wait for the rest of a response that must be changed:
// some responses never end.
const answerPatience = 30 * time.Second

// changeAnswer changes the server's response. The router owns its goroutine.
func (r *router) changeAnswer(s *cdp.Session, e *fetch.EventRequestPaused, route *Route) {
	defer r.running.Done()
	ctx, cancel := context.WithTimeout(context.Background(), answerPatience)
	defer cancel()
	redirect := e.ResponseStatusCode >= 300 && e.ResponseStatusCode < 400 && slices.ContainsFunc(e.ResponseHeaders, func(h *fetch.HeaderEntry) bool {
		return strings.EqualFold(h.Name, "Location")
	})
	if redirect { // the route applies to the target of the redirect
		r.send(s, fetch.CommandContinueRequest, fetch.ContinueRequestParams{RequestID: e.RequestID})
		return
	}
	status := int64(route.Status)
	setDefault(&status, e.ResponseStatusCode)
	var body []byte
	switch {
	case route.Body != nil:
		body = []byte(*route.Body)
	case len(route.Replace) > 0:
		got, err := protocol.Call(ctx, s, fetch.GetResponseBody, fetch.GetResponseBodyParams{RequestID: e.RequestID})
		if err != nil {
			r.browser.log.Warn("page: an answer was not changed", "url", e.Request.URL, "err", err)
			r.send(s, fetch.CommandContinueRequest, fetch.ContinueRequestParams{RequestID: e.RequestID})
			return
		}
		body = got.Body
		for _, c := range route.Replace {
			body = bytes.ReplaceAll(body, []byte(c.Find), []byte(c.With))
		}
	default:
		r.send(s, fetch.CommandContinueResponse, fetch.ContinueResponseParams{
			RequestID: e.RequestID, ResponseCode: status, ResponseHeaders: route.entries(e.ResponseHeaders),
		})
		return
	}
	// The body is decoded now, and its length differs.
	headers := route.entries(e.ResponseHeaders, "Content-Encoding", "Content-Length", "Transfer-Encoding")
	r.send(s, fetch.CommandFulfillRequest, fetch.FulfillRequestParams{RequestID: e.RequestID, ResponseCode: status, ResponseHeaders: headers, Body: body})
}
