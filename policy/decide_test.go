package policy

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
)

// TestDecide: an agent, in each mode, with each class.
func TestDecide(t *testing.T) {
	snapshot, click := Operation{Name: "browser_snapshot", Class: ReadOnly}, Operation{Name: "browser_click",
		Class: Mutating}
	agent, nameless := Actor{Kind: Agent, ID: "1", Name: "a"}, Actor{Kind: Agent, ID: "3"}
	mode := func(m Mode) Choice { return Choice{State: State{Mode: m}} }
	stopped := Choice{State: State{Mode: ModeFull, Stopped: []string{"a", "c"}}}
	for name, c := range map[string]struct {
		actor     Actor
		choice    Choice
		operation Operation
		outcome   Outcome
		reason    string
	}{
		"stopped agent":                  {agent, stopped, snapshot, Deny, "stopped"},
		"without a name, others stopped": {nameless, stopped, snapshot, Deny, "stopped"},
		"without a name, none stopped":   {nameless, mode(ModeFull), snapshot, Allow, ""},
		"snapshot in view":               {agent, mode(ModeView), snapshot, Allow, ""},
		"click in view":                  {agent, mode(ModeView), click, Deny, `"view"`},
		"click in ask":                   {agent, mode(ModeAsk), click, Ask, ""},
		"click in full":                  {agent, mode(ModeFull), click, Allow, ""},
		"click in an unknown mode":       {agent, mode("wide"), click, Deny, `"wide"`},
		"click without a mode":           {agent, Choice{}, click, Deny, `""`},
		"click where nobody is asked": {agent, Choice{State: State{Mode: ModeAsk}, Silent: true}, click, Deny,
			"cannot be asked"},
		"snapshot where nobody is asked": {agent, Choice{State: State{Mode: ModeView}, Silent: true}, snapshot, Allow,
			""},
		"a tool without a class in full": {agent, mode(ModeFull), Operation{Name: "browser_new"}, Deny, "not known"},
		"nobody":                         {Actor{}, mode(ModeFull), snapshot, Deny, "not known"},
	} {
		c.actor.Choice = c.choice
		d := Decide(c.actor, c.operation)
		if d.Outcome != c.outcome || (d.Err() == nil) != (c.outcome >= Ask) || c.reason != "" &&
			!strings.Contains(d.Err().Error(), c.reason) {
			t.Errorf("%s: %+v, want %+v", name, d, c)
		}
	}
}

// choosing is a user whose choice the test changes.
type choosing struct {
	mu     sync.Mutex // guards the fields that follow
	state  State
	chosen chan struct{}
}

func (u *choosing) Access() (State, <-chan struct{}) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.state, u.chosen
}

func (u *choosing) Ask(context.Context, Question) (Answer, error) { return Answer{}, nil }

func (u *choosing) choose(s State) {
	u.mu.Lock()
	defer u.mu.Unlock()
	close(u.chosen)
	u.state, u.chosen = s, make(chan struct{})
}

// TestAwaitRevocation: an operation under way ends when the user stops its actor, or allows
// less than when it began, also if it has just ended by itself.
func TestAwaitRevocation(t *testing.T) {
	click, snapshot := Operation{Name: "browser_click", Class: Mutating}, Operation{Name: "browser_snapshot",
		Class: ReadOnly}
	agent, full := Actor{Kind: Agent, ID: "1", Name: "a"}, State{Mode: ModeFull}
	for name, c := range map[string]struct {
		operation Operation
		began     State
		now       State
		ends      string
	}{
		"the same":        {click, full, full, ""},
		"wider":           {click, State{Mode: ModeAsk}, full, ""},
		"another stopped": {click, full, State{Mode: ModeFull, Stopped: []string{"b"}}, ""},
		"stopped": {snapshot, full, State{Mode: ModeFull, Stopped: []string{"b", "a"}},
			"stopped by the user"},
		"asks":                  {click, full, State{Mode: ModeAsk}, `"ask"`},
		"views":                 {click, State{Mode: ModeAsk}, State{Mode: ModeView}, `"view"`},
		"unknown":               {click, full, State{Mode: "wide"}, `"wide"`},
		"read-only in stricter": {snapshot, full, State{Mode: ModeView}, ""},
	} {
		user := &choosing{state: c.began, chosen: make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- NewEnforcer(user).AwaitRevocation(ctx, agent, c.operation, c.began) }()
		user.choose(c.now)
		cancel()
		err := <-ended
		if (err == nil) != (c.ends == "") || err != nil && (!errors.As(err, new(*DeniedError)) ||
			!strings.Contains(err.Error(), c.ends)) {
			t.Errorf("%s: %v, want %q", name, err, c.ends)
		}
	}
}

