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
