package access

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/policy"
)

// remembered is how long the user's answer counts for a program that has left. A refusal
// counts as long, so that a program that retries does not ask again and again.
const remembered = time.Minute

// program is one for which the user is asked, in the mode ask.
type program struct {
	name        string
	question    *question // open; nil: none
	answer      policy.Mode
	connections int
	expiry      time.Time // without a connection the answer counts until then
}

// The values of an answer, and of [cdpproxy.Client]'s Access. The last is only an answer.
const (
	full    = policy.ModeFull // admitted in the mode full
	mayAct  = policy.ModeAsk  // the user has allowed it to act, in the mode ask
	view    = policy.ModeView // it may only look
	refused = policy.Mode("refused")
)

// question is an open question about a program, for all its clients that wait.
type question struct {
	clients int                // that wait
	cancel  context.CancelFunc // for when none waits
	done    chan struct{}      // closed with the fields that follow
	answer  policy.Mode        // empty: the user's choices have changed meanwhile
	err     error
}

// Join implements [cdpproxy.Rule]. In the mode ask the user is asked once for a program.
// Where nobody can be asked, its clients may only look.
func (r *Rule) Join(ctx context.Context, c *cdpproxy.Client) error {
	for {
		s, changed := r.user.Access()
		var answer policy.Mode
		var err error
		switch {
		case s.Stops(c.Name):
			err = errors.New(stoppedReason)
		case s.Mode == policy.ModeFull:
			answer = full
		case s.Mode == policy.ModeAsk:
			answer, err = r.answerFor(ctx, c, changed)
		default:
			answer = view
		}
		if err != nil || answer != "" {
			c.Access = string(answer)
			return err
		}
	}
}

// programOf identifies the program of a client. Where the system does not report it, the
// client is what it says of itself.
func programOf(c *cdpproxy.Client) string { return cmp.Or(c.Program(), c.Name) }

// answerFor returns the user's answer for the program of a client.
func (r *Rule) answerFor(ctx context.Context, c *cdpproxy.Client, changed <-chan struct{}) (policy.Mode, error) {
	id := programOf(c)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget()
	p := r.programs[id]
	if p == nil {
		p = &program{name: c.Name}
		r.programs[id] = p
	}
	if p.answer == refused && time.Now().After(p.expiry) {
		p.answer = "" // an older connection of the program may last longer than the refusal
	}
	switch p.answer {
	case "":
		return r.await(ctx, c, p, changed)
	case refused:
		return "", fmt.Errorf("%s. The user can be asked again in %v", refusedReason,
			time.Until(p.expiry).Round(time.Second))
	default:
		p.expiry = time.Now().Add(remembered)
		return p.answer, nil
	}
}

// await waits for the answer to the program's question, which it opens if there is none.
// r.mu is held, except while it waits.
func (r *Rule) await(
	ctx context.Context, c *cdpproxy.Client, p *program, changed <-chan struct{},
) (policy.Mode, error) {
	if p.question == nil {
		r.ask(c, p, changed)
	}
	q := p.question
	q.clients++
	r.mu.Unlock()
	select {
	case <-q.done:
	case <-ctx.Done():
	}
	r.mu.Lock()
	if q.clients--; q.clients == 0 {
		q.cancel()
		if p.question == q {
			p.question = nil
		}
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	return q.answer, q.err
}

// ask opens the question about a program. r.mu is held.
func (r *Rule) ask(c *cdpproxy.Client, p *program, changed <-chan struct{}) {
	ctx, cancel := context.WithCancel(r.ctx)
	q := &question{cancel: cancel, done: make(chan struct{})}
	p.question = q
	actor := policy.Actor{Kind: policy.Client, ID: c.ID, Name: c.Name, Version: c.Version}
	r.running.Go(func() { r.askUser(ctx, q, actor, p, changed) })
}

// askUser is owned by Close.
func (r *Rule) askUser(ctx context.Context, q *question, actor policy.Actor, p *program, changed <-chan struct{}) {
	answer, err := policy.AskUser(ctx, r.user, policy.Question{Actor: actor, Operation: policy.Connect}, changed)
	r.mu.Lock()
	defer r.mu.Unlock()
	defer close(q.done)
	select {
	case <-changed: // and follow forgets the answers
	default:
		q.set(p, answer, err)
	}
	if p.question == q {
		p.question = nil
	}
}

// set sets the answer, and lets it count for the program's next clients.
func (q *question) set(p *program, a policy.Answer, err error) {
	switch {
	case err != nil, a.Reason == "mode":
		q.answer = view // nobody can be asked now
		return
	case a.Reason == "stopped":
		q.err = errors.New(stoppedReason)
		return
	case a.Reason == "timeout":
		q.err = errors.New("nobody answered the question in the window whether this client may connect")
		return
	case a.View:
		q.answer = view
	case a.Allow:
		q.answer = mayAct
	default:
		q.answer, q.err = refused, errors.New(refusedReason)
	}
	p.answer, p.expiry = q.answer, time.Now().Add(remembered)
}

// forget removes the programs whose answers no longer count. r.mu is held.
func (r *Rule) forget() {
	for id, p := range r.programs {
		if p.question == nil && p.connections == 0 && time.Now().After(p.expiry) {
			delete(r.programs, id)
		}
	}
}
