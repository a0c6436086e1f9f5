package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/policy"
	"browser-coordinator/vscodeipc"
)

// permission is where a call may act, and who has allowed that.
type permission struct {
	// window is the one in which a call may act, or empty: only in a browser that asks no user.
	// Nil: anywhere, since nothing needs a permission.
	window   *vscodeipc.Address
	user     browserUser      // who has allowed the call; nil: none
	state    policy.State     // what that user had chosen then
	reported *registry.Source // whose user is notified of the call; nil: none
	grounds  policy.Grounds   // why it is allowed there, as that user reads it
	question question
}

// check refuses a window other than the one in which the call was permitted: another window
// may have opened while the user was asked.
func (p *permission) check(window registry.Window) error {
	if p.window == nil || *p.window == window.Address {
		return nil
	}
	return fmt.Errorf("this call now resolves to another window than when it began, %s, so nothing was done: "+
		"call again to act there", window.Label())
}

// actor is the agent as the policy knows it.
func (a *Agent) actor() policy.Actor {
	me := a.Info()
	return policy.Actor{Kind: policy.Agent, ID: me.ID, Name: me.Name, Version: me.Version}
}

// permit asks the window's user where the policy requires it. It binds a mutating call to
// that window, unless the steps before have bound it already.
func (a *Agent) permit(ctx context.Context, r *Request, address *vscodeipc.Address) (p permission, err error) {
	p.window = address
	if address == nil && !r.readOnly() {
		p.window = new(vscodeipc.Address)
	}
	if !r.Local && a.attached(r.Window) {
		if err := a.permitAttached(r); err != nil {
			return p, err
		}
		return p, a.permitAlone(ctx, r, &p)
	}
	want := a.Want(ctx, r.Window)
	window, candidates, err := a.Windows.Resolve(ctx, want)
	isAlone := !r.Local && r.Window == "" && (err != nil || want.Explicit == "" && a.isSettled())
	switch {
	case isAlone && a.Launcher != nil:
		return p, a.permitAlone(ctx, r, &p)
	case isAlone, err != nil:
		return p, nil // the call reports it itself
	}
	if !r.Local && r.Window == "" {
		if err := a.checkHome(window, candidates); err != nil {
			return p, err
		}
	}
	if address != nil {
		if err := p.check(window); err != nil {
			return p, err
		}
	} else if !r.readOnly() {
		p.window = &window.Address
	}
	actor := a.actor()
	source := a.Windows.SourceOf(window)
	p.user = source
	a.meet(p.user)
	if source.IsSingleWindow() {
		p.state = policy.State{Mode: policy.Mode(window.State.Access.Mode), Stopped: window.State.Access.Stopped}
		a.endRevoked()
		actor.Choice = policy.Choice{State: p.state, Silent: true}
		return p, policy.Decide(actor, r.Operation).Err()
	}
	p.state, _ = p.user.Access()
	a.endRevoked() // now, so that the question names the page in the next connection
	a.join(source)
	d := policy.NewEnforcer(p.user).Decide(actor, r.Operation)
	if d.Outcome != policy.Deny || !r.readOnly() { // of what is denied, only actions are
		p.reported = source
	}
	err = a.askIfNeeded(ctx, r, &p, d, func(q *policy.Question) (question, error) { return a.ask(ctx, r, window, q) })
	return p, err
}

// askIfNeeded asks the user if that is the decision. ask makes the question.
func (a *Agent) askIfNeeded(
	ctx context.Context, r *Request, p *permission, d policy.Decision,
	ask func(*policy.Question) (question, error),
) (err error) {
	if d.Outcome != policy.Ask {
		p.grounds = d.Grounds
		return d.Err()
	}
	if err := a.awaitReturn(ctx, r, p.user); err != nil { // the user is not asked meanwhile
		return err
	}
	q := policy.Question{Actor: a.actor(), Operation: r.Operation}
	if p.question, err = ask(&q); err != nil {
		return err
	}
	p.grounds, err = policy.NewEnforcer(p.user).Permit(ctx, q)
	return err
}

// permitAlone decides about a call in a browser without a window.
func (a *Agent) permitAlone(ctx context.Context, r *Request, p *permission) error {
	p.user = a.alone
	a.meet(a.alone)
	p.state, _ = a.alone.Access()
	a.endRevoked()
	d := policy.NewEnforcer(a.alone).Decide(a.actor(), r.Operation)
	return a.askIfNeeded(ctx, r, p, d, func(q *policy.Question) (question, error) {
		in := a.inUse()
		if in != nil && (in.owner == ofWindow || in.ended()) {
			in = nil
		}
		return a.askIn(ctx, r, in, q)
	})
}

// permitAttached decides by the flag of the session about a call in an attached browser.
func (a *Agent) permitAttached(r *Request) error {
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

// ask makes the question to the window's user. It returns an error if the call is sure to fail:
// the user is not asked then.
func (a *Agent) ask(
	ctx context.Context, r *Request, window registry.Window, q *policy.Question,
) (question, error) {
	if !r.Local && window.Browser() == nil {
		return question{}, &noBrowserError{window}
	}
	in := a.connected(window)
	if in == nil && !r.Local {
		to, err := a.browserIn(window)
		if err == nil {
			in, err = a.connect(ctx, to, used)
		}
		if err != nil { // the call itself reports it
			in = nil
		}
	}
	return a.askIn(ctx, r, in, q)
}

// askIn makes the question about a call in a browser; nil: it is not connected.
func (a *Agent) askIn(ctx context.Context, r *Request, in *connection, q *policy.Question) (question, error) {
	p, err := a.pageIn(ctx, r, in)
	if err != nil {
		return question{}, err
	}
	if p == nil {
		return a.describe(ctx, r, p, q)
	}
	place := p.Place()
	info, err := p.Info(ctx)
	if err == nil {
		q.Page = &policy.Page{Title: info.Title, URL: info.URL}
	}
	asked, err := a.describe(ctx, r, p, q)
	asked.place = place
	if err == nil && strings.HasPrefix(info.URL, place+"/") { // else it has moved meanwhile, or is on no site
		asked.site = siteFor(ctx, r, p, asked.present)
	}
	if asked.site != place {
		asked.site = ""
	}
	q.Origin = asked.site
	return asked, err
}

// pageIn is the page of a browser that the call will act in; nil: it is not known. The only
// error is one for which the user need not be asked.
func (a *Agent) pageIn(ctx context.Context, r *Request, in *connection) (*page.Page, error) {
	if in == nil {
		return nil, nil
	}
	need := toRead // no tab is opened before the user agrees
	if len(r.Aims) > 0 {
		need = toAct
	}
	p, err := a.pageOf(ctx, in, r, need)
	if errors.As(err, new(*closedTabError)) || errors.As(err, new(*takenTabError)) || errors.As(err, new(*noTabError)) {
		return nil, err
	}
	if err != nil || r.Tab == nil && a.currentOf(in) != p.ID() {
		return nil, nil
	}
	return p, nil
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
		err := policy.NewEnforcer(user).AwaitRevocation(watching, c.actor(), c.Operation, c.permission.state)
		if err != nil {
			cancel(err)
		}
	})
	return ctx, func() {
		end()
		watched.Wait()
	}
}
