package access

import (
	"context"
	"sync"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/cdpproxy/browser"
	"browser-coordinator/internal/notify"
	"browser-coordinator/internal/strictjson"
	"browser-coordinator/policy"
)

// RuleOptions configure a Rule. Nil means the defaults.
type RuleOptions struct {
	// AllowClose lets clients that may act also close the browser. Without it,
	// Browser.close closes only the client's own connection, and every other command that
	// would close the browser is refused.
	AllowClose bool
	// Activity is called for each command by which a client does not only look, allowed or
	// refused, in the order of each client's commands. It must not block. Nil: no calls.
	Activity func(Entry)
}

// Entry is a command of a client. It is valid during the call that receives it.
type Entry struct {
	Client  *cdpproxy.Client
	Method  string
	Address string // that it opens; empty: none
	Outcome string // for the user
	OK      bool   // it was allowed
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
func (r *Rule) Judge(c *cdpproxy.Client, m *browser.Message) cdpproxy.Decision {
	s, _ := r.user.Access()
	if s.Stops(c.Name) { // it is being disconnected
		return cdpproxy.Decision{Reason: stoppedReason}
	}
	d := policy.DecideCommand(policy.Permission{
		Mode: s.Mode, Allowed: policy.Mode(c.Access) == mayAct, AllowClose: r.options.AllowClose,
	}, m.Method, m.Params)
	decision := cdpproxy.Decision{Outcome: d.Outcome}
	switch d.Outcome {
	case policy.Allow, policy.Ignore:
	case policy.Disconnect:
		decision.Reason = d.Denied.Reason
		r.report(c, m, d.Denied.Reason, false)
	default:
		decision.Reason = d.Err().Error()
		r.report(c, m, "refused: "+d.Denied.Reason, false)
		if thrown := asException(c, m, d.Err()); thrown != nil {
			decision.Outcome, decision.Result = policy.Ignore, thrown
		}
	}
	return decision
}

// Observe implements [cdpproxy.Rule].
func (r *Rule) Observe(c *cdpproxy.Client, m *browser.Message) {
	r.noteHold(c, m)
	if !policy.LooksBy(m.Method) {
		r.report(c, m, "sent to the browser", true)
	}
}

func (r *Rule) report(c *cdpproxy.Client, m *browser.Message, outcome string, ok bool) {
	if r.options.Activity != nil {
		r.options.Activity(Entry{c, m.Method, addressOf(m), outcome, ok})
	}
}

// longestAddress bounds an entry's address, in bytes.
const longestAddress = 120

// addressOf returns the address that a command opens, as one line; empty: it opens none.
func addressOf(m *browser.Message) (address string) {
	if m.Method != "Page.navigate" && m.Method != "Target.createTarget" {
		return ""
	}
	_ = strictjson.Members(m.Params, func(key string, value []byte) (err error) { // which the policy has read
		if key == "url" {
			address, err = strictjson.String(value)
		}
		return err
	})
	return policy.Excerpt(address, longestAddress)
}
