package tools

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/cdpproxy/dial"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/coordinator/tools/catalog"
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
	Why    string `json:"why"`
}

type selectWindowIn struct {
	Window string `json:"window" jsonschema:"its folder, or an address from window_list; empty: yours"`
}

func (s *Server) addWindowTools() {
	catalog.Add(s.tools, &mcp.Tool{
		Name:        "window_list",
		Description: "List the open windows, which one is yours, and why",
		Annotations: ours(reads("List windows")), OutputSchema: listOf("windows"),
	}, func(ctx context.Context, req *mcp.CallToolRequest, _ listIn) (*mcp.CallToolResult, any, error) {
		a := s.agent(req.Session)
		if question := a.askRoots(req); question != nil {
			return question, nil, nil
		}
		out, err := s.listWindows(ctx, a)
		if err != nil {
			return nil, nil, err
		}
		return out.result(), out.structure(), nil
	})
	add(s, &mcp.Tool{
		Name:        "window_select",
		Description: "Work in another window from now on",
		Annotations: ours(reads("Select a window")),
	}, selectWindow)
}

// selectWindow selects a window for the agent until its session ends or it selects
// another. It changes nothing in the window.
func selectWindow(ctx context.Context, a *agent, in selectWindowIn) (*answer, error) {
	o := &a.server.options
	want := a.want(ctx, in.Window)
	if in.Window == "" {
		want.Explicit = o.Workspace
	}
	chosen, _, err := o.Windows.Resolve(ctx, want)
	if err != nil && in.Window != "" {
		return nil, err
	}
	a.mu.Lock()
	a.window = in.Window
	if in.Window != "" {
		// By its address: two windows may share a folder, and another one may open.
		a.window = string(chosen.Address)
	}
	a.decideAnew()
	a.mu.Unlock()
	out := a.begin()
	switch {
	case err != nil:
		out.addf("No window is selected any more, and none is yours by itself now:\n%v", err)
	case chosen.Browser() == nil:
		out.addf("You work in %s now. It has no browser yet.", chosen.Label())
	default:
		out.addf("You work in %s now.", chosen.Label())
	}
	return out, nil
}

func (s *Server) listWindows(ctx context.Context, a *agent) (*answer, error) {
	chosen, candidates, err := s.options.Windows.Resolve(ctx, a.want(ctx, ""))
	var none *registry.SelectionError
	if err != nil && !errors.As(err, &none) {
		return nil, err
	}
	windows, text := []windowOut{}, &answer{}
	for _, c := range candidates {
		w := windowOut{
			Address: string(c.Window.Address), Workspace: c.Window.Workspace, Folders: c.Window.Folders, Kind: c.Window.Kind,
			Chosen: err == nil && c.Window.Address == chosen.Address, Why: c.Why,
			Access: string(c.Window.State.Access.Mode), Editor: editorPlace(c.Window),
		}
		browser := "no browser"
		if b := c.Window.State.Browser; b != nil {
			w.Browser = b.Product
			browser = b.Product
			if browser == "" {
				browser = "a browser"
			}
		} else if len(c.Window.State.Pages) > 0 {
			browser = "the pages that its debugger lends"
		}
		if s.options.Endpoint != nil && w.Workspace != "" {
			w.Endpoint = s.options.Endpoint(w.Workspace)
		}
		mark := "-"
		if w.Chosen {
			mark = "*"
		}
		line := []string{mark, c.Window.Label(), "(" + w.Kind + "):", browser}
		if w.Endpoint != "" {
			line = append(line, "at", w.Endpoint)
		}
		if c.Window.State.Access.Mode != vscodeipc.AccessFull {
			line = append(line, "[access: "+w.Access+"]")
		}
		text.told(fmt.Sprintf("%s; %s", strings.Join(line, " "), w.Why), false)
		if w.Editor != "" {
			text.told("  the user looks at "+w.Editor, false)
		}
		windows = append(windows, w)
	}
	text.tell("windows", windows)
	if url := s.options.Attach; url != "" {
		text.addf("Calls without `window` go to the browser at %s.", dial.Place(url))
	}
	if none != nil {
		if len(candidates) == 0 {
			text.addf("%s", none)
		} else if none.Ambiguous {
			text.addf("Several windows fit %s: pass one of them as `window`.", none.Looked)
		} else {
			text.addf("No window fits %s: pass one of them as `window`.", none.Looked)
		}
		if s.options.Launcher != nil && !none.Ambiguous {
			text.addf("Without one, the first call that needs a browser launches one of its own.")
		}
	}
	return text, nil
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
