package tools

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/registry"
	"browser-coordinator/vscodeipc"
)

// The debugger's tools work through the window's debug adapter, so that the user
// sees the same state in the editor.

type debugStartIn struct {
	Configuration string `json:"configuration,omitempty" jsonschema:"its name in launch.json; default: the only one for a browser"`
	URL           string `json:"url,omitempty" jsonschema:"a page, instead"`
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

type debugStepIn struct {
	Action  string `json:"action" jsonschema:"continue, over, into, out or pause"`
	Session string `json:"session,omitempty"`
	Thread  *int   `json:"thread,omitempty"`
	inWindow
}

type debugEvaluateIn struct {
	Expression string `json:"expression"`
	Frame      *int   `json:"frame,omitempty" jsonschema:"of debug_state; default: the top one"`
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
	add(s, &mcp.Tool{
		Name:        "debug_start",
		Description: "Start debugging in the window, as F5 does",
		Annotations: ours(acts("Start debugging")), OutputSchema: objectOf("name", "session"),
	}, debugStart)
	add(s, &mcp.Tool{
		Name:        "debug_state",
		Description: "The window's debug sessions; of a paused one why, the stack and the variables",
		Annotations: ours(reads("Debugger state")), OutputSchema: listOf("sessions"),
	}, debugState)
	add(s, &mcp.Tool{
		Name:        "debug_breakpoints",
		Description: "The breakpoints that the user sees",
		Annotations: ours(adjusts("Breakpoints")), OutputSchema: listOf("breakpoints"),
	}, debugBreakpoints)
	add(s, &mcp.Tool{
		Name:        "debug_step",
		Description: "Let a paused program go on, or pause it",
		Annotations: ours(acts("Step")), OutputSchema: objectOf("session", "thread", "state", "reason", "frame"),
	}, debugStep)
	add(s, &mcp.Tool{
		Name:        "debug_evaluate",
		Description: "Evaluate an expression in a frame of the paused program",
		Annotations: ours(acts("Evaluate in a frame")), OutputSchema: objectOf("result", "type"),
	}, debugEvaluate)
	add(s, &mcp.Tool{
		Name:        "debug_stop",
		Description: "End a debug session that you started",
		Annotations: ours(acts("Stop debugging")),
	}, debugStop)
	add(s, &mcp.Tool{
		Name:        "reveal_source",
		Description: "Show the user a place in the editor",
		Annotations: ours(adjusts("Reveal source")),
	}, reveal)
}

// ask runs a command of the selected window.
func (a *agent) ask(ctx context.Context, in inWindow, command string, arg, result any) (registry.Window, error) {
	window, err := a.windowFor(ctx, in.Window)
	if err == nil {
		err = stays(ctx, window)
	}
	if err != nil {
		return window, err
	}
	return window, a.server.options.Windows.Call(ctx, window, command, arg, result)
}

func debugStart(ctx context.Context, a *agent, in debugStartIn) (*answer, error) {
	window, err := a.windowFor(ctx, in.Window)
	if err == nil {
		err = a.mayShow(ctx, window.Folders, in.URL)
	}
	if err == nil {
		err = a.checkTyped(in.URL)
	}
	if err != nil {
		return nil, err
	}
	me := a.info()
	var r vscodeipc.DebugStartResult
	_, err = a.ask(ctx, in.inWindow, vscodeipc.CommandDebugStart, vscodeipc.DebugStartArg{
		Client: &me, Configuration: in.Configuration, URL: in.URL,
	}, &r)
	if err != nil {
		return nil, err
	}
	out := &answer{}
	out.told(fmt.Sprintf("%s is being debugged (session %s).", r.Name, r.Session), true)
	out.tell("name", r.Name)
	out.tell("session", r.Session)
	return out, nil
}

func debugState(ctx context.Context, a *agent, in debugStateIn) (*answer, error) {
	var r vscodeipc.DebugStateResult
	window, err := a.ask(ctx, in.inWindow, vscodeipc.CommandDebugState, vscodeipc.DebugStateArg{Session: in.Session, Thread: in.Thread}, &r)
	if err != nil {
		return nil, err
	}
	out := &answer{}
	if len(r.Sessions) == 0 {
		out.addf("Nothing is being debugged: start with debug_start.")
	}
	for _, s := range r.Sessions {
		out.session(window, s)
	}
	out.tell("sessions", orEmpty(r.Sessions))
	return out, nil
}

// session adds a debug session's state, as the editor shows it. The text is quoted: a
// page may have written it. That includes the name, which is the page's title in a child
// session.
func (a *answer) session(w registry.Window, s vscodeipc.DebugSessionState) {
	if s.State != "paused" {
		a.told(fmt.Sprintf("- %s (session %s, %s): %s", s.Name, s.ID, s.Type, s.State), true)
		return
	}
	why := s.Description
	if why == "" {
		why = s.Reason
	}
	a.told(fmt.Sprintf("- %s (session %s, %s): paused%s", s.Name, s.ID, s.Type, thread(s.Thread)), true)
	if why != "" {
		a.told("  "+why, true)
	}
	for _, f := range s.Frames {
		a.told(fmt.Sprintf("  at %s [frame=%d]", frameText(w, f), f.ID), true)
	}
	for _, scope := range s.Scopes {
		parts := make([]string, len(scope.Variables))
		for i, v := range scope.Variables {
			parts[i] = v.Name + " = " + v.Value
		}
		a.told(fmt.Sprintf("  %s: %s", scope.Name, strings.Join(parts, ", ")), true)
	}
}

// orEmpty makes a nil list [] in JSON.
func orEmpty[T any](list []T) []T { return append([]T{}, list...) }

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

func debugBreakpoints(ctx context.Context, a *agent, in breakpointsIn) (*answer, error) {
	var r vscodeipc.BreakpointsResult
	window, err := a.ask(ctx, in.inWindow, vscodeipc.CommandDebugBreakpoints, vscodeipc.BreakpointsArg{
		Action: in.Action, Path: in.Path, Line: in.Line, Condition: in.Condition, LogMessage: in.LogMessage,
	}, &r)
	if err != nil {
		return nil, err
	}
	out := &answer{}
	if len(r.Breakpoints) == 0 {
		out.addf("There are no breakpoints.")
	}
	for _, b := range r.Breakpoints {
		line := fmt.Sprintf("- %s:%d", inFolder(window, b.Path), b.Line)
		for what, text := range map[string]string{"if": b.Condition, "log": b.LogMessage, "hits": b.HitCondition} {
			if text != "" {
				line += fmt.Sprintf(" [%s %s]", what, text)
			}
		}
		if !b.Enabled {
			line += " [disabled]"
		}
		out.told(line, false)
	}
	out.tell("breakpoints", orEmpty(r.Breakpoints))
	return out, nil
}

func debugStep(ctx context.Context, a *agent, in debugStepIn) (*answer, error) {
	var r vscodeipc.StepResult
	window, err := a.ask(ctx, in.inWindow, vscodeipc.CommandDebugStep, vscodeipc.StepArg{Action: in.Action, Session: in.Session, Thread: in.Thread}, &r)
	if err != nil {
		return nil, err
	}
	out := &answer{}
	switch {
	case r.State == "paused" && r.Frame != nil:
		out.told(fmt.Sprintf("Paused (%s) at %s [frame=%d]", r.Reason, frameText(window, *r.Frame), r.Frame.ID), true)
		out.tell("frame", r.Frame)
	case r.State == "paused":
		out.told(fmt.Sprintf("Paused (%s).", r.Reason), false)
	case r.State == "ended":
		out.told("The debug session has ended.", false)
	default:
		out.told("It runs.", false)
	}
	out.tell("session", r.Session)
	out.tell("state", r.State)
	if r.Reason != "" {
		out.tell("reason", r.Reason)
	}
	if r.Thread != nil {
		out.tell("thread", *r.Thread)
	}
	return out, nil
}

func debugEvaluate(ctx context.Context, a *agent, in debugEvaluateIn) (*answer, error) {
	var r vscodeipc.DebugEvaluateResult
	_, err := a.ask(ctx, in.inWindow, vscodeipc.CommandDebugEvaluate, vscodeipc.DebugEvaluateArg{
		Expression: in.Expression, Frame: in.Frame, Session: in.Session,
	}, &r)
	if err != nil {
		return nil, err
	}
	out := &answer{}
	out.told(r.Result, true)
	out.tell("result", r.Result)
	if r.Type != "" {
		out.tell("type", r.Type)
	}
	return out, nil
}

func debugStop(ctx context.Context, a *agent, in debugStopIn) (*answer, error) {
	me := a.info()
	_, err := a.ask(ctx, in.inWindow, vscodeipc.CommandDebugStop, vscodeipc.DebugStopArg{Client: &me, Session: in.Session}, nil)
	if err != nil {
		return nil, err
	}
	out := &answer{}
	out.addf("The debug session has ended.")
	return out, nil
}

func reveal(ctx context.Context, a *agent, in revealIn) (*answer, error) {
	_, err := a.ask(ctx, in.inWindow, vscodeipc.CommandEditorReveal, vscodeipc.RevealArg{Path: in.Path, Line: in.Line, Column: in.Column}, nil)
	if err != nil {
		return nil, err
	}
	out := &answer{}
	out.addf("The user sees it now.")
	return out, nil
}
