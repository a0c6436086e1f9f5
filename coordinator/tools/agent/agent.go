// Package agent keeps the state of an agent's MCP session, and runs the agent's calls: in
// which window and page, with which files, and whether the window's user allows it.
//
// Agents that work side by side are of different programs. They share no connection and no
// page.
package agent

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/page/capture"
	"browser-coordinator/coordinator/page/emulation"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/coordinator/tools/answer"
	"browser-coordinator/coordinator/tools/export"
	"browser-coordinator/coordinator/tools/secrets"
	"browser-coordinator/internal/notify"
	"browser-coordinator/policy"
	"browser-coordinator/vscodeipc"
)

// Windows is what agents need of the registry.
type Windows interface {
	// Resolve searches for windows and selects one.
	Resolve(ctx context.Context, want registry.Want) (registry.Window, []registry.Candidate, error)
	// Selected is Resolve without a search.
	Selected(want registry.Want) (registry.Window, []registry.Candidate, error)
	// Call runs a command of a window.
	Call(ctx context.Context, window registry.Window, command string, arg, result any) error
	// Source is the link to a workspace's user: policy, questions and notifications.
	Source(workspace string) *registry.Source
	// Changed returns a channel that is closed at the next change of any window.
	Changed() <-chan struct{}
}

// Launcher provides a browser of our own when no window fits.
type Launcher interface {
	// Browser returns the CDP URL of the browser, and starts it if it does not run.
	Browser(ctx context.Context) (url string, err error)
	// Downloads is the folder for the running browser's downloads, which is removed with the
	// browser.
	Downloads() string
	// Waiting is what Browser waits for now, if that may take long; else empty.
	Waiting() string
	// Provider names who runs the browser, for people; empty: this program.
	Provider() string
	// End ends the browser, if it runs: a window replaces it.
	End() error
}

// Claims keeps agents of all programs apart: two agents never work in the same page.
type Claims interface {
	// Claim locks a page, by its id, until release is called; false: another agent works in
	// it.
	Claim(page string) (release func(), ok bool)
}

// Options of an agent. Windows, Dir and Logger are required.
type Options struct {
	Windows Windows
	// Launcher: nil means that no browser is launched.
	Launcher Launcher
	// Viewport is the size of the Launcher's pages; nil: the browser's default.
	Viewport *emulation.Viewport
	// Attached: the Launcher's browser is another program's, and replaces the windows,
	// unless a call names a window.
	Attached bool
	// Workspace selects the window for every call that does not name one; empty: none.
	Workspace string
	// Dir is the working directory that the host has set.
	Dir string
	// OutputDir is a folder for files outside the workspace; empty: none.
	OutputDir string
	// Chosen is called when a call has selected a window; nil: ignored.
	Chosen func(registry.Window)
	// Origins limits the addresses that agents may open; nil: no limit.
	Origins *policy.Origins
	// Secrets are hidden from the agents; nil: none.
	Secrets *secrets.Set
	// Claims keeps agents out of each other's pages; nil: there are no other agents.
	Claims Claims
	// Endpoint returns the stable CDP address of a workspace; nil: there is none.
	Endpoint func(workspace string) string
	// Record: a test of what an agent does can be exported.
	Record bool
	Logger *slog.Logger
}

// Agent is one MCP session: its own connections, its own window and its own current
// pages.
type Agent struct {
	*Options
	// Log writes to the program's log, and to the host at the level that it has set (none
	// until it sets one).
	Log *slog.Logger
	// Shot is the last screenshot that an answer could hold; nil: none.
	Shot atomic.Pointer[capture.Image]
	// Test is what the agent has done; nil: it is not recorded.
	Test *export.Test

	session *mcp.ServerSession
	// Ready is called when the host has identified itself. It closes ready.
	Ready    func()
	ready    chan struct{}
	roots    hostRoots
	browsers browsers
	notices  notices
	long     answer.Long

	mu        sync.Mutex // guards the fields that follow
	presence  presence
	enforcers map[*registry.Source]*policy.Enforcer
	changed   notify.Broadcast // the window must be resolved again
}

// New makes the agent of a session.
func New(o *Options, session *mcp.ServerSession) *Agent {
	//lint:ignore SA1019 hosts that show a server's log will do so for years
	host := mcp.NewLoggingHandler(session, &mcp.LoggingHandlerOptions{LoggerName: "browser-coordinator"})
	a := &Agent{
		Options: o, Log: slog.New(slog.NewMultiHandler(o.Logger.Handler(), host)), session: session, ready: make(chan struct{}),
		browsers:  browsers{log: o.Logger, claims: o.Claims, links: map[string]*link{}},
		presence:  presence{client: vscodeipc.ClientInfo{ID: rand.Text(), Name: unnamed}, since: time.Now()},
		enforcers: map[*registry.Source]*policy.Enforcer{},
	}
	a.browsers.moved = a.worksIn
	if a.Record {
		a.Test = &export.Test{}
	}
	a.Ready = sync.OnceFunc(func() { close(a.ready) })
	return a
}

// End ends what the agent has: its place in the list of its window, the tabs that it
// opened for itself, its connections and its claims. It returns when the connections have
// ended.
func (a *Agent) End() {
	a.join(nil)
	a.browsers.end()
}

// folders are those of this session where no window defines them.
func (a *Agent) folders(ctx context.Context) []string {
	if roots := a.hostRoots(ctx); len(roots) > 0 {
		return roots
	}
	return []string{a.Dir}
}

// Want collects what selects the window. The call names one, or none.
func (a *Agent) Want(ctx context.Context, window string) registry.Want {
	return registry.Want{Explicit: cmp.Or(window, a.Options.Workspace), Roots: a.hostRoots(ctx), Dir: a.Dir}
}

// attached reports whether a call goes to the browser that replaces the windows.
func (a *Agent) attached(window string) bool { return a.Attached && window == "" }

// resolveAgain makes Follow resolve the window again.
func (a *Agent) resolveAgain() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.changed.Notify()
}
