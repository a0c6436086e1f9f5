package agent

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/policy"
	"browser-coordinator/vscodeipc"
)

// The user of a window decides what an agent may do there, and is notified of what it
// does. A browser of our own has no user to ask.

// presence is how windows know an agent.
type presence struct {
	client vscodeipc.ClientInfo
	since  time.Time
	in     *registry.Source    // the window that lists the agent; nil: none
	page   string              // id of the page that it works in; empty: none
	last   *vscodeipc.Activity // the last call that no window was notified of; nil: none
}

// listed is the agent in the list of a window.
func (p *presence) listed() vscodeipc.ConnectedClient {
	return vscodeipc.ConnectedClient{ID: p.client.ID, Name: p.client.Name, Version: p.client.Version, Kind: "mcp", Since: p.since.UnixMilli(), Page: p.page}
}

// unnamed is the name of a host that has not sent its name.
const unnamed = "an MCP host"

// longestHost bounds the name of a host, in characters.
const longestHost = 200

// Info is how windows identify the agent: a random id, its name and version. The host
// sends its name in its first message.
func (a *Agent) Info() vscodeipc.ClientInfo {
	a.mu.Lock()
	defer a.mu.Unlock()
	me := &a.presence.client
	if me.Name != unnamed {
		return *me
	}
	if init := a.session.InitializeParams(); init != nil && init.ClientInfo != nil && init.ClientInfo.Name != "" {
		me.Name, me.Version = init.ClientInfo.Name, init.ClientInfo.Version
		if init.ClientInfo.Title != "" {
			me.Name = init.ClientInfo.Title
		}
		me.Name = limit(me.Name, longestHost) // a window keeps the names of those who are stopped
	}
	return *me
}

// actor is the agent as the policy knows it.
func (a *Agent) actor() policy.Actor {
	me := a.Info()
	return policy.Actor{Kind: policy.Agent, ID: me.ID, Name: me.Name, Version: me.Version}
}

// permit asks the window's user where the policy requires it. It binds a mutating call to
// that window.
func (c *Call) permit(ctx context.Context) error {
	pinned := c.permitted != nil
	if !pinned && !c.readOnly() {
		c.permitted = new("")
	}
	if !c.Local && c.attached(c.Window) {
		return nil
	}
	want := c.Want(ctx, c.Window)
	window, _, err := c.Windows.Resolve(ctx, want)
	if err != nil || !c.Local && want.Explicit == "" && c.browsers.settled() {
		return nil // the call reports it itself, or goes to a browser of our own
	}
	if pinned {
		if err := c.stays(window); err != nil {
			return err
		}
	} else if !c.readOnly() {
		c.permitted = new(window.Label())
	}
	me := c.actor()
	source := c.Windows.Source(window.Key())
	c.user = source
	if window.Workspace == "" {
		c.began = policy.State{Mode: policy.Mode(window.State.Access.Mode), Stopped: window.State.Access.Stopped}
		c.endRevoked()
		me.Choice = policy.Choice{State: c.began, Silent: true}
		return policy.Decide(me, c.Operation).Err()
	}
	c.began, _ = source.Access()
	c.endRevoked() // now, so that the question names the page in the next connection
	c.join(source)
	enforcer := c.enforcerOf(source)
	d := enforcer.Decide(me, c.Operation)
	if d.Outcome == policy.Deny && c.readOnly() {
		return d.Err() // only actions are reported
	}
	c.source = source
	if d.Outcome != policy.Ask {
		return d.Err()
	}
	q := policy.Question{Actor: me, Operation: c.Operation}
	p, err := c.pageIn(ctx, window)
	if err != nil {
		return err
	}
	if p != nil {
		if info, err := p.Info(ctx); err == nil {
			q.Page = &policy.Page{Title: info.Title, URL: info.URL}
		}
	}
	if err := c.about(ctx, p, &q); err != nil {
		return err
	}
	return enforcer.Permit(ctx, q)
}

