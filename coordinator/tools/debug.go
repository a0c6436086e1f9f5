package tools

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"browser-coordinator/coordinator/registry"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/answer"
	"browser-coordinator/vscodeipc"
)

// The debugger's tools work through the window's debug adapter, so that the user
// sees the same state in the editor.

type debugStartIn struct {
	Configuration string `json:"configuration,omitempty" jsonschema:"in launch.json; default: the one for a browser"`
	URL           string `json:"url,omitempty" jsonschema:"instead of a configuration"`
	inWindow
}

type debugStateIn struct {
	Session string `json:"session,omitempty"`
	Thread  *int   `json:"thread,omitempty"`
	inWindow
}

type breakpointsIn struct {
	Action     string `json:"action" jsonschema:"list, set or remove"`
	Path       string `json:"path,omitempty"`
	Line       int    `json:"line,omitempty"`
	Condition  string `json:"condition,omitempty"`
	LogMessage string `json:"logMessage,omitempty" jsonschema:"log instead of stopping; {expression}"`
	inWindow
}

func (in breakpointsIn) Sentence() string {
	at := agent.Quoted(fmt.Sprintf("%s:%d", in.Path, in.Line))
	switch {
	case in.Action == "list":
		return "List the breakpoints"
	case in.Action == "remove" && in.Line == 0:
		return "Remove the breakpoints in " + agent.Quoted(in.Path)
	case in.Action == "remove":
		return "Remove the breakpoint at " + at
	case in.LogMessage != "":
		return "Log " + agent.Quoted(in.LogMessage) + " at " + at
	case in.Condition != "":
		return "Set a breakpoint at " + at + " with the condition " + agent.Quoted(in.Condition)
	}
	return "Set a breakpoint at " + at
}

type debugStepIn struct {
	Action  string `json:"action" jsonschema:"continue, over, into, out or pause"`
	Session string `json:"session,omitempty"`
	Thread  *int   `json:"thread,omitempty"`
	inWindow
}

type debugEvaluateIn struct {
	Expression string `json:"expression"`
	Frame      *int   `json:"frame,omitempty" jsonschema:"its id in debug_state; default: the top one"`
	Session    string `json:"session,omitempty"`
	inWindow
}

type debugStopIn struct {
	Session string `json:"session"`
	inWindow
}

type revealIn struct {
	Path   string `json:"path"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	inWindow
}

func (s *Server) addDebugTools() {
	add(s, withData(local(mutates("debug_start", "Start debugging", "Start debugging in the window, as F5 does"))), debugStart)
	add(s, withData(local(reads("debug_state", "Debugger state", "The window's debug sessions; of a paused one why, the stack and the variables"))), debugState)
	add(s, withData(local(adjusts("debug_breakpoints", "Breakpoints", "The breakpoints that the user sees"))), debugBreakpoints)
	add(s, withData(local(mutates("debug_step", "Step", "Let a paused program go on, or pause it"))), debugStep)
	add(s, withData(local(mutates("debug_evaluate", "Evaluate in a frame", "Evaluate an expression in a frame of the paused program"))), debugEvaluate)
	add(s, local(mutates("debug_stop", "Stop debugging", "End a debug session that you started")), debugStop)
	add(s, local(adjusts("reveal_source", "Reveal source", "Show the user a place in the editor")), reveal)
}

func debugStart(ctx context.Context, c *agent.Call, in debugStartIn) error {
	window, err := c.Resolve(ctx)
	if err == nil {
		err = c.MayShow(ctx, window.Folders, in.URL)
	}
	if err == nil {
		err = c.CheckTyped(in.URL)
	}
	if err != nil {
		return err
	}
	me := c.Info()
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
	window, err := c.Ask(ctx, vscodeipc.CommandDebugState, vscodeipc.DebugStateArg{Session: in.Session, Thread: in.Thread}, &r)
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
	if why := cmp.Or(s.Description, s.Reason); why != "" {
		out.Show("  "+why, true)
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
	at := f.URL
	if f.Path != "" {
		at = inFolder(w, f.Path)
	}
	return fmt.Sprintf("%s %s:%d:%d", f.Name, at, f.Line, f.Column)
}

// inFolder is a path as the user writes it: relative to the window's folder if it lies in
// there.
func inFolder(w registry.Window, path string) string {
	for _, folder := range w.Folders {
		if rest, err := filepath.Rel(folder, path); err == nil && filepath.IsLocal(rest) && len(w.Folders) == 1 {
			return rest
		}
	}
	return path
}

func debugBreakpoints(ctx context.Context, c *agent.Call, in breakpointsIn) error {
	var r vscodeipc.BreakpointsResult
	window, err := c.Ask(ctx, vscodeipc.CommandDebugBreakpoints, vscodeipc.BreakpointsArg{
		Client: new(c.Info()), Action: in.Action, Path: in.Path, Line: in.Line, Condition: in.Condition, LogMessage: in.LogMessage,
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
	window, err := c.Ask(ctx, vscodeipc.CommandDebugStep, vscodeipc.StepArg{Action: in.Action, Session: in.Session, Thread: in.Thread}, &r)
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

func debugStop(ctx context.Context, c *agent.Call, in debugStopIn) error {
	me := c.Info()
	_, err := c.Ask(ctx, vscodeipc.CommandDebugStop, vscodeipc.DebugStopArg{Client: &me, Session: in.Session}, nil)
	return c.Done(err, "The debug session has ended.")
}

func reveal(ctx context.Context, c *agent.Call, in revealIn) error {
	_, err := c.Ask(ctx, vscodeipc.CommandEditorReveal, vscodeipc.RevealArg{Path: in.Path, Line: in.Line, Column: in.Column}, nil)
	return c.Done(err, "The user sees it now.")
}
