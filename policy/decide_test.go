package policy

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// TestDecide: each actor, in each mode, with each class.
func TestDecide(t *testing.T) {
	read, mutate := Command("Page.getFrameTree", nil), Command("Page.navigate", nil)
	crash, closing := Command("Page.crash", nil), Command("Browser.close", nil)
	snapshot, click := Tool("browser_snapshot", nil), Tool("browser_click", nil)
	connecting := Command("Emulation.setEmulatedMedia", nil) // view:ignored
	agent, client := Actor{Kind: Agent, ID: "a"}, Actor{Kind: Client, ID: "c"}
	closer := Actor{Kind: Client, ID: "c", AllowClose: true}
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
		"mutate in ask":                  {client, mode(ModeAsk), mutate, Ask, ""},
		"mutate in full":                 {client, mode(ModeFull), mutate, Allow, ""},
		"granted in ask":                 {client, Choice{State: State{Mode: ModeAsk}, Granted: true}, mutate, Allow, ""},
		"granted in view":                {client, Choice{State: State{Mode: ModeView}, Granted: true}, mutate, Deny, `"view"`},
		"mutate in an unknown mode":      {client, mode("wide"), mutate, Deny, `"wide"`},
		"mutate without a mode":          {client, Choice{}, mutate, Deny, `""`},
		"a client connects in view":      {client, mode(ModeView), connecting, Ignore, ""},
		"a client connects in ask":       {client, mode(ModeAsk), connecting, Ask, ""},
		"crash in full":                  {client, mode(ModeFull), crash, Deny, "--allow-close"},
		"crash in view":                  {client, mode(ModeView), crash, Deny, `"view"`},
		"crash with --allow-close":       {closer, mode(ModeFull), crash, Allow, ""},
		"crash with --allow-close, ask":  {closer, mode(ModeAsk), crash, Ask, ""},
		"crash with --allow-close, view": {closer, mode(ModeView), crash, Deny, `"view"`},
		"close in full":                  {client, mode(ModeFull), closing, Disconnect, "stays open"},
		"close in view":                  {client, mode(ModeView), closing, Deny, `"view"`},
		"stopped client":                 {client, stopped, mutate, Deny, "stopped"},
		"stopped agent":                  {agent, stopped, snapshot, Deny, "stopped"},
		"snapshot in view":               {agent, mode(ModeView), snapshot, Allow, ""},
		"click in view":                  {agent, mode(ModeView), click, Deny, `"view"`},
		"click in ask":                   {agent, mode(ModeAsk), click, Ask, ""},
		"click where nobody is asked":    {agent, Choice{State: State{Mode: ModeAsk}, Silent: true}, click, Deny, "cannot be asked"},
		"snapshot where nobody is asked": {agent, Choice{State: State{Mode: ModeView}, Silent: true}, snapshot, Allow, ""},
		"unknown tool in full":           {agent, mode(ModeFull), Tool("browser_new", nil), Deny, "not known"},
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

// TestTools: arguments that change the class.
func TestTools(t *testing.T) {
	type args map[string]any
	for _, c := range []struct {
		tool      string
		arguments any
		class     Class
	}{
		{"browser_wait_for", args{"text": "Saved"}, ReadOnly},
		{"browser_wait_for", args{"text": "Saved", "expression": "f()"}, Mutating},
		{"browser_wait_for", func() {}, Mutating}, // has no JSON form
		{"browser_take_screenshot", args{}, ReadOnly},
		{"browser_take_screenshot", args{"target": "e5"}, Mutating},
		{"browser_take_screenshot", args{"fullPage": true}, Mutating},
		{"browser_tabs", args{"action": "list"}, ReadOnly},
		{"browser_tabs", args{"action": "close"}, Mutating},
		{"browser_tabs", args{}, Mutating},
		{"debug_breakpoints", args{"action": "list"}, ReadOnly},
		{"performance_start_trace", args{"reload": true}, Mutating},
		{"performance_start_trace", args{}, ReadOnly},
		{"browser_click", args{"target": "e5"}, Mutating},
		{"browser_new", args{}, Unknown},
	} {
		if got := Tool(c.tool, c.arguments).Class; got != c.class {
			t.Errorf("%s %v: %v, want %v", c.tool, c.arguments, got, c.class)
		}
	}
}

// stopping is a user whose next state is the one in the channel.
type stopping struct {
	states chan State
	chosen chan struct{}
}

func (s stopping) Access() (State, <-chan struct{}) {
	select {
	case state := <-s.states:
		return state, s.chosen
	default:
		return State{Mode: ModeFull}, s.chosen
	}
}

func (s stopping) Ask(context.Context, Question) (Answer, error) { return Answer{}, nil }

func TestAwaitStop(t *testing.T) {
	user := stopping{states: make(chan State, 1), chosen: make(chan struct{})}
	e, o := NewEnforcer(user), Tool("browser_click", nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.AwaitStop(ctx, Actor{Kind: Agent, ID: "a"}, o); err != nil {
		t.Errorf("it ended before: %v", err)
	}
	user.states <- State{Mode: ModeFull, Stopped: []string{"a"}}
	if err := e.AwaitStop(t.Context(), Actor{Kind: Agent, ID: "a"}, o); !errors.As(err, new(*DeniedError)) {
		t.Errorf("stopped: %v", err)
	}
}