// pageIn is the page of a window that the call will act in; nil: it is not known. The only
// error is one for which the user need not be asked.
func (c *Call) pageIn(ctx context.Context, window registry.Window) (*page.Page, error) {
	l, need := c.browsers.known(window), reads // no tab is opened before the user agrees
	if len(c.Aims) > 0 {
		need = acts
	}
	if l == nil && need == acts && window.Browser() != nil {
		target, want, err := c.browserIn(window)
		if err == nil {
			want.used = true
			l, err = c.connect(ctx, target, want)
		}
		if err != nil {
			return nil, nil // the call itself reports it
		}
	}
	if l == nil {
		return nil, nil
	}
	p, err := c.pageOf(ctx, l, need)
	if errors.As(err, new(*closedTabError)) || errors.As(err, new(*takenTabError)) {
		return nil, err
	}
	if err != nil || c.Tab == nil && c.browsers.currentOf(l) != p.ID() {
		return nil, nil
	}
	return p, nil
}

// untilRevoked returns a context for the call that ends when the user stops the agent, or
// no longer allows what the call does. The caller must call the returned function.
func (c *Call) untilRevoked(ctx context.Context) (context.Context, func()) {
	if c.user == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	watching, end := context.WithCancel(context.WithoutCancel(ctx))
	var watched sync.WaitGroup
	watched.Go(func() {
		if err := c.enforcerOf(c.user).AwaitRevocation(watching, c.actor(), c.Operation, c.began); err != nil {
			cancel(err)
		}
	})
	return ctx, func() {
		end()
		watched.Wait()
	}
}

// enforcerOf is the enforcer of a window.
func (a *Agent) enforcerOf(source *registry.Source) *policy.Enforcer {
	a.mu.Lock()
	defer a.mu.Unlock()
	e := a.enforcers[source]
	if e == nil {
		e = policy.NewEnforcer(source)
		a.enforcers[source] = e
	}
	return e
}

// join notifies a window that the agent uses it, and the former one that the agent no
// longer does; nil: it uses none.
func (a *Agent) join(source *registry.Source) {
	a.Info()
	a.mu.Lock()
	defer a.mu.Unlock()
	former := a.presence.in
	if former == source {
		return
	}
	a.presence.in = source
	if former != nil {
		former.Announce("mcp", []vscodeipc.ConnectedClient{})
	}
	a.announce()
}

// worksIn notifies the agent's window of the page that the agent works in; empty: none.
func (a *Agent) worksIn(page string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.presence.page != page {
		a.presence.page = page
		a.announce()
	}
}

// announce notifies the agent's window, if there is one; mu is held.
func (a *Agent) announce() {
	if p := a.presence; p.in != nil {
		p.in.Announce("mcp", []vscodeipc.ConnectedClient{p.listed()})
	}
}

// report notifies the window's user of a call. Where there is none it keeps the call for
// [Agent.Alone].
func (c *Call) report(began time.Time, err error) {
	done := vscodeipc.Activity{
		Client: c.Info().ID, Time: began.UnixMilli(), Act: c.Operation.Name, Target: c.Secrets.Hide(c.targetNow()), Outcome: "done", OK: err == nil,
	}
	if p := cmp.Or(c.did.page, c.browsers.lastPage()); p != nil {
		// What follows may hold a secret.
		done.URL, _, _ = strings.Cut(p.URL(), "#")
		done.URL, _, _ = strings.Cut(done.URL, "?")
	}
	switch {
	case errors.As(err, new(*policy.DeniedError)):
		done.Outcome = "refused"
	case err != nil:
		done.Outcome, _, _ = strings.Cut(err.Error(), "\n")
		done.Outcome = limit(done.Outcome, 200)
	}
	if c.source != nil {
		c.source.Report(func() vscodeipc.Activity { return done })
		return
	}
	done = registry.Public(done, "mcp")
	c.mu.Lock()
	defer c.mu.Unlock()
	c.presence.last = &done
}

// targetNow is what the call is about, as reports name it.
func (c *Call) targetNow() string {
	if c.Subject == nil {
		return c.target
	}
	return c.Subject(c.target)
}

func limit(s string, most int) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return string(runes[:most-1]) + "…"
}
