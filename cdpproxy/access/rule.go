package access

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"sync/atomic"
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
// [cdpproxy.Rule] and their [cdpproxy.ClientWatcher].
type Rule struct {
	user     policy.User
	enforcer *policy.Enforcer
	options  RuleOptions
	ctx      context.Context // ends with Close
	cancel   context.CancelFunc
	running  sync.WaitGroup // follow and the questions under way
	asked    atomic.Int32   // len(asking)

	mu      sync.Mutex // guards the fields that follow
	ending  bool
	asking  map[string]*question  // by client id, while a question is under way
	clients map[string]*connected // by id
	changed notify.Broadcast      // of clients
}

// question is under way for one client. The client's later operations wait for the
// answer too.
type question struct{ acts []waiting }

type waiting struct {
	client    *cdpproxy.Client
	operation policy.Operation
	target    string                  // of the operation; empty: not known
	verdict   chan<- cdpproxy.Verdict // buffered
}

// targetOf returns the id of the target that m is for. Some commands name it.
func targetOf(m *cdpproxy.Message) string {
	if strings.HasPrefix(m.Method, "Target.") {
		var params struct {
			ID string `json:"targetId"`
		}
		if err := json.Unmarshal(m.Params, &params, json.AllowInvalidUTF8(true)); err == nil && params.ID != "" {
			return params.ID
		}
	}
	return m.Target()
}

