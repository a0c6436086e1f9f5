package tools

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/cdpproxy/access"
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/vscodeipc"
)

// Server is the MCP server with the state of its sessions.
type Server struct {
	options Options
	mcp     *mcp.Server
	names   []string      // of our tools
	added   *addedServer  // nil: none
	listed  chan struct{} // closed when the tools were listed for the first time

	mu     sync.Mutex // guards agents, each agent's joined, and guards
	agents map[*mcp.ServerSession]*agent
	guards map[*registry.Source]*access.Guard
}

// agent is one MCP session: its own connections, its own window and its own
// current pages, so that agents that work side by side never share one.
type agent struct {
	server  *Server
	session *mcp.ServerSession
	log     *slog.Logger // for the program's log and for the host
	// initialized is closed when the host has said who it is, or has called.
	initialized chan struct{}
	once        sync.Once        // closes initialized
	joined      *registry.Source // the window that knows of the agent

	mu         sync.Mutex           // guards the fields that follow, and those of link
	client     vscodeipc.ClientInfo // see info
	since      time.Time
	roots      []string
	rootsKnown bool
	rootsAsked int
	decide     chan struct{} // closed and replaced when the window must be decided anew
	window     string        // chosen by window_select; empty: not chosen
	links      map[string]*link
	last       *link  // that a call asked for last
	told       bool   // the agent has been told that the browser is our own
	passedOver string // the window that came too late
	toldOver   bool   // the agent has been told of it
	long       longText
	shot       *page.Image // the last screenshot
	idle       *time.Timer // ends the claims of an agent that does nothing
	news       string      // that the agent has not been told yet
}

// link is an agent's connection to one browser.
type link struct {
	ready   chan struct{} // closed when browser or err is set
	browser *page.Browser
	err     error

	folders []string        // of the workspace
	own     bool            // the browser is the Launcher's, not a window's
	used    bool            // a call has asked for it
	acted   bool            // something was done in it
	current string          // id of the page that the agent works in; empty: not chosen yet
	opened  map[string]bool // ids of the pages that the agent opened
	release func()          // ends the claim on the page current; nil: there is none now
}

func (s *Server) agent(session *mcp.ServerSession) *agent {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.agents[session]
	if a == nil {
		a = &agent{
			server: s, session: session, log: s.logger(session), initialized: make(chan struct{}),
			decide: make(chan struct{}), links: map[string]*link{},
		}
		s.agents[session] = a
	}
	return a
}

func (s *Server) forget(session *mcp.ServerSession) {
	s.mu.Lock()
	a := s.agents[session]
	delete(s.agents, session)
	if a != nil && a.joined != nil {
		s.announce(a.joined)
	}
	s.mu.Unlock()
	if a == nil {
		return
	}
	a.leave(func(*link) bool { return true })
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.idle != nil {
		a.idle.Stop()
	}
}

// leave ends the connections that which says.
func (a *agent) leave(which func(*link) bool) {
	a.mu.Lock()
	var left []*link
	for url, l := range a.links {
		if which(l) {
			l.unclaim()
			left = append(left, l)
			delete(a.links, url)
		}
	}
	a.mu.Unlock()
	for _, l := range left {
		<-l.ready
		if l.browser != nil {
			l.browser.Close()
		}
	}
}

// noBrowserError reports a window whose browser is not running.
type noBrowserError struct{ window registry.Window }

func (e *noBrowserError) Error() string {
	start := "start its debug session (F5 in VS Code, a launch configuration of type chrome or msedge)"
	if e.window.Kind == "terminal" {
		start = "start `coordinator window` there again"
	}
	return fmt.Sprintf("the window %s has no browser now: %s, then call again", e.window.Label(), start)
}

// page returns the agent's current page in the window that is meant now, if the
// agent may look at it.
func (a *agent) page(ctx context.Context, window string) (*page.Page, error) {
	p, err := a.anyPage(ctx, window)
	if err != nil {
		return nil, err
	}
	if err := a.server.options.Origins.Check(p.URL()); err != nil {
		return nil, fmt.Errorf("this tab is out of bounds: %w. Navigate it, or choose another", err)
	}
	return p, nil
}

