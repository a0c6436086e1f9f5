package access

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"browser-coordinator/cdpproxy"
)

// RuleOptions configure a Rule. Nil means the defaults.
type RuleOptions struct {
	// AllowClose lets clients that may act also end the browser. Without it
	// Browser.close ends only the connection of who says it, and what else would
	// end the browser is refused.
	AllowClose bool
	// Activity is called for each act that was let through or refused, in the
	// order of each client's acts. It must not block. Nil: nobody is told.
	Activity func(Entry)
}

// Entry is an act of a client. It is good for the call that brings it.
type Entry struct {
	Client  *cdpproxy.Client
	Outcome string // for people
	OK      bool   // it was let through
	command Command
	message *cdpproxy.Message // not classed yet; nil: command says it
}

// Command says what was done. It is found out only when somebody asks: in full
// mode nothing else depends on it, and it may turn out to have read.
func (e Entry) Command() Command {
	if e.message != nil {
		return Classify(e.message.Method, e.message.Params)
	}
	return e.command
}

// Rule keeps a window's rule for the clients of its endpoint: it is their
// [cdpproxy.Rule] and their [cdpproxy.ClientWatcher].
type Rule struct {
	human   Human
	guard   *Guard
	options RuleOptions
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	running sync.WaitGroup // follow and the questions under way
	asked   atomic.Int32   // len(asking)

	mu      sync.Mutex // guards the fields that follow
	ending  bool
	asking  map[string]*question  // by client id, while a question is under way
	clients map[string]*connected // by id
	changed chan struct{}         // closed and replaced when clients change
}

// question is under way for one client; what it does meanwhile waits for the
// answer too.
type question struct{ acts []waiting }

type waiting struct {
	client  *cdpproxy.Client
	command Command
	target  string                  // that it is done to; empty: not known
	verdict chan<- cdpproxy.Verdict // buffered
}

// targetOf is the id of the target that m is about: some commands name it.
func targetOf(m *cdpproxy.Message) string {
	if strings.HasPrefix(m.Method, "Target.") {
		if id, ok := read(m.Params).text("targetId"); ok {
			return id
		}
	}
	return m.Target()
}

