package access

import (
	"context"
	"sync"
	"time"

	json "github.com/chromedp/cdproto/cdp/jsonv2"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/internal/notify"
	"browser-coordinator/policy"
)

// RuleOptions configure a Rule. Nil means the defaults.
type RuleOptions struct {
	// AllowClose lets clients that may run mutating commands also close the
	// browser. Without it, Browser.close closes only the client's own connection,
	// and every other command that would close the browser is refused.
	AllowClose bool
	// Activity is called for each mutating operation that was allowed or refused,
	// in the order of each client's operations. It must not block. Nil: no calls.
	Activity func(Entry)
}

// Entry is an operation of a client. It is valid during the call that receives it.
type Entry struct {
	Client    *cdpproxy.Client
	Operation policy.Operation
	Outcome   string // for the user
	OK        bool   // it was allowed
}

// Rule applies the policy to the clients of a window's endpoint: it is their
// [cdpproxy.Rule].
type Rule struct {
	user     policy.User
	enforcer *policy.Enforcer
	options  RuleOptions
	ctx      context.Context // ends with Close
	cancel   context.CancelFunc
	running  sync.WaitGroup // follow

	mu      sync.Mutex            // guards the fields that follow
	clients map[string]*connected // by id
	changed notify.Broadcast      // of clients
}

// targetOf returns the id of the target that the user is asked about: that of the session
// in which the command runs. A parameter names it only where the browser acts on that
// target, so that a client cannot have another page named. Empty: it is not known.
func targetOf(m *cdpproxy.Message) string {
	switch m.Method {
	case "Target.closeTarget", "Target.activateTarget", "Target.openDevTools":
		var params struct {
			ID string `json:"targetId"`
		}
		if json.Unmarshal(m.Params, &params, json.AllowInvalidUTF8(true)) != nil {
			return ""
		}
		return params.ID
	case "Target.sendMessageToTarget": // for a session that its parameters name in two ways
		return ""
	}
	return m.Target()
}

// NewRule returns the rule of a window. Close ends it.
func NewRule(user policy.User, o *RuleOptions) *Rule {
	r := &Rule{user: user, enforcer: policy.NewEnforcer(user), clients: map[string]*connected{}}
	if o != nil {
		r.options = *o
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	former, _ := user.Access() // before the first client
	r.running.Add(1)
	go r.follow(former)
	return r
}

// Close waits for the rule's goroutine. It is called after the endpoint has closed.
func (r *Rule) Close() error {
	r.cancel()
	r.running.Wait()
	return nil
}

// Judge implements [cdpproxy.Rule]. A mutating command does not overtake one that
// waits: the mode may change meanwhile.
func (r *Rule) Judge(m *cdpproxy.Message) cdpproxy.Decision {
	o := policy.Command(m.Method, m.Params)
	d := r.enforcer.Decide(r.actor(m.Client), o)
	switch {
	case d.Denied != nil:
		return r.deny(m.Client, o, d)
	case o.Class == policy.ReadOnly:
		return cdpproxy.Decision{}
	case d.Outcome == policy.Ask, m.Behind():
		return cdpproxy.Decision{Action: cdpproxy.Ask}
	}
	r.report(m.Client, o, sent, true)
	return cdpproxy.Decision{}
}

// Decide implements [cdpproxy.Rule]. A refusal of the user is also for what waits
// behind the refused operation.
func (r *Rule) Decide(ctx context.Context, m *cdpproxy.Message) cdpproxy.Decision {
	o := policy.Command(m.Method, m.Params)
	outcome, err := sent, r.refusedSince(m, o)
	if err == nil && r.enforcer.Decide(r.actor(m.Client), o).Outcome == policy.Ask {
		outcome = allowed
		if err = r.enforcer.Permit(ctx, policy.Question{
			Actor: r.actor(m.Client), Operation: o, Detail: o.Detail(), Page: pageOf(ctx, m.Client, targetOf(m)),
		}); err != nil {
			r.setRefused(m.Client, err)
		}
	}
	if err != nil {
		return r.refuse(m.Client, o, err)
	}
	// The policy may have changed since the user allowed it.
	if d := r.enforcer.Decide(r.actor(m.Client), o); d.Denied != nil {
		return r.deny(m.Client, o, d)
	}
	r.report(m.Client, o, outcome, true)
	return cdpproxy.Decision{}
}

// setRefused records that the user has refused an operation of a client.
func (r *Rule) setRefused(c *cdpproxy.Client, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	denied, ok := err.(*policy.DeniedError)
	if known := r.clients[c.ID]; ok && known != nil {
		known.refusedAt, known.reason = time.Now(), denied.Reason
	}
}

// refusedSince returns the user's refusal of another operation while m waited.
func (r *Rule) refusedSince(m *cdpproxy.Message, o policy.Operation) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.clients[m.Client.ID]
	if known == nil || !m.Since.Before(known.refusedAt) {
		return nil
	}
	return &policy.DeniedError{Operation: o.Name, Reason: known.reason}
}

// actor returns the client as the policy knows it.
func (r *Rule) actor(c *cdpproxy.Client) policy.Actor {
	return policy.Actor{Kind: policy.Client, ID: c.ID, Name: c.Name, Version: c.Version, AllowClose: r.options.AllowClose}
}

// describing bounds the wait for the browser's description of a page. The question
// can do without one.
const describing = time.Second

// pageOf returns the page that the user is asked about; nil: not known.
func pageOf(ctx context.Context, c *cdpproxy.Client, target string) *policy.Page {
	if target == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, describing)
	defer cancel()
	title, url, err := c.Describe(ctx, target)
	if err != nil {
		return nil
	}
	return &policy.Page{Title: title, URL: url}
}

// deny carries out the decision to deny an operation.
func (r *Rule) deny(c *cdpproxy.Client, o policy.Operation, d policy.Decision) cdpproxy.Decision {
	switch d.Outcome {
	case policy.Ignore:
		return cdpproxy.Decision{Action: cdpproxy.Ignore}
	case policy.Disconnect:
		r.report(c, o, d.Denied.Reason, false)
		return cdpproxy.Decision{Action: cdpproxy.Disconnect, Reason: d.Denied.Reason}
	}
	return r.refuse(c, o, d.Err())
}

func (r *Rule) refuse(c *cdpproxy.Client, o policy.Operation, err error) cdpproxy.Decision {
	outcome := err.Error()
	if denied, ok := err.(*policy.DeniedError); ok {
		outcome = "refused: " + denied.Reason
	}
	r.report(c, o, outcome, false)
	if thrown := asException(c, o, err); thrown != nil {
		return cdpproxy.Decision{Action: cdpproxy.Ignore, Result: thrown}
	}
	return cdpproxy.Decision{Action: cdpproxy.Deny, Reason: err.Error()}
}

// Outcomes of an operation that was allowed.
const (
	sent    = "sent to the browser"
	allowed = "allowed, and sent to the browser"
)

func (r *Rule) report(c *cdpproxy.Client, o policy.Operation, outcome string, ok bool) {
	if r.options.Activity != nil {
		r.options.Activity(Entry{c, o, outcome, ok})
	}
}