// answering is a user who is asked once; meanwhile the choice may change.
type answering struct {
	choosing
	ask func(ctx context.Context) (Answer, error)
}

func (u *answering) Ask(ctx context.Context, _ Question) (Answer, error) { return u.ask(ctx) }

// TestPermit: what becomes of a question, also when the user changes the mode in place of an answer.
func TestPermit(t *testing.T) {
	t.Parallel()
	agent := Actor{Kind: Agent, ID: "1", Name: "a"}
	q := Question{Actor: agent, Operation: Operation{Name: "browser_click", Class: Mutating}}
	for name, c := range map[string]struct {
		answer   Answer
		err      error
		meantime State // the user's choice while the question is shown; zero: none
		reason   string
		denied   string
	}{
		"allowed":                  {Answer{Allow: true, Reason: "user"}, nil, State{}, "user", ""},
		"refused":                  {Answer{Reason: "user"}, nil, State{}, "", "the user did not allow it"},
		"nobody answers":           {Answer{Reason: "timeout"}, nil, State{}, "", "nobody answered"},
		"nobody can be asked":      {Answer{}, errors.New("no window"), State{}, "", "nobody could be asked: no window"},
		"full in place of it":      {Answer{Reason: "user"}, nil, State{Mode: ModeFull}, "", ""},
		"view in place of it":      {Answer{Allow: true}, nil, State{Mode: ModeView}, "", `"view"`},
		"stopped in place of it":   {Answer{Allow: true}, nil, State{Mode: ModeAsk, Stopped: []string{"a"}}, "", "stopped"},
		"full, and nobody to ask":  {Answer{}, errors.New("ended"), State{Mode: ModeFull}, "", ""},
		"stopped, as the answer":   {Answer{Reason: "stopped"}, nil, State{}, "", "stopped"},
		"view, as the answer":      {Answer{Reason: "mode"}, nil, State{}, "", `"view"`},
		"covers more than the one": {Answer{Allow: true, Reason: ByGrant, Covers: Everything}, nil, State{}, ByGrant, ""},
	} {
		user := &answering{choosing: choosing{state: State{Mode: ModeAsk}, chosen: make(chan struct{})}}
		user.ask = func(ctx context.Context) (Answer, error) {
			if c.meantime.Mode != "" {
				user.choose(c.meantime)
				<-ctx.Done() // the question is taken back
			}
			return c.answer, c.err
		}
		grounds, err := NewEnforcer(user).Permit(t.Context(), q)
		if (err == nil) != (c.denied == "") || err != nil && (!errors.As(err, new(*DeniedError)) ||
			!strings.Contains(err.Error(), c.denied)) || c.reason != "" && grounds != (Grounds{c.reason, c.answer.Covers}) {
			t.Errorf("%s: %+v, %v; want %q, %q", name, grounds, err, c.reason, c.denied)
		}
	}
	user := &answering{choosing: choosing{state: State{Mode: ModeAsk}, chosen: make(chan struct{})}}
	ctx, cancel := context.WithCancel(t.Context())
	user.ask = func(ctx context.Context) (Answer, error) {
		cancel()
		<-ctx.Done()
		return Answer{Allow: true}, nil
	}
	if _, err := NewEnforcer(user).Permit(ctx, q); !errors.Is(err, context.Canceled) || errors.As(err, new(*DeniedError)) {
		t.Errorf("a caller that waits no longer: %v", err)
	}
}
