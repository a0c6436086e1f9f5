package tools

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/policy"
	"browser-coordinator/vscodeipc"
)

// The user of a window decides what an agent may do there, and is notified of what it
// does. A browser of our own has no user to ask.

// unnamed is the name of a host that has not sent its name.
const unnamed = "an MCP host"

// identify returns how windows identify an agent: a random id, its name and version.
func identify(session *mcp.ServerSession) vscodeipc.ClientInfo {
	me := vscodeipc.ClientInfo{ID: rand.Text(), Name: unnamed}
	if init := session.InitializeParams(); init != nil && init.ClientInfo != nil && init.ClientInfo.Name != "" {
		me.Name, me.Version = init.ClientInfo.Name, init.ClientInfo.Version
		if init.ClientInfo.Title != "" {
			me.Name = init.ClientInfo.Title
		}
	}
	return me
}

// info identifies the agent. The host sends its name in its first message.
func (a *agent) info() vscodeipc.ClientInfo {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.client.ID == "" {
		a.client = identify(a.session)
		a.since = time.Now()
	} else if a.client.Name == unnamed { // asked before the host had sent its name
		now := identify(a.session)
		a.client.Name, a.client.Version = now.Name, now.Version
	}
	return a.client
}

// call is one tool call, as the window's user sees it in questions and reports.
type call struct {
	tool      *mcp.Tool
	in        any
	window    string // named in the call
	operation policy.Operation
}

func (c call) readOnly() bool { return c.operation.Class == policy.ReadOnly }

// permit asks the window's user where the policy requires it. It returns the window that
// is to be notified of the result; nil if there is none. The returned context binds a
// mutating call to that window.
func (a *agent) permit(ctx context.Context, c call) (context.Context, *registry.Source, error) {
	o := &a.server.options
	only := context.WithValue(ctx, permittedKey{}, "")
	if c.readOnly() {
		only = ctx
	}
	if !c.forWindow() && o.Attach != "" && a.named(c.window) == "" {
		return only, nil, nil
	}
	window, _, err := o.Windows.Resolve(ctx, a.want(ctx, c.window))
	if err != nil || !c.forWindow() && a.ownInstead(c.window) {
		return only, nil, nil // the call reports it itself, or goes to a browser of our own
	}
	if !c.readOnly() {
		only = context.WithValue(ctx, permittedKey{}, window.Label())
	}
	source, err := a.permitIn(ctx, c, window)
	return only, source, err
}

// permitIn is permit for a call in this window.
func (a *agent) permitIn(ctx context.Context, c call, window registry.Window) (*registry.Source, error) {
	o := &a.server.options
	me := a.actor()
	if window.Workspace == "" {
		me.Choice = policy.Choice{State: policy.State{Mode: policy.Mode(window.State.Access.Mode)}, Silent: true}
		return nil, policy.Decide(me, c.operation).Err()
	}
	source := o.Windows.Source(window.Workspace)
	a.join(source)
	enforcer := a.enforcerOf(source)
	switch d := enforcer.Decide(me, c.operation); {
	case d.Outcome == policy.Allow:
		return source, nil
	case d.Outcome == policy.Deny && c.readOnly():
		return nil, d.Err() // only actions are reported
	case d.Outcome == policy.Deny:
		return source, d.Err()
	}
	q := policy.Question{Actor: me, Operation: c.operation, Detail: c.detail()}
	if l := a.known(window); l != nil {
		p, err := a.currentPage(readOnly(ctx), l) // no tab is opened before the user agrees
		if errors.As(err, new(*closedTabError)) {
			return nil, err // the user is not asked about a call that fails anyway
		}
		if err == nil && a.worksIn(l, p) {
			if info, err := p.Info(ctx); err == nil {
				q.Page = &policy.Page{Title: info.Title, URL: info.URL}
			}
		}
	}
	return source, enforcer.Permit(ctx, q)
}

// actor is the agent as the policy knows it.
func (a *agent) actor() policy.Actor {
	me := a.info()
	return policy.Actor{Kind: policy.Agent, ID: me.ID, Name: me.Name, Version: me.Version}
}

// permittedKey is the context key of the window in which a mutating call was permitted;
// empty: in none.
type permittedKey struct{}

// stays refuses a window other than the one in which the call was permitted: another
// window may have opened while the user was asked.
func stays(ctx context.Context, window registry.Window) error {
	permitted, bound := ctx.Value(permittedKey{}).(string)
	if !bound || permitted == window.Label() {
		return nil
	}
	return fmt.Errorf("another window is meant now than when this call began, %s, so nothing was done: call again to act there", window.Label())
}

// forWindow reports whether a tool works on the window itself, whichever browser the
// agent uses.
func (c call) forWindow() bool {
	open := c.tool.Annotations.OpenWorldHint
	return open != nil && !*open
}

