package agent

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/policy"
)

// permission is who has allowed a call, where it goes.
type permission struct {
	user     browserUser      // who has allowed the call; nil: nobody had to
	state    policy.State     // what that user had chosen then
	reported *registry.Source // whose user is notified of the call; nil: none
	grounds  policy.Grounds   // why it is allowed there, as that user reads it
	question question
}

// actor is the agent as the policy knows it.
func (a *Agent) actor() policy.Actor {
	me := a.Info()
	return policy.Actor{Kind: policy.Agent, ID: me.ID, Name: me.Name, Version: me.Version}
}

// permit asks the user of the call's window, or of its browser without one, where the policy requires it.
func (c *Call) permit(ctx context.Context) error {
	a, p, actor := c.Agent, &c.permission, c.Agent.actor()
	if c.where.nowhere != nil {
		return nil // it does nothing
	}
	if c.where.owner == ofStranger {
		if err := c.permitAttached(); err != nil {
			return err
		}
	}
	if c.where.window == nil {
		p.user = a.alone
		return c.askIfNeeded(ctx, actor)
	}
	source := a.Windows.SourceOf(*c.where.window)
	p.user = source
	if source.IsSingleWindow() {
		access := c.where.window.State.Access
		a.meet(p.user)
		p.state = policy.State{Mode: policy.Mode(access.Mode), Stopped: access.Stopped}
		a.endRevoked()
		actor.Choice = policy.Choice{State: p.state, Silent: true}
		return policy.Decide(actor, c.Request.Operation).Err()
	}
	a.join(source)
	p.reported = source
	return c.askIfNeeded(ctx, actor)
}

// askIfNeeded decides by what the user has chosen, and asks the user if that is the decision.
func (c *Call) askIfNeeded(ctx context.Context, actor policy.Actor) (err error) {
	p := &c.permission
	c.Agent.meet(p.user)
	p.state, _ = p.user.Access()
	c.Agent.endRevoked() // now, so that the question names the page in the next connection
	enforcer := policy.NewEnforcer(p.user)
	d := enforcer.Decide(actor, c.Request.Operation)
	if d.Outcome == policy.Deny && c.Request.readOnly() {
		p.reported = nil // of what is denied, only actions are
	}
	if d.Outcome != policy.Ask {
		p.grounds = d.Grounds
		return d.Err()
	}
	if err := c.awaitReturn(ctx); err != nil { // the user is not asked meanwhile
		return err
	}
	c.asked = true
	q := policy.Question{Actor: actor, Operation: c.Request.Operation}
	if p.question, err = c.ask(ctx, &q); err != nil {
		return err
	}
	p.grounds, err = enforcer.Permit(ctx, q)
	return err
}

// permitAttached decides by the flag of the session about a call in an attached browser.
func (c *Call) permitAttached() error {
	a, r := c.Agent, &c.Request
	if r.readOnly() || a.Access == "" || a.Access == policy.ModeFull {
		return nil
	}
	reason := fmt.Sprintf("this is %s, where this session may only look.", a.Launcher.Provider())
	if a.Access == policy.ModeAsk {
		reason = fmt.Sprintf("this is %s, and its user cannot be asked here. The user can run `coordinator window "+
			"--attach` with the same browser in a terminal on this folder, which asks, and start this session without "+
			"--attach.", a.Launcher.Provider())
	}
	return &policy.DeniedError{Operation: r.Operation.Name, Reason: reason}
}

// ask makes the question about the call, in the tab in which it will work. It returns an error if the
// call is sure to fail: the user is not asked then.
func (c *Call) ask(ctx context.Context, q *policy.Question) (question, error) {
	p, err := c.pageToAsk(ctx)
	if err != nil {
		return question{}, err
	}
	if p == nil {
		return c.describe(ctx, p, q)
	}
	place := p.Place()
	info, err := p.Info(ctx)
	if err == nil {
		q.Page = &policy.Page{Title: info.Title, URL: info.URL}
	}
	asked, err := c.describe(ctx, p, q)
	asked.place = place
	if err == nil && strings.HasPrefix(info.URL, place+"/") { // else it has moved meanwhile, or is on no site
		asked.site = c.siteFor(ctx, p, asked.present)
	}
	if asked.site != place {
		asked.site = ""
	}
	q.Origin = asked.site
	return asked, err
}

// pageToAsk is the page in which the call will work; nil: none that is there already. No browser is
// launched and no tab is opened before the user agrees.
func (c *Call) pageToAsk(ctx context.Context) (*page.Page, error) {
	if c.Request.Local || c.where.owner == ofSession && !c.Agent.ownRuns() {
		return nil, nil
	}
	in, err := c.connection(ctx)
	if err != nil {
		return nil, err
	}
	id := c.place.current()
	if !c.Request.Tabless {
		decided, err := c.decideTab(ctx)
		if err != nil {
			return nil, err
		}
		id = decided.id
	}
	if id == "" {
		return nil, nil
	}
	p, err := in.browser.Page(ctx, id)
	if err != nil && c.Request.Tabless { // it may have closed
		return nil, nil
	}
	return p, err
}

// untilRevoked returns a context for the call that ends when the user stops the agent, or
// no longer allows what the call does. The caller must call the returned function.
func (c *Call) untilRevoked(ctx context.Context) (context.Context, func()) {
	user := c.permission.user
	if user == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	watching, end := context.WithCancel(context.WithoutCancel(ctx))
	var watched sync.WaitGroup
	watched.Go(func() {
		err := policy.NewEnforcer(user).AwaitRevocation(watching, c.Agent.actor(), c.Request.Operation, c.permission.state)
		if err != nil {
			cancel(err)
		}
	})
	return ctx, func() {
		end()
		watched.Wait()
	}
}
