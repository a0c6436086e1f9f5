package tools

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/registry"
)

// Server is the MCP server with the state of its sessions.
type Server struct {
	options Options
	mcp     *mcp.Server

	mu     sync.Mutex // guards agents
	agents map[*mcp.ServerSession]*agent
}

// agent is one MCP session: its own connection and its own current page, so
// that agents that work side by side never share one.
type agent struct {
	server  *Server
	session *mcp.ServerSession

	mu         sync.Mutex // guards the fields that follow
	roots      []string
	rootsKnown bool
	browser    *page.Browser
	browserURL string
	current    string          // id of the page that it works in; empty: not chosen yet
	opened     map[string]bool // ids of the pages that it opened
	own        bool            // the browser is the Launcher's, not a window's
	acted      bool            // something was done in it
	told       bool            // the agent has been told so
	passedOver string          // the window that came too late
	toldOver   bool            // the agent has been told of it
}

func (s *Server) agent(session *mcp.ServerSession) *agent {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.agents[session]
	if a == nil {
		a = &agent{server: s, session: session}
		s.agents[session] = a
	}
	return a
}

func (s *Server) forget(session *mcp.ServerSession) {
	s.mu.Lock()
	a := s.agents[session]
	delete(s.agents, session)
	s.mu.Unlock()
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.browser != nil {
		a.browser.Close()
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

// page returns the agent's current page in the window that is meant now.
func (a *agent) page(ctx context.Context, window string) (*page.Page, error) {
	browser, err := a.browserFor(ctx, window)
	if err != nil {
		return nil, err
	}
	return a.currentPage(ctx, browser)
}

// browserFor connects to the browser that is meant now.
func (a *agent) browserFor(ctx context.Context, window string) (*page.Browser, error) {
	target, own, err := a.browserOf(ctx, window)
	if err != nil {
		return nil, err
	}
	return a.connect(ctx, target, own)
}

// currentPage is the page that the agent works in: the one that the human sees
// when it first looks, and the same from then on, whatever the human turns to.
func (a *agent) currentPage(ctx context.Context, browser *page.Browser) (*page.Page, error) {
	a.mu.Lock()
	id := a.current
	a.mu.Unlock()
	if id != "" {
		p, err := browser.Page(ctx, id)
		if err == nil || isOpen(ctx, browser, id) {
			return p, err
		}
	}
	p, err := browser.Current(ctx)
	if err == nil {
		a.choose(p.ID())
	}
	return p, err
}

// isOpen says whether a page is still there; when in doubt it is.
func isOpen(ctx context.Context, browser *page.Browser, id string) bool {
	pages, err := browser.Pages(ctx)
	return err != nil || slices.ContainsFunc(pages, func(p page.Info) bool { return p.ID == id })
}

func (a *agent) choose(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.current = id
}

// browserOf returns the CDP URL of the browser that is meant.
func (a *agent) browserOf(ctx context.Context, window string) (target string, own bool, err error) {
	o := &a.server.options
	if o.Attach != "" && window == "" {
		return o.Attach, false, nil
	}
	chosen, _, err := o.Windows.Resolve(ctx, a.want(ctx, window))
	free := window == "" && o.Workspace == "" && o.Launcher != nil
	var none *registry.SelectionError
	switch {
	case err == nil && free && a.settled(chosen.Label()):
		target, err := o.Launcher.Browser(ctx)
		return target, true, err
	case err == nil:
		if o.Chosen != nil {
			o.Chosen(chosen)
		}
		if chosen.State.Browser == nil {
			return "", false, &noBrowserError{chosen}
		}
		return chosen.State.Browser.URL, false, nil
	case errors.As(err, &none) && !none.Ambiguous && free:
		target, err := o.Launcher.Browser(ctx)
		if err != nil {
			return "", false, fmt.Errorf("%w\nand no browser could be launched instead: %w", none, err)
		}
		return target, true, nil
	default:
		return "", false, err
	}
}

// settled says whether the agent has done something in a browser of its own that
// still runs: then it stays there, also when a window comes that fits.
func (a *agent) settled(window string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.own || !a.acted || a.browser == nil {
		return false
	}
	select {
	case <-a.browser.Done():
		return false
	default:
	}
	a.passedOver = window
	return true
}

// connect keeps one connection, to the browser that was used last: a window's
// next browser replaces its former one, and a browser of its own in which
// nothing was done.
func (a *agent) connect(ctx context.Context, target string, own bool) (*page.Browser, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.browser != nil {
		select {
		case <-a.browser.Done():
			a.browser.Close()
			a.browser = nil
		default:
			if a.browserURL == target {
				return a.browser, nil
			}
			a.browser.Close()
			a.browser = nil
			if a.own && !a.acted {
				if err := a.server.options.Launcher.End(); err != nil {
					a.server.options.Logger.Warn("a browser of its own did not end well", "error", err)
				}
			}
		}
	}
	options := page.Options{Logger: a.server.options.Logger}
	if own && a.server.options.Viewport != "" {
		viewport, err := parseViewport(a.server.options.Viewport)
		if err != nil {
			return nil, err
		}
		options.Viewport = viewport
	}
	browser, err := page.Connect(ctx, target, &options)
	if err != nil {
		return nil, err
	}
	a.browser, a.browserURL, a.own, a.acted = browser, target, own, false
	a.current, a.opened = "", map[string]bool{}
	return browser, nil
}

// firstWord is what an answer begins with when there is news of the browser: once
// that it is one of our own, and once that a window came too late.
func (a *agent) firstWord() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.own && !a.told:
		a.told = true
		return "No VS Code window fits this workspace, so this is a browser of its own, ended with this session."
	case a.own && a.passedOver != "" && !a.toldOver:
		a.toldOver = true
		return fmt.Sprintf("The window %s fits this workspace now. You stay in the browser of your own, where you have acted; pass that window as window to work there.", a.passedOver)
	}
	return ""
}

