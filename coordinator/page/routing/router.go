// Package routing changes the network of an agent's pages: routes answer, change or
// fail their requests, and offline mode lets no request through. The browser drops both
// when the connection ends, for whatever reason.
package routing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/target"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/claim"
	"browser-coordinator/coordinator/page/emulation"
)

// Options of a Router. Conn, CallTimeout and Logger are required.
type Options struct {
	Conn        *cdp.Conn
	CallTimeout time.Duration
	Logger      *slog.Logger
	// Owns reports whether the settings apply to a page: whether it is one of the agent's own. Nil: each is.
	Owns func(page string) bool
	// Owner tells those who meet a page what is set there; nil: there are no others.
	Owner *claim.Owner
}

// Router holds the network settings of an agent for its pages in one browser.
type Router struct {
	opts    Options
	running sync.WaitGroup // loop

	// mu guards the fields that follow. No other lock may be taken while it is held.
	mu      sync.Mutex
	routes  []*activeRoute
	offline bool
	members map[target.SessionID]member   // sessions of pages, frames and workers
	inUse   map[*emulation.Emulation]bool // of the agent's own pages, as of the last Sync
	started bool                          // loop is running
}

// member is a session and the page that it belongs to, by its emulation.
type member struct {
	session *cdp.Session
	page    *emulation.Emulation
}

// activeRoute is a route with its state; Router.mu guards it.
type activeRoute struct {
	Route
	matches *regexp.Regexp
	used    int
}

// exhausted reports whether the route has matched its maximum number of times.
func (r *activeRoute) exhausted() bool { return r.Times > 0 && r.used >= r.Times }

// New returns a router without routes.
func New(opts Options) *Router {
	return &Router{opts: opts, members: map[target.SessionID]member{}, inUse: map[*emulation.Emulation]bool{}}
}

// Wait waits for the router's goroutines, which end with the connection.
func (r *Router) Wait() { r.running.Wait() }

// command is a CDP command that changes a session.
type command struct {
	method string
	params any
}

// holding returns the command that pauses new frames and workers at their start until
// they are known, or no longer does. They then send no request before the settings apply.
func holding(hold bool) command {
	return command{target.CommandSetAutoAttach, target.SetAutoAttachParams{
		AutoAttach: true, WaitForDebuggerOnStart: hold, Flatten: new(true),
	}}
}

// holds reports whether new frames and workers are paused; mu is held.
func (r *Router) holds() bool { return len(r.routes) > 0 || r.offline }

// routing returns the commands that apply routes to a session, or remove them.
func routing(routed bool) []command {
	intercept := command{fetch.CommandDisable, nil}
	if routed {
		intercept = command{fetch.CommandEnable, fetch.EnableParams{}} // of all requests
	}
	// A service worker would respond before the routes apply.
	bypass := command{network.CommandSetBypassServiceWorker, network.SetBypassServiceWorkerParams{Bypass: routed}}
	return []command{intercept, bypass}
}

// Conditions returns the parameters of emulation.NetworkMethod. Offline mode overrides the
// network conditions that a page emulates.
func (r *Router) Conditions(page *emulation.Emulation, emulated any) any {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.offline && r.inUse[page]:
		return emulation.Offline()
	case emulated == nil:
		return emulation.Unlimited()
	}
	return emulated
}

// Admit registers a new session of a page. It waits for no response, because the event
// loop calls it. It does not change the network of a page that is not in use.
func (r *Router) Admit(ctx context.Context, p *emulation.Emulation, s *cdp.Session) error {
	r.mu.Lock()
	r.members[s.ID()] = member{s, p}
	var commands []command
	if r.inUse[p] && len(r.routes) > 0 {
		commands = routing(true)
	}
	if r.inUse[p] && r.offline {
		commands = append(commands, command{emulation.NetworkMethod, emulation.Offline()})
	}
	if r.inUse[p] && r.holds() {
		commands = append(commands, holding(true))
	}
	r.mu.Unlock()
	for _, c := range commands {
		if _, err := s.Start(ctx, c.method, c.params); err != nil {
			return err
		}
	}
	return nil
}

// Sync applies the settings to a page, if it is the agent's own, and removes them from those that no
// longer are.
func (r *Router) Sync(ctx context.Context, p *emulation.Emulation) error {
	owned := func(page *emulation.Emulation) bool { return r.opts.Owns == nil || r.opts.Owns(page.ID()) }
	r.mu.Lock()
	former := slices.Collect(maps.Keys(r.inUse))
	r.mu.Unlock()
	var left []*emulation.Emulation
	for _, page := range former {
		if !owned(page) {
			left = append(left, page)
		}
	}
	err := r.leave(ctx, left)
	if p == nil || !owned(p) {
		return err
	}
	r.mu.Lock()
	var joining []*cdp.Session
	if !r.inUse[p] {
		r.inUse[p] = true
		for _, m := range r.members {
			if m.page == p {
				joining = append(joining, m.session)
			}
		}
	}
	r.mu.Unlock()
	if len(joining) > 0 {
		err = errors.Join(err, r.publish())
	}
	for _, s := range joining {
		// A session that has ended meanwhile needs no commands.
		if admitted := r.Admit(ctx, p, s); admitted != nil && s == p.Session() {
			return errors.Join(err, admitted)
		}
	}
	return err
}

