package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"browser-coordinator/coordinator/registry"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/answer"
	"browser-coordinator/internal/fspath"
	"browser-coordinator/policy"
	"browser-coordinator/vscodeipc"
)

// The debugger's tools work through the window's debug adapter, so that the user
// sees the same state in the editor.

type debugStartIn struct {
	Configuration string `json:"configuration,omitempty" about:"in launch.json; default: the one for a browser" is:"subject"`
	URL           string `json:"url,omitempty" about:"instead of a configuration" is:"subject"`
	inWindow
}

var _ = define(Tool{
	Name: "debug_start", Title: "Start debugging", Description: "Start debugging in the window, as F5 does",
	Effect: Acts, Traits: agent.Traits{Local: true},
	Shell:   []command{{Name: "debug start", Args: "[configuration]"}},
	Data:    "`name`, `session`",
	Example: `{"url": "http://localhost:3000"}`,
}, calls[debugStartIn]{Do: debugStart})

type debugStateIn struct {
	Session string `json:"session,omitempty"`
	Thread  *int   `json:"thread,omitempty"`
	inWindow
}

var _ = define(Tool{
	Name: "debug_state", Title: "Debugger state",
	Description: "The window's debug sessions; of a paused one why, the stack and the variables",
	Effect:      Reads, Traits: agent.Traits{Local: true},
	Shell:   []command{{Name: "debug state"}},
	Data:    "`sessions`, as in the [window's command](../specs/window-protocol/commands.md)",
	Example: `{}`,
}, calls[debugStateIn]{Do: debugState})

type breakpointsIn struct {
	Action     string `json:"action" about:"list, set or remove" is:"subject"`
	Path       string `json:"path,omitempty" is:"subject"`
	Line       int    `json:"line,omitempty" is:"subject"`
	Condition  string `json:"condition,omitempty"`
	LogMessage string `json:"logMessage,omitempty" about:"log instead of stopping; {expression}"`
	inWindow
}

var _ = define(Tool{
	Name: "debug_breakpoints", Title: "Breakpoints", Description: "The breakpoints that the user sees",
	Effect: Adjusts, Category: policy.Debugger, Traits: agent.Traits{Local: true},
	ReadOnly: "to `list`",
	Shell: []command{
		{Name: "debug break", Summary: "Set a breakpoint", Args: "path line", Arguments: `{"action": "set"}`},
		{Name: "debug breakpoints", Summary: "List the breakpoints that the user sees", Arguments: `{"action": "list"}`,
			Omits: "path line condition logMessage"},
		{Name: "debug unbreak", Summary: "Remove a breakpoint, or those of a file", Args: "path [line]",
			Arguments: `{"action": "remove"}`, Omits: "condition logMessage"},
	},
	Returns: "all present breakpoints",
	Data:    "`breakpoints`, as in the [window's command](../specs/window-protocol/commands.md)",
	Example: `{"action": "set", "path": "src/cart.ts", "line": 28}`,
}, calls[breakpointsIn]{
	ReadOnlyIf: func(in breakpointsIn) bool { return in.Action == "list" },
	Question:   func(in breakpointsIn, _ []string) string { return in.sentence() },
	Subject:    func(in breakpointsIn, _ string) string { return in.sentence() },
	Do:         debugBreakpoints,
})

// sentence describes the call to the user.
func (in breakpointsIn) sentence() string {
	location := agent.Quoted(fmt.Sprintf("%s:%d", in.Path, in.Line))
	switch {
	case in.Action == "list":
		return "List the breakpoints"
	case in.Action == "remove" && in.Line == 0:
		return "Remove the breakpoints in " + agent.Quoted(in.Path)
	case in.Action == "remove":
		return "Remove the breakpoint at " + location
	case in.LogMessage != "":
		return "Log " + agent.Quoted(in.LogMessage) + " at " + location
	case in.Condition != "":
		return "Set a breakpoint at " + location + " with the condition " + agent.Quoted(in.Condition)
	}
	return "Set a breakpoint at " + location
}

type debugStepIn struct {
	Action  string `json:"action" about:"continue, over, into, out or pause" is:"subject"`
	Session string `json:"session,omitempty"`
	Thread  *int   `json:"thread,omitempty"`
	inWindow
}

var _ = define(Tool{
	Name: "debug_step", Title: "Step", Description: "Let a paused program go on, or pause it",
	Effect: Acts, Category: policy.Debugger, Traits: agent.Traits{Local: true},
	Shell:   []command{{Name: "debug step"}},
	Returns: "where it is paused now, or that it runs or has ended",
	Data: "`session`, `state`, `reason`, `thread`, `frame`, as in the [window's " +
		"command](../specs/window-protocol/commands.md)",
	Example: `{"action": "over"}`,
}, calls[debugStepIn]{Do: debugStep})