// anyPage is page for those who lead away from it.
func (a *agent) anyPage(ctx context.Context, window string) (*page.Page, error) {
	l, err := a.linkTo(ctx, window)
	if err != nil {
		return nil, err
	}
	p, err := a.currentPage(ctx, l)
	if errors.Is(err, page.ErrBrowserGone) {
		err = fmt.Errorf("%w: %w", page.ErrUnsent, err)
	}
	if err != nil {
		return nil, err
	}
	return p, a.bind(ctx, p)
}

// bind keeps the page to the allowed origins, where some are configured.
func (a *agent) bind(ctx context.Context, p *page.Page) error {
	if origins := a.server.options.Origins; origins != nil {
		return p.Guard(ctx, origins.Check)
	}
	return nil
}

// browserFor returns the browser that is meant now.
func (a *agent) browserFor(ctx context.Context, window string) (*page.Browser, error) {
	l, err := a.linkTo(ctx, window)
	if err != nil {
		return nil, err
	}
	return l.browser, nil
}

// linkTo connects to the browser that is meant now.
func (a *agent) linkTo(ctx context.Context, window string) (*link, error) {
	target, want, err := a.browserOf(ctx, window)
	if err != nil {
		return nil, err
	}
	want.used = true
	l, err := a.connect(ctx, target, want)
	if err == nil {
		a.mu.Lock()
		a.last = l
		a.mu.Unlock()
	}
	return l, err
}

// currentPage is the page that the agent works in: the one that the human sees
// when it first looks, and the same from then on, whatever the human turns to.
func (a *agent) currentPage(ctx context.Context, l *link) (*page.Page, error) {
	a.mu.Lock()
	id := l.current
	a.mu.Unlock()
	if id != "" && a.claim(l, id) {
		p, err := l.browser.Page(ctx, id)
		if err == nil || isOpen(ctx, l.browser, id) {
			return p, err
		}
	}
	id, err := l.browser.InFront(ctx)
	if err != nil {
		return nil, err
	}
	if id != "" && a.claim(l, id) {
		return l.browser.Page(ctx, id)
	}
	if id != "" {
		return a.apart(ctx, l)
	}
	p, err := l.browser.NewPage(ctx, "about:blank")
	if err == nil {
		a.claim(l, p.ID())
	}
	return p, err
}

// isOpen says whether a page is still there; when in doubt it is.
func isOpen(ctx context.Context, browser *page.Browser, id string) bool {
	pages, err := browser.Pages(ctx)
	return err != nil || slices.ContainsFunc(pages, func(p page.Info) bool { return p.ID == id })
}

// workspace are the folders that this session is about where no window says it.
func (a *agent) workspace(ctx context.Context) []string {
	if roots := a.hostRoots(ctx); len(roots) > 0 {
		return roots
	}
	return []string{a.server.options.Dir}
}

// browserOf returns the CDP URL of the browser that is meant, and what is known
// of it.
func (a *agent) browserOf(ctx context.Context, window string) (target string, l *link, err error) {
	o := &a.server.options
	want := a.want(ctx, window)
	if o.Attach != "" && a.named(window) == "" {
		return o.Attach, &link{folders: a.workspace(ctx)}, nil
	}
	chosen, _, err := o.Windows.Resolve(ctx, want)
	free := want.Explicit == "" && o.Launcher != nil
	var none *registry.SelectionError
	switch {
	case err == nil && free && a.settled(chosen.Label()):
		target, err := o.Launcher.Browser(ctx)
		return target, &link{own: true, folders: a.workspace(ctx)}, err
	case err == nil:
		if o.Chosen != nil {
			o.Chosen(chosen)
		}
		browser := chosen.Browser()
		if browser == nil {
			return "", nil, &noBrowserError{chosen}
		}
		return browser.URL, &link{folders: chosen.Folders}, nil
	case errors.As(err, &none) && !none.Ambiguous && free:
		target, err := o.Launcher.Browser(ctx)
		if err != nil {
			return "", nil, fmt.Errorf("%w\nand no browser could be launched instead: %w", none, err)
		}
		return target, &link{own: true, folders: a.workspace(ctx)}, nil
	default:
		return "", nil, err
	}
}

