package access

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// Guard keeps a window's rule for those who act in it. Its methods may be called
// from any goroutine.
type Guard struct {
	human Human

	mu      sync.Mutex // guards the fields that follow
	chosen  <-chan struct{}
	granted map[string]bool // ids of clients, as long as chosen is the human's choice
}

// NewGuard returns the guard of a window.
func NewGuard(human Human) *Guard { return &Guard{human: human} }

// Permit returns nil when the client may act now, a [*RefusedError] when it may
// not. It waits for the human where a question is due; a change of the mode
// meanwhile is an answer too.
func (g *Guard) Permit(ctx context.Context, q Question) error {
	for {
		s, chosen := g.human.Access()
		permitted, err := g.check(q, s, chosen)
		if permitted || err != nil {
			return err
		}
		answer, err := g.ask(ctx, q, chosen)
		select {
		case <-chosen:
			continue // what was asked is no longer the question
		default:
		}
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("%s: wait for the human's answer: %w", q.Act, ctx.Err())
		case err != nil:
			return &RefusedError{q.Act, fmt.Sprintf("the access mode of this window is %q, but nobody could be asked: %v.", s.Mode, err), s.Change}
		case !answer.Allow:
			return refusedTo(q.Act, s, answer)
		}
		if answer.Session {
			g.grant(q.Client.ID, chosen)
		}
		return nil
	}
}

// Check returns nil if the client may act without a question. Otherwise ask says
// whether a question would help; if not, err says why.
func (g *Guard) Check(q Question) (ask bool, err error) {
	s, chosen := g.human.Access()
	permitted, err := g.check(q, s, chosen)
	return !permitted && err == nil, err
}

func (g *Guard) check(q Question, s State, chosen <-chan struct{}) (permitted bool, err error) {
	switch {
	case slices.Contains(s.Stopped, q.Client.ID):
		return false, &RefusedError{q.Act, stoppedText, ""}
	case s.Mode == Full:
		return true, nil
	case s.Mode == Ask:
		return g.isGranted(q.Client.ID, chosen), nil
	default: // View, and whatever a newer window may call its modes
		return false, refusedBy(q.Act, s)
	}
}

// ask ends early when the human's choice changes.
func (g *Guard) ask(ctx context.Context, q Question, chosen <-chan struct{}) (Answer, error) {
	ctx, cancel := context.WithCancel(ctx)
	watched := make(chan struct{})
	go cancelAt(ctx, cancel, chosen, watched)
	answer, err := g.human.Ask(ctx, q)
	cancel()
	<-watched
	return answer, err
}

// cancelAt is owned by ask, which waits for it.
func cancelAt(ctx context.Context, cancel context.CancelFunc, chosen <-chan struct{}, watched chan<- struct{}) {
	defer close(watched)
	select {
	case <-chosen:
		cancel()
	case <-ctx.Done():
	}
}

func (g *Guard) isGranted(id string, chosen <-chan struct{}) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.chosen == chosen && g.granted[id]
}

func (g *Guard) grant(id string, chosen <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.chosen != chosen {
		g.chosen, g.granted = chosen, map[string]bool{}
	}
	g.granted[id] = true
}
