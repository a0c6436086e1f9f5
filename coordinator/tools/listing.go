package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/tools/catalog"
)

// anObject is the schema of every structured result. An agent pays for it in every
// conversation, so it does not name the members.
var anObject = json.RawMessage(`{"type":"object"}`)

// listed is a tool in its shortest form, since an agent pays for every character in every
// conversation. What carries no information is left out: hints that have their default (MCP
// 2025-06-18, ToolAnnotations), a title that is the tool's name, and that no other
// parameters are allowed.
func (t *Tool) listed() (json.RawMessage, error) {
	type hints struct {
		Destructive *bool  `json:"destructiveHint,omitempty"`
		Idempotent  bool   `json:"idempotentHint,omitempty"`
		OpenWorld   *bool  `json:"openWorldHint,omitempty"`
		ReadOnly    bool   `json:"readOnlyHint,omitempty"`
		Title       string `json:"title,omitempty"`
	}
	var h hints
	writes := t.Parameters.Member("filename") != nil // such a tool is not read-only for hosts
	switch {
	case t.Effect == Reads && !writes:
		h.ReadOnly = true // the next two mean nothing then
	case t.Effect == Reads:
		h.Destructive = new(false)
	case t.Effect == Shows, t.Effect == Adjusts:
		h.Destructive, h.Idempotent = new(false), !writes
	}
	if t.Local {
		h.OpenWorld = new(false)
	}
	words := func(name string) string { return strings.ReplaceAll(name, "_", " ") }
	if !strings.EqualFold(words(t.Name), t.Title) && !strings.EqualFold(words(catalog.Unprefixed(t.Name)), t.Title) {
		h.Title = t.Title
	}
	listed := struct {
		Hints        any               `json:"annotations,omitempty"`
		Description  string            `json:"description"`
		InputSchema  catalog.Parameter `json:"inputSchema"`
		Name         string            `json:"name"`
		OutputSchema json.RawMessage   `json:"outputSchema,omitempty"`
	}{Description: t.Description, InputSchema: t.Parameters, Name: t.Name}
	if h != (hints{}) {
		listed.Hints = h
	}
	if t.Data != "" {
		listed.OutputSchema = anObject
	}
	return catalog.Encode(listed)
}

// toolList is the response to tools/list with each tool in its shortest form.
type toolList struct {
	*mcp.ListToolsResult
	Tools []json.RawMessage `json:"tools"`
}

// listing is the middleware that responds to tools/list, and to a call of a tool that is not
// among these.
func listing(tools map[string]*Tool) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			result, err := next(ctx, method, req)
			if call, ok := req.GetParams().(*mcp.CallToolParamsRaw); ok && err != nil && tools[call.Name] == nil {
				return result, unknown(tools, call.Name, err)
			}
			registered, ok := result.(*mcp.ListToolsResult)
			if err != nil || !ok {
				return result, err
			}
			response := &toolList{ListToolsResult: registered}
			if params, ok := req.GetParams().(*mcp.ListToolsParams); ok && params != nil && params.Cursor != "" {
				return response, nil
			}
			for _, name := range slices.Sorted(maps.Keys(tools)) {
				listed, err := tools[name].listed()
				if err != nil {
					return nil, err
				}
				response.Tools = append(response.Tools, listed)
			}
			return response, nil
		}
	}
}

// unknown names the tool that does what a name promises that the server does not have, or how the
// user adds it.
func unknown(tools map[string]*Tool, name string, err error) error {
	if !strings.Contains(err.Error(), "unknown tool") {
		return err
	}
	message := fmt.Sprintf("there is no tool %q", name)
	if ours := replacing(tools, name); ours != "" {
		message += "; there is " + ours
	} else if t := Named(name); t != nil {
		message += " here: the user can add it with --caps " + t.Set
	} else if near := catalog.Nearest(name, slices.Collect(maps.Keys(tools))); near != "" {
		message += "; there is " + near
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: message}
}

// replacing is the tool, and how it is called, that replaces one of Playwright MCP; empty: none
// does.
func replacing(tools map[string]*Tool, name string) string {
	for _, tool := range tools {
		if arguments := tool.Replaces[name]; arguments != "" {
			return tool.Name + " " + arguments
		}
	}
	return ""
}
