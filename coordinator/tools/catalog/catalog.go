// Package catalog lists the tools of the MCP server, and brings the arguments of calls into
// the form that the tools take.
package catalog

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Tool is what agents know of a tool.
type Tool struct {
	Name, Title, Description string
	// Parameters are an object.
	Parameters Parameter
	// Hints are what hosts show their users of the tool.
	Hints mcp.ToolAnnotations
	// Structured: the tool has a structured result too.
	Structured bool
	// Replaces are tools of Playwright MCP that this one replaces, and how.
	Replaces map[string]string
}

// Tools are the tools of this program, by their names.
type Tools map[string]*Tool

// anObject is the schema of every structured result. An agent pays for it in every
// conversation, so it does not name the members.
var anObject = json.RawMessage(`{"type":"object"}`)

// Listed is a tool in its shortest form, since an agent pays for every character in every
// conversation. What carries no information is left out: hints that have their default (MCP
// 2025-06-18, ToolAnnotations), a title that is the tool's name, and that no other
// parameters are allowed.
func (t *Tool) Listed() (json.RawMessage, error) {
	isFalse := func(hint *bool) bool { return hint != nil && !*hint }
	var hints struct {
		Destructive *bool  `json:"destructiveHint,omitempty"`
		Idempotent  bool   `json:"idempotentHint,omitempty"`
		OpenWorld   *bool  `json:"openWorldHint,omitempty"`
		ReadOnly    bool   `json:"readOnlyHint,omitempty"`
		Title       string `json:"title,omitempty"`
	}
	hints.ReadOnly = t.Hints.ReadOnlyHint
	if !hints.ReadOnly { // these two mean nothing for a tool that only reads
		hints.Idempotent = t.Hints.IdempotentHint
		if isFalse(t.Hints.DestructiveHint) {
			hints.Destructive = t.Hints.DestructiveHint
		}
	}
	if isFalse(t.Hints.OpenWorldHint) {
		hints.OpenWorld = t.Hints.OpenWorldHint
	}
	words := func(name string) string { return strings.ReplaceAll(name, "_", " ") }
	if !strings.EqualFold(words(t.Name), t.Title) && !strings.EqualFold(words(unprefixed(t.Name)), t.Title) {
		hints.Title = t.Title
	}
	listed := struct {
		Hints        any             `json:"annotations,omitempty"`
		Description  string          `json:"description"`
		InputSchema  Parameter       `json:"inputSchema"`
		Name         string          `json:"name"`
		OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	}{Description: t.Description, InputSchema: t.Parameters, Name: t.Name}
	if hints.Destructive != nil || hints.Idempotent || hints.OpenWorld != nil || hints.ReadOnly || hints.Title != "" {
		listed.Hints = hints
	}
	if t.Structured {
		listed.OutputSchema = anObject
	}
	return encode(listed)
}

// list is the response to tools/list with each tool in its shortest form.
type list struct {
	*mcp.ListToolsResult
	Tools []json.RawMessage `json:"tools"`
}

// List is the middleware that responds to tools/list, and to a call of a tool that does not
// exist. unlisted is how a user adds a tool that is off; empty: no such tool exists.
func (t Tools) List(unlisted func(name string) string) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			result, err := next(ctx, method, req)
			if call, ok := req.GetParams().(*mcp.CallToolParamsRaw); ok && err != nil && t[call.Name] == nil {
				return result, t.unknown(call.Name, unlisted(call.Name), err)
			}
			registered, ok := result.(*mcp.ListToolsResult)
			if err != nil || !ok {
				return result, err
			}
			response := &list{ListToolsResult: registered}
			if params, ok := req.GetParams().(*mcp.ListToolsParams); ok && params != nil && params.Cursor != "" {
				return response, nil
			}
			for _, name := range slices.Sorted(maps.Keys(t)) {
				listed, err := t[name].Listed()
				if err != nil {
					return nil, err
				}
				response.Tools = append(response.Tools, listed)
			}
			return response, nil
		}
	}
}

// Register registers a tool with the SDK, which lists and validates nothing: List does, and
// the handler.
func (t Tools) Register(server *mcp.Server, tool *Tool, handle mcp.ToolHandler) {
	t[tool.Name] = tool
	server.AddTool(&mcp.Tool{Name: tool.Name, InputSchema: anObject}, handle)
}
