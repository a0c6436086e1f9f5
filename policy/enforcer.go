package policy

import (
	"context"
	"fmt"
)

// Enforcer decides for one window by its user's choices, and asks the user. Its methods
// may be called from any goroutine.
type Enforcer struct{ user User }

// NewEnforcer returns the enforcer of a window.
func NewEnforcer(user User) *Enforcer { return &Enforcer{user: user} }

// Decide is [Decide] with the user's current choices.
func (e *Enforcer) Decide(a Actor, o Operation) Decision {
	s, _ := e.user.Access()
	a.Choice = Choice{State: s}
	return Decide(a, o)
}

// Permit returns why the actor may carry out the operation now, or a [*DeniedError] when it
// may not. It waits for the user if the decision is [Ask]; a change of the mode
// meanwhile is an answer too.
func (e *Enforcer) Permit(ctx context.Context, q Question) (Grounds, error) {
	for {
		s, changed := e.user.Access()
		q.Actor.Choice = Choice{State: s}
		if d := Decide(q.Actor, q.Operation); d.Outcome != Ask {
			return d.Grounds, d.Err()
		}
		answer, err := AskUser(ctx, e.user, q, changed)
		select {
		case <-changed:
			continue // the question is obsolete
		default:
		}
		switch {
		case ctx.Err() != nil:
			return Grounds{}, fmt.Errorf("%s: wait for the user's answer: %w", q.Operation.Name, ctx.Err())
		case err != nil:
			return Grounds{}, deny(q.Operation.Name, fmt.Sprintf("the access mode is %q, but nobody could be asked: %v.",
				s.Mode, err)).Err()
		case !answer.Allow:
			return Grounds{}, answer.denial(q.Operation, s).Err()
		}
		return Grounds{answer.Reason, answer.Covers}, nil
	}
}

// AwaitRevocation returns a [*DeniedError] when the user no longer allows the operation
// that the actor is carrying out: the user stops the actor, or chooses a stricter mode
// than in the state under which the operation began. It returns nil when ctx ends before.
func (e *Enforcer) AwaitRevocation(ctx context.Context, a Actor, o Operation, began State) error {
	for {
		s, changed := e.user.Access()
		switch {
		case s.Stops(a.Name):
			return deny(o.Name, stoppedText).Err()
		case o.Class != ReadOnly && s.Mode.Stricter(began.Mode):
			return deny(o.Name, fmt.Sprintf("the user changed the access mode to %q during the call. What was done "+
				"until then stays done.", s.Mode)).Err()
		}
		select {
		case <-changed:
		case <-ctx.Done():
			select {
			case <-changed: // before ctx ended, or with it
			default:
				return nil
			}
		}
	}
}

// AskUser asks a question. It ends early when changed is closed: the user's choice has changed.
func AskUser(ctx context.Context, u User, q Question, changed <-chan struct{}) (Answer, error) {
	ctx, cancel := context.WithCancel(ctx)
	watched := make(chan struct{})
	go cancelAt(ctx, cancel, changed, watched)
	answer, err := u.Ask(ctx, q)
	cancel()
	<-watched
	return answer, err
}

// cancelAt is owned by AskUser, which waits for it.
func cancelAt(ctx context.Context, cancel context.CancelFunc, changed <-chan struct{}, watched chan<- struct{}) {
	defer close(watched)
	select {
	case <-changed:
		cancel()
	case <-ctx.Done():
	}
}