// noteAct remembers that a tool which acts has done so.
func (a *agent) noteAct() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.acted = true
}

// want gathers what says which window is meant.
func (a *agent) want(ctx context.Context, window string) registry.Want {
	o := &a.server.options
	if window == "" {
		window = o.Workspace
	}
	return registry.Want{Explicit: window, Roots: a.hostRoots(ctx), Dir: o.Dir}
}

const rootsPatience = 2 * time.Second

// hostRoots are the host's roots as paths. They are asked for once, and again
// when the host says that they changed.
func (a *agent) hostRoots(ctx context.Context) []string {
	a.mu.Lock()
	known, roots := a.rootsKnown, a.roots
	a.mu.Unlock()
	if known || !hasRoots(a.session) {
		return roots
	}
	ctx, cancel := context.WithTimeout(ctx, rootsPatience)
	defer cancel()
	//lint:ignore SA1019 hosts that announce their folders by roots will do so for years
	answer, err := a.session.ListRoots(ctx, nil)
	if err != nil {
		a.server.options.Logger.Warn("the host did not give its roots", "error", err)
		return nil
	}
	roots = nil
	for _, root := range answer.Roots {
		if path, ok := filePath(root.URI); ok {
			roots = append(roots, path)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.roots, a.rootsKnown = roots, true
	return roots
}

func hasRoots(session *mcp.ServerSession) bool {
	init := session.InitializeParams()
	//lint:ignore SA1019 hosts that announce their folders by roots will do so for years
	return init != nil && init.Capabilities != nil && init.Capabilities.RootsV2 != nil
}

func (s *Server) rootsChanged(_ context.Context, req *mcp.RootsListChangedRequest) {
	a := s.agent(req.Session)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rootsKnown = false
}

// filePath is the path of a file URI (RFC 8089), which roots are.
func filePath(uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" {
		return "", false
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		if u.Host != "" {
			return `\\` + u.Host + filepath.FromSlash(path), true
		}
		path = strings.TrimPrefix(path, "/")
	}
	return filepath.FromSlash(path), true
}
