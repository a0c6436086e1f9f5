package policy

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
)

// TestDecide: each actor, in each mode, with each class.
func TestDecide(t *testing.T) {
	read, mutate := Command("Page.getFrameTree", nil), Command("Page.navigate", nil)
	crash, closing := Command("Page.crash", nil), Command("Browser.close", nil)
	snapshot, click := Operation{Name: "browser_snapshot", Class: ReadOnly}, Operation{Name: "browser_click", Class: Mutating}
	connecting := Command("Emulation.setEmulatedMedia", nil) // view:ignored
	agent, client := Actor{Kind: Agent, ID: "1", Name: "a"}, Actor{Kind: Client, ID: "2", Name: "c"}
	closer := Actor{Kind: Client, ID: "c", AllowClose: true}
	nameless := Actor{Kind: Agent, ID: "3"}
	shared := Actor{Kind: SharedClient}
	mode := func(m Mode) Choice { return Choice{State: State{Mode: m}} }
	stopped := Choice{State: State{Mode: ModeFull, Stopped: []string{"a", "c"}}}
	for name, c := range map[string]struct {
		actor     Actor
		choice    Choice
		operation Operation
		outcome   Outcome
		reason    string
	}{
		"read in view":                   {client, mode(ModeView), read, Allow, ""},
		"mutate in view":                 {client, mode(ModeView), mutate, Deny, `"view"`},
		"mutate in ask":                  {client, mode(ModeAsk), mutate, Deny, `"ask"`},
		"mutate in full":                 {client, mode(ModeFull), mutate, Allow, ""},
		"granted in ask":                 {client, Choice{State: State{Mode: ModeAsk}, Granted: true}, mutate, Allow, ""},
		"granted in view":                {client, Choice{State: State{Mode: ModeView}, Granted: true}, mutate, Deny, `"view"`},
		"mutate in an unknown mode":      {client, mode("wide"), mutate, Deny, `"wide"`},
		"mutate without a mode":          {client, Choice{}, mutate, Deny, `""`},
		"a client connects in view":      {client, mode(ModeView), connecting, Ignore, ""},
		"a client connects in ask":       {client, mode(ModeAsk), connecting, Ignore, ""},
		"crash in full":                  {client, mode(ModeFull), crash, Deny, "--allow-close"},
		"crash in view":                  {client, mode(ModeView), crash, Deny, `"view"`},
		"crash with --allow-close":       {closer, mode(ModeFull), crash, Allow, ""},
		"crash with --allow-close, ask":  {closer, mode(ModeAsk), crash, Deny, `"ask"`},
		"crash with --allow-close, view": {closer, mode(ModeView), crash, Deny, `"view"`},
		"close in full":                  {client, mode(ModeFull), closing, Disconnect, "stays open"},
		"close in view":                  {client, mode(ModeView), closing, Deny, `"view"`},
		"stopped client":                 {client, stopped, mutate, Deny, "stopped"},
		"stopped agent":                  {agent, stopped, snapshot, Deny, "stopped"},
		"without a name, others stopped": {nameless, stopped, snapshot, Deny, "stopped"},
		"without a name, none stopped":   {nameless, mode(ModeFull), snapshot, Allow, ""},
		"snapshot in view":               {agent, mode(ModeView), snapshot, Allow, ""},
		"click in view":                  {agent, mode(ModeView), click, Deny, `"view"`},
		"click in ask":                   {agent, mode(ModeAsk), click, Ask, ""},
		"click where nobody is asked":    {agent, Choice{State: State{Mode: ModeAsk}, Silent: true}, click, Deny, "cannot be asked"},
		"snapshot where nobody is asked": {agent, Choice{State: State{Mode: ModeView}, Silent: true}, snapshot, Allow, ""},
		"a tool without a class in full": {agent, mode(ModeFull), Operation{Name: "browser_new"}, Deny, "not known"},
		"unknown method in full":         {client, mode(ModeFull), Command("New.method", nil), Allow, ""},
		"unknown method in view":         {client, mode(ModeView), Command("New.method", nil), Deny, `"view"`},
		"nobody":                         {Actor{}, mode(ModeFull), read, Deny, "not known"},
		"shared: read":                   {shared, Choice{}, read, Allow, ""},
		"shared: mutate":                 {shared, Choice{}, mutate, Allow, ""},
		"shared: pause":                  {shared, Choice{}, Command("Debugger.pause", nil), Deny, "the debugger of this window"},
		"shared: virtual time":           {shared, Choice{}, Command("Emulation.setVirtualTimePolicy", nil), Deny, "take this back"},
		"shared: skip all pauses":        {shared, Choice{}, Command("Debugger.setSkipAllPauses", nil), Ignore, ""},
		"shared: its own group":          {shared, Choice{}, Command("Runtime.releaseObjectGroup", []byte(`{"objectGroup":"mine"}`)), Allow, ""},
		"shared: the debugger's group":   {shared, Choice{}, Command("Runtime.releaseObjectGroup", []byte(`{"objectGroup":"console"}`)), Ignore, ""},
	} {
		c.actor.Choice = c.choice
		d := Decide(c.actor, c.operation)
		if d.Outcome != c.outcome || (d.Err() == nil) != (c.outcome >= Ask) || c.reason != "" && !strings.Contains(d.Err().Error(), c.reason) {
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
	click, snapshot := Operation{Name: "browser_click", Class: Mutating}, Operation{Name: "browser_snapshot", Class: ReadOnly}
	agent, full := Actor{Kind: Agent, ID: "1", Name: "a"}, State{Mode: ModeFull}
	for name, c := range map[string]struct {
		operation Operation
		began     State
		now       State
		ends      string
	}{
		"the same":              {click, full, full, ""},
		"wider":                 {click, State{Mode: ModeAsk}, full, ""},
		"another stopped":       {click, full, State{Mode: ModeFull, Stopped: []string{"b"}}, ""},
		"stopped":               {snapshot, full, State{Mode: ModeFull, Stopped: []string{"b", "a"}}, "stopped by the user"},
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
		if (err == nil) != (c.ends == "") || err != nil && (!errors.As(err, new(*DeniedError)) || !strings.Contains(err.Error(), c.ends)) {
			t.Errorf("%s: %v, want %q", name, err, c.ends)
		}
	}
}