type debugEvaluateIn struct {
	Expression string `json:"expression" is:"script"`
	Frame      *int   `json:"frame,omitempty" about:"its id in debug_state; default: the top one"`
	Session    string `json:"session,omitempty"`
	inWindow
}

var _ = define(Tool{
	Name: "debug_evaluate", Title: "Evaluate in a frame",
	Description: "Evaluate an expression in a frame of the paused program",
	Effect:      Acts, Category: policy.Debugger, Traits: agent.Traits{Local: true},
	Shell:   []command{{Name: "debug eval"}},
	Returns: "the value as the debugger prints it",
	Data:    "`result`, `type`",
	Example: `{"expression": "cart.total"}`,
}, calls[debugEvaluateIn]{Do: debugEvaluate})

type debugStopIn struct {
	Session string `json:"session"`
	inWindow
}

var _ = define(Tool{
	Name: "debug_stop", Title: "Stop debugging", Description: "End a debug session that you started",
	Effect: Acts, Category: policy.Debugger, Traits: agent.Traits{Local: true},
	Shell:   []command{{Name: "debug stop"}},
	Example: `{"session": "1"}`,
}, calls[debugStopIn]{Do: debugStop})

type revealIn struct {
	Path   string `json:"path" is:"subject"`
	Line   int    `json:"line,omitempty" is:"subject"`
	Column int    `json:"column,omitempty"`
	inWindow
}

var _ = define(Tool{
	Name: "reveal_source", Title: "Reveal source", Description: "Show the user a place in the editor",
	Effect: Shows, Traits: agent.Traits{Local: true},
	Shell:   []command{{Name: "reveal", Args: "path [line]"}},
	Example: `{"path": "src/cart.ts", "line": 28}`,
}, calls[revealIn]{Do: reveal})

func debugStart(ctx context.Context, c *agent.Call, in debugStartIn) error {
	window, err := c.Resolve(ctx)
	if err == nil {
		err = c.Agent.MayShow(ctx, window.Folders, in.URL)
	}
	if err == nil {
		err = c.Agent.CheckTyped(in.URL)
	}
	if err != nil {
		return err
	}
	me := c.Agent.Info()
	var r vscodeipc.DebugStartResult
	_, err = c.Ask(ctx, vscodeipc.CommandDebugStart, vscodeipc.DebugStartArg{
		Client: &me, Configuration: in.Configuration, URL: in.URL,
	}, &r)
	if err != nil {
		return err
	}
	c.Out.Show(fmt.Sprintf("%s is being debugged (session %s).", r.Name, r.Session), true)
	c.Out.Set("name", r.Name)
	c.Out.Set("session", r.Session)
	return nil
}

func debugState(ctx context.Context, c *agent.Call, in debugStateIn) error {
	var r vscodeipc.DebugStateResult
	window, err := c.Ask(ctx, vscodeipc.CommandDebugState,
		vscodeipc.DebugStateArg{Session: in.Session, Thread: in.Thread}, &r)
	if err != nil {
		return err
	}
	for _, s := range r.Sessions {
		showSession(c.Out, window, s)
	}
	answer.SetList(c.Out, "sessions", r.Sessions, "Nothing is being debugged: start with debug_start.")
	return nil
}

// showSession adds a debug session's state, as the editor shows it. The text is quoted: a
// page may have written it. That includes the name, which is the page's title in a child
// session.
func showSession(out *answer.Answer, w registry.Window, s vscodeipc.DebugSessionState) {
	if s.State != "paused" {
		out.Show(fmt.Sprintf("- %s (session %s, %s): %s", s.Name, s.ID, s.Type, s.State), true)
		return
	}
	out.Show(fmt.Sprintf("- %s (session %s, %s): paused%s", s.Name, s.ID, s.Type, thread(s.Thread)), true)
	if reason := cmp.Or(s.Description, s.Reason); reason != "" {
		out.Show("  "+reason, true)
	}
	for _, f := range s.Frames {
		out.Show(fmt.Sprintf("  at %s [frame=%d]", frameText(w, f), f.ID), true)
	}
	for _, scope := range s.Scopes {
		parts := make([]string, len(scope.Variables))
		for i, v := range scope.Variables {
			parts[i] = v.Name + " = " + v.Value
		}
		out.Show(fmt.Sprintf("  %s: %s", scope.Name, strings.Join(parts, ", ")), true)
	}
}

func thread(id *int) string {
	if id == nil || *id == 0 {
		return ""
	}
	return fmt.Sprintf(" in thread %d", *id)
}

