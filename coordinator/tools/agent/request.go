package agent

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/cdpproxy/dial"
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/policy"
)

// Request is what an agent asks for with a call.
type Request struct {
	// Tool is the called tool, and In are its arguments.
	Tool *mcp.Tool
	In   any
	// Claims are the agent's own words for what the call acts on.
	Claims []string
	// Named is the window that the call names; empty: none.
	Named string
	// Tab is the index of the page that the call names; nil: the one that the agent works in.
	Tab       *int
	Operation policy.Operation
	// Opens reports that the call opens an address, so that a new tab does as well.
	Opens bool
	// Changes is how much of what the page shows is answered: none, short or full; empty:
	// short.
	Changes string
}

func (r *Request) readOnly() bool { return r.Operation.Class == policy.ReadOnly }

// forWindow reports whether a tool works on the window itself, whichever browser the
// agent uses.
func (r *Request) forWindow() bool {
	open := r.Tool.Annotations.OpenWorldHint
	return open != nil && !*open
}

func (r *Request) use() use {
	switch {
	case r.readOnly():
		return reads
	case r.Opens:
		return opens
	}
	return acts
}

// mayRepeat reports whether a call that failed with its browser can run again without
// doing anything twice: it is read-only, or has sent nothing.
func (r *Request) mayRepeat(err error) bool {
	switch {
	case errors.As(err, new(*dial.RefusedError)):
		return false
	case errors.As(err, new(*connectError)):
		return true
	}
	return errors.Is(err, page.ErrBrowserGone) && (r.readOnly() || errors.Is(err, page.ErrUnsent))
}

func (r *Request) aims() []input.Aim {
	if aiming, ok := r.In.(Aiming); ok {
		return aiming.Aims()
	}
	return nil
}

// aimsAtRefs reports whether the call names its elements by refs alone, which are of one
// page each.
func (r *Request) aimsAtRefs() bool {
	aims := r.aims()
	return len(aims) > 0 && !slices.ContainsFunc(aims, func(aim input.Aim) bool {
		_, numbered := frame.ParseRef(aim.Target)
		return !numbered
	})
}

// described are the parameters that describe a call, the most useful first.
var described = []string{"target", "startTarget", "endTarget", "url", "action", "configuration", "path", "line", "key"}

// shown are the parameters that a question shows to the user.
var shown = slices.Concat(described, []string{"text", "values", "value", "fields", "function", "expression", "code", "promptText", "paths", "data"})

func (r *Request) detail() string {
	detail := r.Tool.Annotations.Title
	if about := r.parameters(shown); about != "" {
		detail += ": " + about
	}
	return detail
}

const longestDetail = 300

// parameters lists the call's parameters that have these names.
func (r *Request) parameters(names []string) string {
	encoded, err := json.Marshal(r.In)
	if err != nil {
		return ""
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(encoded, &all); err != nil {
		return ""
	}
	var parts []string
	for _, name := range names {
		raw, given := all[name]
		if !given {
			continue
		}
		text := string(raw)
		var s string
		if json.Unmarshal(raw, &s) == nil {
			text = s
		}
		if text != "" {
			parts = append(parts, text)
		}
	}
	return policy.Excerpt(strings.Join(parts, ", "), longestDetail)
}
