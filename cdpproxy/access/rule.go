package access

import (
	"context"
	"sync"

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
	user    policy.User
	options RuleOptions
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	running sync.WaitGroup // follow and the questions

	mu       sync.Mutex            // guards the fields that follow
	clients  map[string]*connected // by id
	changed  notify.Broadcast      // of clients
	programs map[string]*program   // by programOf
}

// NewRule returns the rule of a window. Close ends it.
func NewRule(user policy.User, o *RuleOptions) *Rule {
	r := &Rule{user: user, clients: map[string]*connected{}, programs: map[string]*program{}}
	if o != nil {
		r.options = *o
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	former, _ := user.Access() // before the first client
	r.running.Go(func() { r.follow(former) })
	return r
}

// Close waits for the rule's goroutines. It is called after the endpoint has closed.
func (r *Rule) Close() error {
	r.cancel()
	r.running.Wait()
	return nil
}

// Judge implements [cdpproxy.Rule].
func (r *Rule) Judge(m *cdpproxy.Message) cdpproxy.Decision {
	o := policy.Command(m.Method, m.Params)
	s, _ := r.user.Access()
	a := r.actor(m.Client)
	a.Choice = policy.Choice{State: s, Granted: mode(m.Client, s.Mode) == policy.ModeFull}
	if d := policy.Decide(a, o); d.Denied != nil {
		return r.deny(m.Client, o, d)
	}
	if o.Class != policy.ReadOnly {
		r.report(m.Client, o, sent, true)
	}
	return cdpproxy.Decision{}
}

// actor returns the client as the policy knows it.
func (r *Rule) actor(c *cdpproxy.Client) policy.Actor {
	return policy.Actor{Kind: policy.Client, ID: c.ID, Name: c.Name, Version: c.Version, AllowClose: r.options.AllowClose}
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

// sent is the outcome of an operation that was allowed.
const sent = "sent to the browser"

func (r *Rule) report(c *cdpproxy.Client, o policy.Operation, outcome string, ok bool) {
	if r.options.Activity != nil {
		r.options.Activity(Entry{c, o, outcome, ok})
	}
}