// leave removes the settings from pages.
func (r *Router) leave(ctx context.Context, pages []*emulation.Emulation) error {
	if len(pages) == 0 {
		return nil
	}
	r.mu.Lock()
	changed := len(r.routes) > 0 || r.offline
	r.mu.Unlock()
	var err error
	if changed {
		err = r.send(ctx, func(m member) []command {
			if !slices.Contains(pages, m.page) {
				return nil
			}
			network := m.page.Network()
			if network == nil {
				network = emulation.Unlimited()
			}
			return append(routing(false), command{emulation.NetworkMethod, network}, holding(false))
		})
	}
	r.mu.Lock()
	for _, page := range pages {
		delete(r.inUse, page)
	}
	r.mu.Unlock()
	for _, page := range pages {
		err = errors.Join(err, r.opts.Owner.Set(page.ID(), settingRoutes, ""),
			r.opts.Owner.Set(page.ID(), settingOffline, ""))
	}
	return err
}

// Kinds of settings that others are told of.
const settingRoutes, settingOffline = "routes", "offline"

// publish tells those who meet the agent's pages what is set there.
func (r *Router) publish() (err error) {
	r.mu.Lock()
	pages := slices.Collect(maps.Keys(r.inUse))
	routes, offline := "", ""
	if len(r.routes) > 0 {
		routes = "answers, changes or fails requests of this tab by routes (browser_route)"
	}
	if r.offline {
		offline = "has taken this tab offline (browser_network_state_set)"
	}
	r.mu.Unlock()
	for _, page := range pages {
		err = errors.Join(err, r.opts.Owner.Set(page.ID(), settingRoutes, routes),
			r.opts.Owner.Set(page.ID(), settingOffline, offline))
	}
	return err
}

// Remove forgets a session that has ended.
func (r *Router) Remove(id target.SessionID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m := r.members[id]; m.page != nil && m.session == m.page.Session() {
		delete(r.inUse, m.page)
	}
	delete(r.members, id)
}

// applyRoutes sends the routes to the pages in use.
func (r *Router) applyRoutes(ctx context.Context) error {
	r.mu.Lock()
	if len(r.routes) > 0 && !r.started {
		r.started = true
		paused := r.opts.Conn.ListenAll(fetch.RequestPaused.Method)
		r.running.Go(func() { r.loop(paused) })
	}
	commands := append(routing(len(r.routes) > 0), holding(r.holds()))
	r.mu.Unlock()
	return r.send(ctx, func(member) []command { return commands })
}

// SetOffline takes the pages offline or online.
func (r *Router) SetOffline(ctx context.Context, offline bool) error {
	r.mu.Lock()
	r.offline = offline
	hold := holding(r.holds())
	r.mu.Unlock()
	conditions := func(m member) []command {
		return []command{{emulation.NetworkMethod, r.Conditions(m.page, m.page.Network())}, hold}
	}
	return errors.Join(r.publish(), r.send(ctx, conditions))
}

// send sends commands to every session of the pages in use, and waits for the responses.
func (r *Router) send(ctx context.Context, commands func(member) []command) error {
	ctx, cancel := context.WithTimeoutCause(ctx, r.opts.CallTimeout, cdp.ErrTimeout)
	defer cancel()
	r.mu.Lock()
	var members []member
	for _, m := range r.members {
		if r.inUse[m.page] {
			members = append(members, m)
		}
	}
	r.mu.Unlock()
	var pending []*cdp.Pending
	for _, m := range members {
		for _, c := range commands(m) {
			p, err := m.session.Start(ctx, c.method, c.params)
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

// Add adds a route for the agent's pages, now and later. The most recent
// route is checked first.
func (r *Router) Add(ctx context.Context, route Route) error {
	if err := route.check(); err != nil {
		return err
	}
	matches, err := glob(route.Pattern)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.routes = slices.Insert(r.routes, 0, &activeRoute{Route: route, matches: matches})
	r.mu.Unlock()
	return errors.Join(r.publish(), r.applyRoutes(ctx))
}

// Routes lists the routes in the order in which they are checked.
func (r *Router) Routes() []Route {
	r.mu.Lock()
	defer r.mu.Unlock()
	var routes []Route
	for _, route := range r.routes {
		if !route.exhausted() {
			routes = append(routes, route.Route)
		}
	}
	return routes
}

// RemoveRoutes removes the routes with a pattern, or all if the pattern is empty. It
// returns how many it removed.
func (r *Router) RemoveRoutes(ctx context.Context, pattern string) (int, error) {
	r.mu.Lock()
	before := len(r.routes)
	r.routes = slices.DeleteFunc(r.routes, func(route *activeRoute) bool {
		return pattern == "" || route.Pattern == pattern
	})
	removed := before - len(r.routes)
	r.mu.Unlock()
	if removed == 0 {
		return 0, nil
	}
	return removed, errors.Join(r.applyRoutes(ctx), r.publish())
}