// untilStopped returns a context for the call that ends when the user stops the agent.
// The caller must call the returned function.
func (a *agent) untilStopped(ctx context.Context, source *registry.Source, c call) (context.Context, func()) {
	if source == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	watching, end := context.WithCancel(context.WithoutCancel(ctx))
	watched := make(chan struct{})
	go a.watchStop(watching, source, c, cancel, watched)
	return ctx, func() {
		end()
		<-watched
	}
}

// watchStop is owned by the call, which waits for it.
func (a *agent) watchStop(ctx context.Context, source *registry.Source, c call, cancel context.CancelCauseFunc, watched chan<- struct{}) {
	defer close(watched)
	if err := a.enforcerOf(source).AwaitStop(ctx, a.actor(), c.operation); err != nil {
		cancel(err)
	}
}

// known is the connection to a window's browser, nil if there is none yet.
func (a *agent) known(window registry.Window) *link {
	browser := window.Browser()
	if browser == nil {
		return nil
	}
	a.mu.Lock()
	l := a.links[browser.URL]
	a.mu.Unlock()
	if l == nil {
		return nil
	}
	select {
	case <-l.ready:
	default:
		return nil
	}
	if l.browser == nil || ended(l) {
		return nil
	}
	return l
}

// ownInstead reports whether a call stays in a browser of our own (see settled).
func (a *agent) ownInstead(window string) bool {
	if a.named(window) != "" || a.server.options.Workspace != "" {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, l := range a.links {
		if l.own && l.acted && !ended(l) {
			return true
		}
	}
	return false
}

// enforcerOf is the one enforcer of a window for all agents of the server.
func (a *agent) enforcerOf(source *registry.Source) *policy.Enforcer {
	s := a.server
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.enforcers[source]
	if e == nil {
		e = policy.NewEnforcer(source)
		s.enforcers[source] = e
	}
	return e
}

// join notifies a window that the agent uses it, and the former one that the agent no
// longer does.
func (a *agent) join(source *registry.Source) {
	a.info()
	s := a.server
	s.mu.Lock()
	defer s.mu.Unlock()
	former := a.joined
	if former == source {
		return
	}
	a.joined = source
	for _, each := range []*registry.Source{former, source} {
		if each != nil {
			s.announce(each)
		}
	}
}

// announce lists the agents that use a window; s.mu is held.
func (s *Server) announce(source *registry.Source) {
	clients := []vscodeipc.ConnectedClient{}
	for _, a := range s.agents {
		if a.joined == source {
			clients = append(clients, vscodeipc.ConnectedClient{
				ID: a.client.ID, Name: a.client.Name, Version: a.client.Version, Kind: "mcp", Since: a.since.UnixMilli(),
			})
		}
	}
	source.Announce("mcp", clients)
}

// tell reports a call to the window's user.
func (a *agent) tell(source *registry.Source, c call, began time.Time, err error) {
	if source == nil {
		return
	}
	act := vscodeipc.Activity{
		Client: a.info().ID, Time: began.UnixMilli(), Act: c.tool.Name, Target: c.target(), Outcome: "done", OK: err == nil,
	}
	if p := a.lastPage(); p != nil {
		act.URL = withoutQuery(p.URL())
	}
	var refused *policy.DeniedError
	switch {
	case errors.As(err, &refused):
		act.Outcome = "refused"
	case err != nil:
		act.Outcome, _, _ = strings.Cut(err.Error(), "\n")
		act.Outcome = limit(act.Outcome, 200)
	}
	source.Report(act)
}

// lastPage is the last used page of the connection, if it is known.
func (a *agent) lastPage() *page.Page {
	a.mu.Lock()
	l := a.last
	a.mu.Unlock()
	if l == nil || ended(l) {
		return nil
	}
	return l.browser.Known(l.current)
}

// withoutQuery removes the parts of a URL that may hold a secret.
func withoutQuery(url string) string {
	url, _, _ = strings.Cut(url, "#")
	url, _, _ = strings.Cut(url, "?")
	return url
}

// told are the parameters that describe a call, the most useful first.
var told = []string{"element", "startElement", "endElement", "target", "startTarget", "endTarget", "url", "action", "configuration", "path", "line", "key"}

// shown are further parameters that a question shows to the user.
var shown = []string{"text", "values", "value", "fields", "function", "expression", "code", "promptText", "paths", "data"}

func (c call) target() string { return c.say(told) }

func (c call) detail() string {
	detail := c.tool.Annotations.Title
	if about := c.say(append(slices.Clone(told), shown...)); about != "" {
		detail += ": " + about
	}
	return detail
}

const longestDetail = 300

// say lists the call's parameters that have these names.
func (c call) say(names []string) string {
	encoded, err := json.Marshal(c.in)
	if err != nil {
		return ""
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(encoded, &all); err != nil {
		return ""
	}
	var parts []string
	for _, name := range names {
		raw, given := all[name]
		if !given {
			continue
		}
		text := string(raw)
		var s string
		if json.Unmarshal(raw, &s) == nil {
			text = s
		}
		if text != "" {
			parts = append(parts, text)
		}
	}
	return limit(strings.Join(parts, ", "), longestDetail)
}

func limit(s string, most int) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return string(runes[:most-1]) + "…"
}