// settled says whether the agent has done something in a browser of its own that
// still runs: then it stays there, also when a window comes that fits.
func (a *agent) settled(window string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, l := range a.links {
		if l.own && l.acted && !ended(l) {
			a.passedOver = window
			return true
		}
	}
	return false
}

// abandon ends a browser of its own in which nothing was done, when a window's
// takes its place.
func (a *agent) abandon() {
	own := false
	a.leave(func(l *link) bool {
		unused := l.own && !l.acted
		own = own || unused
		return unused
	})
	if !own {
		return
	}
	if err := a.server.options.Launcher.End(); err != nil {
		a.log.Warn("a browser of its own did not end well", "error", err)
	}
}

// connect returns the connection to a browser, which it makes if there is none
// or the last one has ended.
func (a *agent) connect(ctx context.Context, target string, want *link) (*link, error) {
	a.leave(ended)
	if !want.own && want.used {
		a.abandon()
	}
	options := page.Options{Logger: a.server.options.Logger, Record: true, Folders: want.folders}
	if want.own && a.server.options.Viewport != "" {
		viewport, err := parseViewport(a.server.options.Viewport)
		if err != nil {
			return nil, err
		}
		options.Viewport = viewport
	}
	a.mu.Lock()
	l := a.links[target]
	if l == nil {
		l = want
		l.ready, l.opened = make(chan struct{}), map[string]bool{}
		a.links[target] = l
		a.mu.Unlock()
		l.browser, l.err = page.Connect(ctx, target, &options)
		if l.err != nil {
			l.err = &connectError{target, l.err}
			a.mu.Lock()
			delete(a.links, target)
			a.mu.Unlock()
		}
		close(l.ready)
		return l, l.err
	}
	l.used = l.used || want.used
	a.mu.Unlock()
	select {
	case <-l.ready:
		return l, l.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ended says whether a connection that was there is there no more.
func ended(l *link) bool {
	select {
	case <-l.ready:
	default:
		return false
	}
	if l.browser == nil {
		return false
	}
	select {
	case <-l.browser.Done():
		return true
	default:
		return false
	}
}

// firstWord is what an answer begins with when there is news of the browser: once
// that it is one of our own, and once that a window came too late.
func (a *agent) firstWord() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	own := false
	for _, l := range a.links {
		own = own || l.own
	}
	news := a.news
	a.news = ""
	switch {
	case news != "":
		return news
	case own && !a.told:
		a.told = true
		return "No VS Code window fits this workspace, so this is a browser of its own, ended with this session."
	case own && a.passedOver != "" && !a.toldOver:
		a.toldOver = true
		return fmt.Sprintf("The window %s fits this workspace now. You stay in the browser of your own, where you have acted; pass that window as window to work there.", a.passedOver)
	}
	return ""
}

// noteAct remembers that a tool which acts has done so.
func (a *agent) noteAct() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.last != nil {
		a.last.acted = true
	}
}

// named is the window that a call names, or else the one that window_select has
// chosen; empty: none.
func (a *agent) named(window string) string {
	if window != "" {
		return window
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.window
}

// want gathers what says which window is meant.
func (a *agent) want(ctx context.Context, window string) registry.Want {
	o := &a.server.options
	if window = a.named(window); window == "" {
		window = o.Workspace
	}
	return registry.Want{Explicit: window, Roots: a.hostRoots(ctx), Dir: o.Dir}
}

// decideAnew makes follow look again which window is meant; mu is held.
func (a *agent) decideAnew() {
	close(a.decide)
	a.decide = make(chan struct{})
}
