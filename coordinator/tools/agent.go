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

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/coordinator/tools/added"
	"browser-coordinator/coordinator/tools/catalog"
	"browser-coordinator/internal/notify"
	"browser-coordinator/policy"
	"browser-coordinator/vscodeipc"
)

// Server is the MCP server with the state of its sessions.
type Server struct {
	options Options
	mcp     *mcp.Server
	tools   catalog.Tools // of this program
	added   *added.Server // nil: none

	mu        sync.Mutex // guards agents, each agent's joined, and enforcers
	agents    map[*mcp.ServerSession]*agent
	enforcers map[*registry.Source]*policy.Enforcer
}

// agent is one MCP session: its own connections, its own window and its own
// current pages, so that agents that work side by side never share one.
type agent struct {
	server  *Server
	session *mcp.ServerSession
	log     *slog.Logger // for the program's log and for the host
	// initialized is closed when the host has identified itself, or has sent a call.
	initialized chan struct{}
	once        sync.Once        // closes initialized
	refs        frame.Refs       // of all its pages: no ref occurs on two pages
	joined      *registry.Source // the window that lists the agent

	mu         sync.Mutex           // guards the fields that follow, and those of link
	client     vscodeipc.ClientInfo // see info
	since      time.Time
	roots      []string
	rootsKnown bool
	rootsAsked int
	decide     notify.Broadcast // that the window must be resolved again
	window     string           // chosen by window_select; empty: not chosen
	links      map[string]*link
	last       *link  // used by the last call
	told       bool   // the agent knows that the browser is our own
	passedOver string // the window that opened too late
	toldOver   bool   // the agent knows of it
	long       longText
	shot       *page.Image // the last screenshot
	idle       *time.Timer // ends the claims of an idle agent
	news       string      // not sent to the agent yet
}

func (s *Server) agent(session *mcp.ServerSession) *agent {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.agents[session]
	if a == nil {
		a = &agent{
			server: s, session: session, log: s.logger(session), initialized: make(chan struct{}),
			links: map[string]*link{},
		}
		s.agents[session] = a
	}
	return a
}

// logger writes to the program's log, and to the host at the level that it has set (none
// until it sets one).
func (s *Server) logger(session *mcp.ServerSession) *slog.Logger {
	//lint:ignore SA1019 hosts that show a server's log will do so for years
	host := mcp.NewLoggingHandler(session, &mcp.LoggingHandlerOptions{LoggerName: "browser-coordinator"})
	return slog.New(slog.NewMultiHandler(s.options.Logger.Handler(), host))
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

// noBrowserError reports a window whose browser is not running.
type noBrowserError struct{ window registry.Window }

func (e *noBrowserError) Error() string {
	start := "start the program there that debugs a browser"
	switch e.window.Kind {
	case "vscode":
		start = "start its debug session (F5 in VS Code, a launch configuration of type chrome or msedge)"
	case "terminal":
		start = "start `coordinator window` there again"
	}
	return fmt.Sprintf("the window %s has no browser now: %s, then call again", e.window.Label(), start)
}

// page returns the agent's current page in the selected window, if the agent may read it.
func (a *agent) page(ctx context.Context, window string) (*page.Page, error) {
	p, err := a.anyPage(ctx, window)
	if err != nil {
		return nil, err
	}
	return p, a.mayLook(ctx, p)
}

// anyPage is page for calls that leave the page: it may show what the agent may not read.
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
	return p, a.bind(ctx, p, "")
}

// currentPage is the page that the agent works in. At the agent's first call that is the
// page that the user sees. It stays the same, whichever tab the user selects later. A
// read-only call shares a page that another agent works in; only an action opens a tab.
func (a *agent) currentPage(ctx context.Context, l *link) (*page.Page, error) {
	a.mu.Lock()
	id := l.current
	a.mu.Unlock()
	if id != "" && a.claim(l, id) {
		p, err := l.browser.Page(ctx, id)
		if err == nil || isOpen(ctx, l.browser, id) {
			return p, err
		}
		return nil, a.leaveClosed(ctx, l, id)
	}
	id, err := l.browser.InFront(ctx)
	if err != nil {
		return nil, err
	}
	if id != "" && a.claim(l, id) {
		return l.browser.Page(ctx, id)
	}
	if id != "" && isReadOnly(ctx) {
		a.share(l, id)
		return l.browser.Page(ctx, id)
	}
	if id != "" {
		return a.apart(ctx, l)
	}
	if isReadOnly(ctx) {
		return nil, errNoTab
	}
	p, err := l.browser.NewPage(ctx, "about:blank")
	if err == nil {
		a.claim(l, p.ID())
	}
	return p, err
}

// errNoTab reports a browser without a page to a call that may not open one.
var errNoTab = errors.New("the browser has no tab: open one with browser_tabs, action new, or with browser_navigate")

// closedTabError reports that the agent's tab was closed since its last call, by the page
// itself or by the user. The agent must know that before it does anything in another tab.
type closedTabError struct{ next page.Info }

func (e *closedTabError) Error() string {
	const closed = "the tab that you worked in was closed, so nothing was done. "
	if e.next.ID == "" {
		return closed + "The browser has no other tab: open one with browser_tabs, action new, or with browser_navigate"
	}
	return fmt.Sprintf("%sThe next call goes to the tab %q, %s; browser_tabs lists them all", closed, e.next.Title, e.next.URL)
}

// leaveClosed makes the agent choose a new page at its next call.
func (a *agent) leaveClosed(ctx context.Context, l *link, id string) error {
	a.mu.Lock()
	if l.current == id {
		l.unclaim()
		l.current = ""
	}
	a.mu.Unlock()
	var closed closedTabError
	next, err := l.browser.InFront(ctx)
	if err != nil {
		return err
	}
	pages, err := l.browser.Pages(ctx)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(pages, func(p page.Info) bool { return p.ID == next }); i >= 0 {
		closed.next = pages[i]
	}
	return &closed
}

// isOpen reports whether a page still exists; when in doubt it does.
func isOpen(ctx context.Context, browser *page.Browser, id string) bool {
	pages, err := browser.Pages(ctx)
	return err != nil || slices.ContainsFunc(pages, func(p page.Info) bool { return p.ID == id })
}

// workspace are the folders of this session where no window defines them.
func (a *agent) workspace(ctx context.Context) []string {
	if roots := a.hostRoots(ctx); len(roots) > 0 {
		return roots
	}
	return []string{a.server.options.Dir}
}

// firstWord is a notice at the beginning of an answer. The agent gets each notice once:
// what is in news, that the browser is our own, and that a window opened too late.
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

// want collects what selects the window.
func (a *agent) want(ctx context.Context, window string) registry.Want {
	o := &a.server.options
	if window = a.named(window); window == "" {
		window = o.Workspace
	}
	return registry.Want{Explicit: window, Roots: a.hostRoots(ctx), Dir: o.Dir}
}

// decideAnew makes follow resolve the window again; mu is held.
func (a *agent) decideAnew() {
	a.decide.Notify()
}
