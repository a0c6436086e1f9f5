package policy

import (
	"context"
	"fmt"
	"sync"
)

// Enforcer decides for one window by its user's choices, and asks the user. Its methods
// may be called from any goroutine.
type Enforcer struct {
	user User

	mu      sync.Mutex // guards the fields that follow
	chosen  <-chan struct{}
	granted map[string]bool // ids of actors, as long as chosen is the user's choice
}

// NewEnforcer returns the enforcer of a window.
func NewEnforcer(user User) *Enforcer { return &Enforcer{user: user} }

// Decide is [Decide] with the user's current choices.
func (e *Enforcer) Decide(a Actor, o Operation) Decision {
	s, chosen := e.user.Access()
	a.Choice = e.choice(a, s, chosen)
	return Decide(a, o)
}

// Permit returns nil when the actor may carry out the operation now, a [*DeniedError]
// when it may not. It waits for the user if the decision is [Ask]; a change of the mode
// meanwhile is an answer too.
func (e *Enforcer) Permit(ctx context.Context, q Question) error {
	for {
		s, chosen := e.user.Access()
		q.Actor.Choice = e.choice(q.Actor, s, chosen)
		if d := Decide(q.Actor, q.Operation); d.Outcome != Ask {
			return d.Err()
		}
		answer, err := AskUser(ctx, e.user, q, chosen)
		select {
		case <-chosen:
			continue // the question is obsolete
		default:
		}
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("%s: wait for the user's answer: %w", q.Operation.Name, ctx.Err())
		case err != nil:
			return deny(q.Operation.Name, fmt.Sprintf("the access mode of this window is %q, but nobody could be "+
				"asked: %v.", s.Mode, err)).Err()
		case !answer.Allow:
			return answer.denial(q.Operation, s).Err()
		}
		if answer.Session {
			e.grant(q.Actor.ID, chosen)
		}
		return nil
	}
}

// AwaitRevocation returns a [*DeniedError] when the user no longer allows the operation
// that the actor is carrying out: the user stops the actor, or chooses a stricter mode
// than in the state under which the operation began. It returns nil when ctx ends before.
func (e *Enforcer) AwaitRevocation(ctx context.Context, a Actor, o Operation, began State) error {
	for {
		s, chosen := e.user.Access()
		switch {
		case s.Stops(a.Name):
			return deny(o.Name, stoppedText).Err()
		case o.Class != ReadOnly && s.Mode.Stricter(began.Mode):
			return deny(o.Name, fmt.Sprintf("the user changed the access mode of this window to %q during the call. "+
				"What was done until then stays done.", s.Mode)).Err()
		}
		select {
		case <-chosen:
		case <-ctx.Done():
			select {
			case <-chosen: // before ctx ended, or with it
			default:
				return nil
			}
		}
	}
}

// AskUser asks a question. It ends early when chosen is closed: the user's choice has changed.
func AskUser(ctx context.Context, u User, q Question, chosen <-chan struct{}) (Answer, error) {
	ctx, cancel := context.WithCancel(ctx)
	watched := make(chan struct{})
	go cancelAt(ctx, cancel, chosen, watched)
	answer, err := u.Ask(ctx, q)
	cancel()
	<-watched
	return answer, err
}

// cancelAt is owned by AskUser, which waits for it.
func cancelAt(ctx context.Context, cancel context.CancelFunc, chosen <-chan struct{}, watched chan<- struct{}) {
	defer close(watched)
	select {
	case <-chosen:
		cancel()
	case <-ctx.Done():
	}
}

func (e *Enforcer) choice(a Actor, s State, chosen <-chan struct{}) Choice {
	return Choice{State: s, Granted: s.Mode == ModeAsk && e.isGranted(a.ID, chosen)}
}

func (e *Enforcer) isGranted(id string, chosen <-chan struct{}) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.chosen == chosen && e.granted[id]
}

func (e *Enforcer) grant(id string, chosen <-chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.chosen != chosen {
		e.chosen, e.granted = chosen, map[string]bool{}
	}
	e.granted[id] = true
}