// NewRule returns the rule of a window. Close ends it.
func NewRule(human Human, o *RuleOptions) *Rule {
	r := &Rule{
		human: human, guard: NewGuard(human),
		asking: map[string]*question{}, clients: map[string]*connected{}, changed: make(chan struct{}),
	}
	if o != nil {
		r.options = *o
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.running.Add(1)
	go r.follow()
	return r
}

// Close ends the questions under way, which refuses what waits for them, and
// waits for the rule's goroutines.
func (r *Rule) Close() error {
	r.mu.Lock()
	r.ending = true
	r.mu.Unlock()
	r.cancel()
	r.running.Wait()
	return nil
}

// closedHere tells the client of a Browser.close what became of it.
const closedHere = "the browser stays open for its human; only this connection was closed"

// onlyHuman is why nobody may end the browser.
const onlyHuman = "it would end the browser, or let a page do so, for the human and every other client. Only the coordinator's option --allow-close permits that."

// Judge is for cdpproxy.
func (r *Rule) Judge(m *cdpproxy.Message) cdpproxy.Verdict {
	e := methods()[m.Method]
	if e != nil && e.class == Reads {
		return cdpproxy.Verdict{}
	}
	s, _ := r.human.Access()
	if s.Mode == Full && len(s.Stopped) == 0 && r.asked.Load() == 0 && (e == nil || e.class == Acts && e.inner == "" && e.ends == nil) {
		if r.options.Activity != nil {
			r.options.Activity(Entry{Client: m.Client, Outcome: sent, OK: true, message: m})
		}
		return cdpproxy.Verdict{Behind: true}
	}
	c := Classify(m.Method, m.Params)
	switch {
	case c.Class == Reads:
		return cdpproxy.Verdict{}
	case c.Ignorable && s.Mode == View:
		return cdpproxy.Verdict{Action: cdpproxy.Ignore}
	}
	return r.judge(m, c, s.Mode)
}

func (r *Rule) judge(m *cdpproxy.Message, c Command, mode Mode) cdpproxy.Verdict {
	client := m.Client
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.Class == Ends && !r.options.AllowClose && (mode == Full || mode == Ask) {
		if c.Method == "Browser.close" {
			r.tell(client, c, closedHere, false)
			return cdpproxy.Verdict{Action: cdpproxy.End, Reason: closedHere}
		}
		return r.refuse(client, c, &RefusedError{Act: c.Method, Reason: onlyHuman})
	}
	ask, err := r.guard.Check(r.question(client, c))
	q := r.asking[client.ID]
	switch {
	case err != nil:
		return r.refuse(client, c, err)
	case !ask && q == nil: // else it waits behind what is asked about, and the mode may change meanwhile
		r.tell(client, c, sent, true)
		return cdpproxy.Verdict{Behind: true}
	case r.ending:
		return r.refuse(client, c, &RefusedError{Act: c.Method, Reason: "the coordinator is shutting down."})
	}
	verdict := make(chan cdpproxy.Verdict, 1)
	act := waiting{client, c, targetOf(m), verdict}
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

func (r *Rule) question(c *cdpproxy.Client, command Command) Question {
	s, _ := r.human.Access()
	id := cmp.Or(stoppedAs(c, s), c.ID)
	return Question{Client: Client{id, c.Name, c.Version}, Act: command.Method, Detail: command.Target}
}

// together bounds how many acts of a client the human is asked about at a time.
const together = 16

// ask puts one client's questions to the human until no act of it waits any
// more: an answer for the session is for all of them, and so is a refusal; one
// for once is for those that were asked about.
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
			if errs[i] == nil { // what was allowed first may no longer be
				_, errs[i] = r.guard.Check(r.question(act.client, act.command))
			}
			if errs[i] != nil {
				refused = errs[i]
				act.verdict <- r.refuse(c, act.command, errs[i])
				continue
			}
			r.tell(c, act.command, allowed, true)
			act.verdict <- cdpproxy.Verdict{Behind: true}
		}
		q.acts = q.acts[len(asked):]
		if refused != nil {
			for _, act := range q.acts {
				act.verdict <- r.refuse(c, act.command, named(refused, act.command))
			}
			q.acts = nil
		}
		r.mu.Unlock()
	}
}

func (r *Rule) permitAll(ctx context.Context, acts []waiting) []error {
	errs := make([]error, len(acts))
	var asked sync.WaitGroup
	for i, act := range acts {
		asked.Go(func() {
			q := r.question(act.client, act.command)
			q.Page = pageOf(ctx, act)
			errs[i] = r.guard.Permit(ctx, q)
		})
	}
	asked.Wait()
	return errs
}

// describing bounds the wait for the browser's word on a page: the question can be
// put without.
const describing = time.Second

// pageOf is the page that the human is asked about; nil: not known.
func pageOf(ctx context.Context, act waiting) *Page {
	if act.target == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, describing)
	defer cancel()
	title, url, err := act.client.Describe(ctx, act.target)
	if err != nil {
		return nil
	}
	return &Page{title, url}
}

// named is the refusal of another act for the same reason.
func named(err error, c Command) error {
	if refused, ok := err.(*RefusedError); ok {
		return &RefusedError{c.Method, refused.Reason, refused.Change}
	}
	return err
}

func (r *Rule) refuse(c *cdpproxy.Client, command Command, err error) cdpproxy.Verdict {
	outcome := err.Error()
	if refused, ok := err.(*RefusedError); ok {
		outcome = "refused: " + refused.Reason
	}
	r.tell(c, command, outcome, false)
	if thrown := asException(c, command, err); thrown != nil {
		return cdpproxy.Verdict{Action: cdpproxy.Ignore, Result: thrown}
	}
	return cdpproxy.Verdict{Action: cdpproxy.Refuse, Reason: err.Error()}
}

// What becomes of an act that is let through.
const (
	sent    = "sent to the browser"
	allowed = "allowed, and sent to the browser"
)

func (r *Rule) tell(c *cdpproxy.Client, command Command, outcome string, ok bool) {
	if r.options.Activity != nil {
		r.options.Activity(Entry{Client: c, Outcome: outcome, OK: ok, command: command})
	}
}