func frameText(w registry.Window, f vscodeipc.StackFrame) string {
	location := f.URL
	if f.Path != "" {
		location = inFolder(w, f.Path)
	}
	return fmt.Sprintf("%s %s:%d:%d", f.Name, location, f.Line, f.Column)
}

// inFolder is a path as the user writes it: relative to the window's folder if it lies in
// there.
func inFolder(w registry.Window, path string) string {
	if len(w.Folders) == 1 {
		if rest, ok := fspath.Within(w.Folders[0], path); ok {
			return rest
		}
	}
	return path
}

func debugBreakpoints(ctx context.Context, c *agent.Call, in breakpointsIn) error {
	var r vscodeipc.BreakpointsResult
	window, err := c.Ask(ctx, vscodeipc.CommandDebugBreakpoints, vscodeipc.BreakpointsArg{
		Client: new(c.Agent.Info()), Action: in.Action, Path: in.Path, Line: in.Line, Condition: in.Condition,
		LogMessage: in.LogMessage,
	}, &r)
	if err != nil {
		return err
	}
	for _, b := range r.Breakpoints {
		line := fmt.Sprintf("- %s:%d", inFolder(window, b.Path), b.Line)
		for _, more := range [][2]string{{"if", b.Condition}, {"log", b.LogMessage}, {"hits", b.HitCondition}} {
			if more[1] != "" {
				line += fmt.Sprintf(" [%s %s]", more[0], more[1])
			}
		}
		if !b.Enabled {
			line += " [disabled]"
		}
		c.Out.Show(line, false)
	}
	answer.SetList(c.Out, "breakpoints", r.Breakpoints, "There are no breakpoints.")
	return nil
}

func debugStep(ctx context.Context, c *agent.Call, in debugStepIn) error {
	var r vscodeipc.StepResult
	window, err := c.Ask(ctx, vscodeipc.CommandDebugStep,
		vscodeipc.StepArg{Action: in.Action, Session: in.Session, Thread: in.Thread}, &r)
	if err != nil {
		return err
	}
	switch {
	case r.State == "paused" && r.Frame != nil:
		c.Out.Show(fmt.Sprintf("Paused (%s) at %s [frame=%d]", r.Reason, frameText(window, *r.Frame), r.Frame.ID), true)
		c.Out.Set("frame", r.Frame)
	case r.State == "paused":
		c.Out.Show(fmt.Sprintf("Paused (%s).", r.Reason), false)
	case r.State == "ended":
		c.Out.Show("The debug session has ended.", false)
	default:
		c.Out.Show("It runs.", false)
	}
	c.Out.Set("session", r.Session)
	c.Out.Set("state", r.State)
	if r.Reason != "" {
		c.Out.Set("reason", r.Reason)
	}
	if r.Thread != nil {
		c.Out.Set("thread", *r.Thread)
	}
	return nil
}

func debugEvaluate(ctx context.Context, c *agent.Call, in debugEvaluateIn) error {
	var r vscodeipc.DebugEvaluateResult
	_, err := c.Ask(ctx, vscodeipc.CommandDebugEvaluate, vscodeipc.DebugEvaluateArg{
		Expression: in.Expression, Frame: in.Frame, Session: in.Session,
	}, &r)
	if fault, ok := errors.AsType[*vscodeipc.Error](err); ok {
		return errors.New(exceptionOnce(fault.Message))
	}
	if err != nil {
		return err
	}
	c.Out.Show(r.Result, true)
	c.Out.Set("result", r.Result)
	if r.Type != "" {
		c.Out.Set("type", r.Type)
	}
	return nil
}

// exceptionOnce is an exception without the name that VS Code's debugger puts before it once
// more: "ReferenceError ReferenceError: cart is not defined".
func exceptionOnce(text string) string {
	name, rest, _ := strings.Cut(strings.TrimPrefix(text, "Uncaught "), " ")
	if strings.HasPrefix(rest, name+":") {
		return rest
	}
	return text
}

func debugStop(ctx context.Context, c *agent.Call, in debugStopIn) error {
	me := c.Agent.Info()
	_, err := c.Ask(ctx, vscodeipc.CommandDebugStop, vscodeipc.DebugStopArg{Client: &me, Session: in.Session}, nil)
	return c.Done(err, "The debug session has ended.")
}

func reveal(ctx context.Context, c *agent.Call, in revealIn) error {
	_, err := c.Ask(ctx, vscodeipc.CommandEditorReveal,
		vscodeipc.RevealArg{Path: in.Path, Line: in.Line, Column: in.Column}, nil)
	return c.Done(err, "The user sees it now.")
}
