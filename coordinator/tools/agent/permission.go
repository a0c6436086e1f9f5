package agent

import (
	"context"
	"errors"
	"fmt"
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
	user     *registry.Source // of the window, who has allowed the call; nil: none
	state    policy.State     // what that user had chosen then
	reported bool             // that user is notified of the call
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
func (a *Agent) permit(ctx context.Context, r *Request, bound *vscodeipc.Address) (p permission, err error) {
	p.window = bound
	if bound == nil && !r.readOnly() {
		p.window = new(vscodeipc.Address)
	}
	if !r.Local && a.attached(r.Window) {
		return p, a.permitAttached(r)
	}
	want := a.Want(ctx, r.Window)
	window, candidates, err := a.Windows.Resolve(ctx, want)
	if err != nil || !r.Local && want.Explicit == "" && a.isSettled() {
		return p, nil // the call reports it itself, or goes to a browser of this session
	}
	if !r.Local && r.Window == "" {
		if err := a.checkHome(window, candidates); err != nil {
			return p, err
		}
	}
	if bound != nil {
		if err := p.check(window); err != nil {
			return p, err
		}
	} else if !r.readOnly() {
		p.window = &window.Address
	}
	actor := a.actor()
	p.user = a.Windows.SourceOf(window)
	if p.user.Alone() {
		p.state = policy.State{Mode: policy.Mode(window.State.Access.Mode), Stopped: window.State.Access.Stopped}
		a.endRevoked()
		actor.Choice = policy.Choice{State: p.state, Silent: true}
		return p, policy.Decide(actor, r.Operation).Err()
	}
	p.state, _ = p.user.Access()
	a.endRevoked() // now, so that the question names the page in the next connection
	a.join(p.user)
	enforcer := a.enforcerOf(p.user)
	d := enforcer.Decide(actor, r.Operation)
	p.reported = d.Outcome != policy.Deny || !r.readOnly() // of what is denied, only actions are
	if d.Outcome != policy.Ask {
		return p, d.Err()
	}
	q := policy.Question{Actor: actor, Operation: r.Operation}
	if p.question, err = a.ask(ctx, r, window, &q); err != nil {
		return p, err
	}
	return p, enforcer.Permit(ctx, q)
}

// permitAttached decides about a call in an attached browser, whose user cannot be asked here.
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
	p, err := a.pageIn(ctx, r, window)
	if err != nil {
		return question{}, err
	}
	if p != nil {
		if info, err := p.Info(ctx); err == nil {
			q.Page = &policy.Page{Title: info.Title, URL: info.URL}
		}
	}
	return a.describe(ctx, r, p, q)
}

// pageIn is the page of a window that the call will act in; nil: it is not known. The only
// error is one for which the user need not be asked.
func (a *Agent) pageIn(ctx context.Context, r *Request, window registry.Window) (*page.Page, error) {
	in, need := a.connected(window), toRead // no tab is opened before the user agrees
	if len(r.Aims) > 0 {
		need = toAct
	}
	if in == nil && need == toAct {
		to, err := a.browserIn(window)
		if err == nil {
			in, err = a.connect(ctx, to, used)
		}
		if err != nil {
			return nil, nil // the call itself reports it
		}
	}
	if in == nil {
		return nil, nil
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
		err := c.enforcerOf(user).AwaitRevocation(watching, c.actor(), c.Operation, c.permission.state)
		if err != nil {
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
