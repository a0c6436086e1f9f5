package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"browser-coordinator/coordinator/registry"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/answer"
	"browser-coordinator/vscodeipc"
)

type listIn struct{}

// windowOut is one window in the structured answer of window_list.
type windowOut struct {
	Address   string   `json:"address"`
	Workspace string   `json:"workspace,omitempty"`
	Folders   []string `json:"folders,omitempty"`
	Kind      string   `json:"kind"`
	Browser   string   `json:"browser,omitempty"`
	Endpoint  string   `json:"endpoint,omitempty"`
	Access    string   `json:"access"`
	// Editor is the place that the user sees in the editor: path:line.
	Editor string `json:"editor,omitempty"`
	Chosen bool   `json:"chosen"`
	Reason string `json:"why"`
}

var _ = define(Tool{
	Name: "window_list", Title: "List windows", Description: "List windows, and which one is yours",
	Effect: Reads, Traits: agent.Traits{Local: true},
	Data: "`windows`: `address`, `workspace`, `folders`, `kind`, `browser`, `endpoint`, `access`, `editor`, " +
		"`chosen`, `why`",
	Example: `{}`,
}, calls[listIn]{
	Handle: func(ctx context.Context, a *agent.Agent, _ listIn) (*answer.Result, error) {
		out, err := listWindows(ctx, a)
		if err != nil {
			return nil, err
		}
		return out.Result(true), nil
	},
})

func listWindows(ctx context.Context, a *agent.Agent) (*answer.Answer, error) {
	choice, candidates, err := a.Windows.Resolve(ctx, a.Want(ctx, ""))
	var none *registry.SelectionError
	if err != nil && !errors.As(err, &none) {
		return nil, err
	}
	labels := map[string]int{}
	for _, c := range candidates {
		labels[c.Window.Label()]++
	}
	windows, out := []windowOut{}, a.NewAnswer()
	for _, c := range candidates {
		w := windowOf(a, c)
		w.Chosen = err == nil && c.Window.Address == choice.Address
		mark, label := "-", c.Window.Label()
		if w.Chosen {
			mark = "*"
		}
		if labels[label] > 1 {
			label += fmt.Sprintf(" at %s (pid %d)", w.Address, c.Window.PID)
		}
		out.Show(fmt.Sprintf("%s %s %s; %s", mark, label, w.describe(c.Window), w.Reason), false)
		if w.Editor != "" {
			out.Show("  the user looks at "+w.Editor, false)
		}
		windows = append(windows, w)
	}
	out.Set("windows", windows)
	if a.Attached {
		out.Addf("Calls without `window` go to %s.", a.Launcher.Provider())
	}
	if none == nil {
		return out, nil
	}
	switch {
	case len(candidates) == 0, none.Match != nil:
		out.Addf("%s", none)
	case none.Ambiguous:
		out.Addf("Several windows fit %s: pass one of them as `window`.", none.Sought)
	default:
		out.Addf("No window fits %s: pass one of them as `window`.", none.Sought)
	}
	if a.Launcher != nil && !a.Attached && !none.Ambiguous && none.Match == nil {
		out.Addf("Without one, the first call that needs a browser launches one.")
	}
	return out, nil
}

func windowOf(a *agent.Agent, c registry.Candidate) windowOut {
	w := windowOut{
		Address: string(c.Window.Address), Workspace: c.Window.Workspace, Folders: c.Window.Folders,
		Kind:   c.Window.Server.Kind,
		Reason: c.Reason, Access: string(c.Window.State.Access.Mode), Editor: editorPlace(c.Window),
	}
	if browser := c.Window.State.Browser; browser != nil {
		w.Browser = browser.Product
	}
	if a.Endpoint != nil && w.Workspace != "" {
		w.Endpoint = a.Endpoint(w.Workspace)
	}
	return w
}

// describe is the kind of a window, its browser, and what is allowed there.
func (w windowOut) describe(of registry.Window) string {
	text := "(" + w.Kind + "): no browser"
	if of.State.Browser != nil {
		text = "(" + w.Kind + "): " + cmp.Or(w.Browser, "a browser")
	} else if len(of.State.Pages) > 0 {
		text = "(" + w.Kind + "): the pages of its shared debug sessions"
	}
	if w.Endpoint != "" {
		text += " at " + w.Endpoint
	}
	if of.State.Access.Mode != vscodeipc.AccessFull {
		text += " [access: " + w.Access + "]"
	}
	if of.State.Access.TakenOver {
		text += " [the user has taken over]"
	}
	return text
}

// editorPlace is the place that the user sees, if the window reports it.
func editorPlace(w registry.Window) string {
	e := w.State.Editor
	if e == nil {
		return ""
	}
	place := fmt.Sprintf("%s:%d", inFolder(w, e.Path), e.Line)
	if e.EndLine > e.Line {
		place += fmt.Sprintf("-%d", e.EndLine)
	}
	if e.Dirty {
		place += " (not saved)"
	}
	return place
}
