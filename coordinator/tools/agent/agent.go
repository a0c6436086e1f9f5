// Package agent keeps the state of one agent's session, and runs the agent's calls: in which
// window and page, with which files, and whether the window's user allows it. It does not
// know how the agent's program speaks to this one.
//
// Agents that work side by side are of different programs. They share no connection and no
// page.
package agent

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"browser-coordinator/coordinator/claim"
	"browser-coordinator/coordinator/launch"
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/capture"
	"browser-coordinator/coordinator/page/emulation"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/coordinator/tools/answer"
	"browser-coordinator/coordinator/tools/export"
	"browser-coordinator/coordinator/tools/secrets"
	"browser-coordinator/coordinator/window"
	"browser-coordinator/internal/notify"
	"browser-coordinator/policy"
	"browser-coordinator/vscodeipc"
)

// Options of an agent. Windows, Dir and Logger are required.
type Options struct {
	Windows *registry.Registry
	// Version is that of this program; empty: unknown.
	Version string
	// Launcher opens a browser when no window fits; nil: no browser is launched.
	Launcher *launch.OnDemand
	// Viewport is the size of the Launcher's pages; nil: the browser's default.
	Viewport *emulation.Viewport
	// Attached: the Launcher's browser is another program's, and replaces the windows,
	// unless a call names a window.
	Attached bool
	// Access is what the agent may do in the Launcher's browser; empty: everything.
	Access policy.Mode
	// NoLauncher is why there is no Launcher, for errors.
	NoLauncher string
	// Workspace selects the window for every call that does not name one; empty: none.
	Workspace string
	// Dir is the working directory that the host has set.
	Dir string
	// OutputDir is a folder for files outside the workspace; empty: none.
	OutputDir string
	// OnChoice is called when a call has selected a window; nil: ignored.
	OnChoice func(registry.Window)
	// Origins limits the addresses that agents may open; nil: no limit.
	Origins *policy.Origins
	// Secrets are hidden from the agents; nil: none.
	Secrets *secrets.Set
	// Claims lock pages, so that two agents of any programs never work in the same one. They also
	// name what others have set in a browser. Nil: there are no other agents.
	Claims *claim.Pages
	// Endpoint returns the stable CDP address of a workspace; nil: there is none.
	Endpoint func(workspace string) string
	// Whole: an answer has no parts, however long it is. Its reader keeps what it does not show.
	Whole bool
	// Spell has a text of ours name the tools as the agent's host calls them; nil: by their names.
	Spell func(text string) string
	// Record: a test of what an agent does can be exported. To find out by what a test finds an element may take longer
	// than to act on it.
	Record bool
	Logger *slog.Logger
}

// Host is the program that the agent works in.
type Host struct {
	// Log receives what the session logs, besides the program's own log; nil: nothing.
	Log slog.Handler
	// Roots are the folders that the host works in; nil: the host has none.
	Roots func(context.Context) []string
}

// Agent is one session: its own connections, its own window and its own current pages.
type Agent struct {
	*Options
	// Log writes to the program's log and to the host's.
	Log *slog.Logger
	// Shot is the last screenshot that an answer could hold; nil: none.
	Shot atomic.Pointer[capture.Image]
	// Video is the one that has begun and is not stopped; nil: there is none.
	Video atomic.Pointer[Video]
	// Test is what the agent has done, if that is recorded.
	Test export.Test

	host       Host
	owner      *claim.Owner  // this agent; nil: there are no others
	alone      *window.Alone // the user of browsers without a window
	identified chan struct{} // closed when the host has identified itself
	refs       frame.Refs    // of all pages: no ref occurs on two pages
	indexes    page.Indexes  // of all tabs, in whichever browser: none is that of two
	long       answer.Long
	places     *places
	browsers   browsers

	// mu guards the fields that follow, and those that their types name. Like the locks of places and
	// browsers it is never held while something is sent to a browser or awaited from a window. places.mu is
	// locked before mu, and both mu and browsers.mu before the locks of users.
	mu         sync.Mutex
	presence   presence
	takeovers  map[browserUser]int // how many changes of [registry.Takeover] the agent knows
	changed    notify.Broadcast    // the window must be resolved again
	notices    []string            // for the next answer
	unread     []vscodeipc.Note    // taken for an answer that nobody has read
	noticed    map[string]struct{} // those that a session needs once
	met        map[string][]string // what others have set, by page; see meetOthers
	endPicture func()              // see reportPictured; nil: there was none

	watchers sync.WaitGroup // watchUser, reportPictured
}

