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
// does. A launched browser has no user to ask.

// presence is how windows know an agent.
type presence struct {
	client vscodeipc.ClientInfo
	since  time.Time
	window *registry.Source    // that lists the agent; nil: none
	page   string              // id of the page that it works in; empty: none
	last   *vscodeipc.Activity // the last call that no window was notified of; nil: none
}

// listed is the agent in the list of a window.
func (p *presence) listed() vscodeipc.ConnectedClient {
	return vscodeipc.ConnectedClient{
		ID: p.client.ID, Name: p.client.Name, Version: p.client.Version, Kind: "mcp", Since: p.since.UnixMilli(),
		Page: p.page,
	}
}

// actor is the agent as the policy knows it.
func (a *Agent) actor() policy.Actor {
	me := a.Info()
	return policy.Actor{Kind: policy.Agent, ID: me.ID, Name: me.Name, Version: me.Version}
}

// permit asks the window's user where the policy requires it. It binds a mutating call to
// that window.
func (c *Call) permit(ctx context.Context) error {
	isBound := c.permission != nil // by the step before
	if !isBound && !c.readOnly() {
		c.permission = &permission{}
	}
	if !c.Local && c.attached(c.Window) {
		return nil
	}
	want := c.Want(ctx, c.Window)
	window, candidates, err := c.Windows.Resolve(ctx, want)
	if err != nil || !c.Local && want.Explicit == "" && c.isSettled() {
		return nil // the call reports it itself, or goes to a browser of this session
	}
	if !c.Local && c.Window == "" {
		if err := c.checkHome(window, candidates); err != nil {
			return err
		}
	}
	if isBound {
		if err := c.permission.check(window); err != nil {
			return err
		}
	} else if !c.readOnly() {
		c.permission.window = window.Address
	}
	me := c.actor()
	source := c.Windows.SourceOf(window)
	c.user = source
	if source.Alone() {
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
	q, err := c.ask(ctx, me, window)
	if err != nil {
		return err
	}
	return enforcer.Permit(ctx, q)
}

// ask makes the question to the window's user. It returns an error if the call is sure to fail:
// the user is not asked then.
func (c *Call) ask(ctx context.Context, me policy.Actor, window registry.Window) (policy.Question, error) {
	q := policy.Question{Actor: me, Operation: c.Operation}
	if !c.Local && window.Browser() == nil {
		return q, &noBrowserError{window}
	}
	p, err := c.pageIn(ctx, window)
	if err != nil {
		return q, err
	}
	if p != nil {
		if info, err := p.Info(ctx); err == nil {
			q.Page = &policy.Page{Title: info.Title, URL: info.URL}
		}
	}
	return q, c.describe(ctx, p, &q)
}

// pageIn is the page of a window that the call will act in; nil: it is not known. The only
// error is one for which the user need not be asked.
func (c *Call) pageIn(ctx context.Context, window registry.Window) (*page.Page, error) {
	in, need := c.known(window), toRead // no tab is opened before the user agrees
	if len(c.Aims) > 0 {
		need = toAct
	}
	if in == nil && need == toAct {
		to, err := c.browserIn(window)
		if err == nil {
			in, err = c.connect(ctx, to, used)
		}
		if err != nil {
			return nil, nil // the call itself reports it
		}
	}
	if in == nil {
		return nil, nil
	}
	p, err := c.pageOf(ctx, in, need)
	if errors.As(err, new(*closedTabError)) || errors.As(err, new(*takenTabError)) || errors.As(err, new(*noTabError)) {
		return nil, err
	}
	if err != nil || c.Tab == nil && c.currentOf(in) != p.ID() {
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
	a.mu.Lock()
	defer a.mu.Unlock()
	former := a.presence.window
	if former == source {
		return
	}
	a.presence.window = source
	if former != nil {
		former.Announce("mcp", []vscodeipc.ConnectedClient{})
	}
	a.announce()
}

// worksIn notifies the agent's window of the page that the agent works in; empty: none. mu is
// held.
func (a *Agent) worksIn(page string) {
	if a.presence.page != page {
		a.presence.page = page
		a.announce()
	}
}

// announce notifies the agent's window, if there is one; mu is held.
func (a *Agent) announce() {
	if p := a.presence; p.window != nil {
		p.window.Announce("mcp", []vscodeipc.ConnectedClient{p.listed()})
	}
}

// report notifies the window's user of a call. Where there is none it keeps the call for
// [Agent.Alone].
func (c *Call) report(began time.Time, err error) {
	done := vscodeipc.Activity{
		Client: c.Info().ID, Time: began.UnixMilli(), Act: c.Operation.Name, Target: c.Secrets.Hide(c.subject()),
		Outcome: "done", OK: err == nil,
	}
	if p := cmp.Or(c.effect.page, c.lastPage()); p != nil {
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

// subject is what the call is about, as reports name it.
func (c *Call) subject() string {
	if c.Subject == nil {
		return c.target
	}
	return c.Subject(c.target)
}