// NewRule returns the rule of a window. Close ends it.
func NewRule(user policy.User, o *RuleOptions) *Rule {
	r := &Rule{
		user: user, enforcer: policy.NewEnforcer(user),
		asking: map[string]*question{}, clients: map[string]*connected{},
	}
	if o != nil {
		r.options = *o
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.running.Add(1)
	go r.follow()
	return r
}

// Close cancels the questions under way, refuses the operations that wait for them,
// and waits for the rule's goroutines.
func (r *Rule) Close() error {
	r.mu.Lock()
	r.ending = true
	r.mu.Unlock()
	r.cancel()
	r.running.Wait()
	return nil
}

// Judge implements [cdpproxy.Rule].
func (r *Rule) Judge(m *cdpproxy.Message) cdpproxy.Verdict {
	o := policy.Command(m.Method, m.Params)
	d := r.enforcer.Decide(r.actor(m.Client), o)
	switch {
	case d.Outcome == policy.Allow && o.Class == policy.ReadOnly:
		return cdpproxy.Verdict{}
	case d.Outcome == policy.Allow && r.asked.Load() == 0:
		r.report(m.Client, o, sent, true)
		return cdpproxy.Verdict{Behind: true}
	}
	return r.judge(m, o)
}

func (r *Rule) judge(m *cdpproxy.Message, o policy.Operation) cdpproxy.Verdict {
	client := m.Client
	r.mu.Lock()
	defer r.mu.Unlock()
	d := r.enforcer.Decide(r.actor(client), o)
	q := r.asking[client.ID]
	switch {
	case d.Denied != nil:
		return r.deny(client, o, d)
	case d.Outcome == policy.Allow && q == nil: // else it waits behind the question, and the mode may change meanwhile
		r.report(client, o, sent, true)
		return cdpproxy.Verdict{Behind: true}
	case r.ending:
		return r.refuse(client, o, &policy.DeniedError{Operation: o.Name, Reason: "the coordinator is shutting down."})
	}
	verdict := make(chan cdpproxy.Verdict, 1)
	act := waiting{client, o.Detached(), targetOf(m), verdict}
	if q != nil {
		q.acts = append(q.acts, act)
	} else {
		r.asking[client.ID] = &question{acts: []waiting{act}}
		r.asked.Add(1)
		r.running.Add(1)
		go r.ask(client)
	}
	return cdpproxy.Verdict{Action: cdpproxy.Wait, Later: verdict}
}

// actor returns the client as the policy knows it. A stopped client has the id
// under which the user stopped it.
func (r *Rule) actor(c *cdpproxy.Client) policy.Actor {
	s, _ := r.user.Access()
	return policy.Actor{
		Kind: policy.Client, ID: cmp.Or(stoppedAs(c, s), c.ID), Name: c.Name, Version: c.Version, AllowClose: r.options.AllowClose,
	}
}

// together bounds how many operations of a client the user is asked about at a time.
const together = 16

// ask asks the user about one client's operations until none of them waits. An
// answer for the session applies to all of them, and so does a refusal. An answer
// for once applies only to the operations in the question.
func (r *Rule) ask(c *cdpproxy.Client) {
	defer r.running.Done()
	ctx, cancel := context.WithCancel(r.ctx)
	gone := make(chan struct{})
	go cancelAt(ctx, cancel, c.Done, gone)
	defer func() { cancel(); <-gone }()
	for {
		r.mu.Lock()
		q := r.asking[c.ID]
		if len(q.acts) == 0 {
			delete(r.asking, c.ID)
			r.asked.Add(-1)
			r.mu.Unlock()
			return
		}
		asked := q.acts[:min(len(q.acts), together)]
		r.mu.Unlock()

		errs := r.permitAll(ctx, asked)

		r.mu.Lock()
		var refused error
		for i, act := range asked {
			if errs[i] == nil { // the policy may have changed since the user allowed it
				errs[i] = r.enforcer.Decide(r.actor(c), act.operation).Err()
			}
			if errs[i] != nil {
				refused = errs[i]
				act.verdict <- r.refuse(c, act.operation, errs[i])
				continue
			}
			r.report(c, act.operation, allowed, true)
			act.verdict <- cdpproxy.Verdict{Behind: true}
		}
		q.acts = q.acts[len(asked):]
		if refused != nil {
			for _, act := range q.acts {
				act.verdict <- r.refuse(c, act.operation, named(refused, act.operation))
			}
			q.acts = nil
		}
		r.mu.Unlock()
	}
}

// cancelAt ends before ask returns: ask waits for watched.
func cancelAt(ctx context.Context, cancel context.CancelFunc, done <-chan struct{}, watched chan<- struct{}) {
	defer close(watched)
	select {
	case <-done:
		cancel()
	case <-ctx.Done():
	}
}

func (r *Rule) permitAll(ctx context.Context, acts []waiting) []error {
	errs := make([]error, len(acts))
	var asked sync.WaitGroup
	for i, act := range acts {
		asked.Go(func() {
			errs[i] = r.enforcer.Permit(ctx, policy.Question{
				Actor: r.actor(act.client), Operation: act.operation, Detail: act.operation.Detail(), Page: pageOf(ctx, act),
			})
		})
	}
	asked.Wait()
	return errs
}

// describing bounds the wait for the browser's description of a page. The question
// can do without one.
const describing = time.Second

// pageOf returns the page that the user is asked about; nil: not known.
func pageOf(ctx context.Context, act waiting) *policy.Page {
	if act.target == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, describing)
	defer cancel()
	title, url, err := act.client.Describe(ctx, act.target)
	if err != nil {
		return nil
	}
	return &policy.Page{Title: title, URL: url}
}

// named returns the same refusal for another operation.
func named(err error, o policy.Operation) error {
	if denied, ok := err.(*policy.DeniedError); ok {
		return &policy.DeniedError{Operation: o.Name, Reason: denied.Reason}
	}
	return err
}

// deny carries out the decision to deny an operation.
func (r *Rule) deny(c *cdpproxy.Client, o policy.Operation, d policy.Decision) cdpproxy.Verdict {
	switch d.Outcome {
	case policy.Ignore:
		return cdpproxy.Verdict{Action: cdpproxy.Ignore}
	case policy.Disconnect:
		r.report(c, o, d.Denied.Reason, false)
		return cdpproxy.Verdict{Action: cdpproxy.End, Reason: d.Denied.Reason}
	}
	return r.refuse(c, o, d.Err())
}

func (r *Rule) refuse(c *cdpproxy.Client, o policy.Operation, err error) cdpproxy.Verdict {
	outcome := err.Error()
	if denied, ok := err.(*policy.DeniedError); ok {
		outcome = "refused: " + denied.Reason
	}
	r.report(c, o, outcome, false)
	if thrown := asException(c, o, err); thrown != nil {
		return cdpproxy.Verdict{Action: cdpproxy.Ignore, Result: thrown}
	}
	return cdpproxy.Verdict{Action: cdpproxy.Refuse, Reason: err.Error()}
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