// New makes the agent of a session.
func New(o *Options, host Host) *Agent {
	handlers := []slog.Handler{o.Logger.Handler()}
	if host.Log != nil {
		handlers = append(handlers, host.Log)
	}
	if host.Roots == nil {
		host.Roots = func(context.Context) []string { return nil }
	}
	a := &Agent{
		Options: o, Log: slog.New(slog.NewMultiHandler(handlers...)), host: host,
		identified: make(chan struct{}),
		presence:   presence{client: vscodeipc.ClientInfo{ID: rand.Text(), Name: unnamed}, start: time.Now()},
		browsers:   browsers{open: map[string]*connection{}, dials: map[string]*dialing{}},
		takeovers:  map[browserUser]int{}, noticed: map[string]struct{}{}, met: map[string][]string{},
	}
	limit := a.Access
	if a.Attached { // another program's browser, which has a user of its own
		limit = ""
	}
	a.alone = window.NewAlone(a.Info, limit)
	if a.Claims != nil {
		a.owner = a.Claims.Owner(a.presence.client.ID, ownerName(unnamed))
	}
	a.places = newPlaces(a.owner.Claim, a.worksIn, a.releaseIdle)
	return a
}

// ownerName names an agent of that host to the other agents.
func ownerName(host string) string { return fmt.Sprintf("another agent (%s)", host) }

// unnamed is the name of a host that has not sent its name.
const unnamed = "an MCP host"

// longestHost bounds the name of a host, in characters: windows store those of stopped ones.
const longestHost = 200

// Identify sets the host's name and version. Only the first call has an effect: users stop an
// agent by its name.
func (a *Agent) Identify(name, version string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if isClosed(a.identified) {
		return
	}
	if name != "" {
		a.presence.client.Name, a.presence.client.Version = limit(name, longestHost), version
		a.owner.Rename(ownerName(a.presence.client.Name))
	}
	close(a.identified)
}

// Info is how windows identify the agent: a random id, its name and version.
func (a *Agent) Info() vscodeipc.ClientInfo {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.presence.client
}

// End ends what the agent has: its place in the list of its window, the tabs that it
// opened for itself, its connections and its claims. It returns when the connections have
// ended.
func (a *Agent) End() {
	a.stopPicture()
	a.join(nil)
	a.closeOpened()
	a.browsers.close()
	a.watchers.Wait()
	a.places.end()
}

// folders are those of this session where no window defines them.
func (a *Agent) folders(ctx context.Context) []string {
	if roots := a.host.Roots(ctx); len(roots) > 0 {
		return roots
	}
	return []string{a.Dir}
}

// ResolveAgain makes Follow resolve the window again: the host's roots have changed, for
// example.
func (a *Agent) ResolveAgain() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.changed.Notify()
}

// notify gives the agent a notice with the next answer.
func (a *Agent) notify(notice string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.notices = append(a.notices, notice)
}

// notifyOnce is notify for a notice that a session needs once.
func (a *Agent) notifyOnce(notice string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, known := a.noticed[notice]; !known {
		a.noticed[notice] = struct{}{}
		a.notices = append(a.notices, notice)
	}
}

// notice is the notice of an answer; empty: there is none.
func (a *Agent) notice() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	notices := strings.Join(a.notices, "\n")
	a.notices = nil
	return notices
}

// Want collects what selects the window. The call names one, or none.
func (a *Agent) Want(ctx context.Context, window string) registry.Want {
	want := registry.Want{Explicit: cmp.Or(window, a.Options.Workspace), Roots: a.host.Roots(ctx), Dir: a.Dir}
	if home, _, _ := a.places.atHome(); home != ownSeat && home != attachedSeat {
		want.InUse = vscodeipc.Address(home)
	}
	return want
}

// attached reports whether a call goes to the browser that replaces the windows.
func (a *Agent) attached(window string) bool { return a.Attached && window == "" }

// limit cuts a text after so many characters.
func limit(s string, maximum int) string {
	runes := []rune(s)
	if len(runes) <= maximum {
		return s
	}
	return string(runes[:maximum-1]) + "…"
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
