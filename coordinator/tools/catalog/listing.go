package catalog

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Listed is the response to tools/list with each tool in its shortest form: an agent
// pays for every character of it in every conversation.
type Listed struct {
	*mcp.ListToolsResult
	Tools []json.RawMessage `json:"tools"`
}

// Listing has the tools of this program as they are listed, a line each: the name,
// a blank, and what Short makes of it. TestListing writes it.
//
//go:embed listing.txt
var Listing string

// List is the middleware that responds to tools/list with a Listed.
func (t Tools) List(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, req)
		registered, ok := result.(*mcp.ListToolsResult)
		if err != nil || !ok {
			return result, err
		}
		list := &Listed{ListToolsResult: registered}
		if params, ok := req.GetParams().(*mcp.ListToolsParams); !ok || params == nil || params.Cursor == "" {
			for line := range strings.Lines(Listing) {
				if name, text, _ := strings.Cut(line, " "); t[name] != nil {
					list.Tools = append(list.Tools, json.RawMessage(text))
				}
			}
		}
		return list, nil
	}
}

// Short leaves out what carries no information: hints that have their default (MCP
// 2025-06-18, ToolAnnotations), a title that is the tool's name, the refusal of unknown parameters, and the null that Go's
// lists may be.
func Short(tool *mcp.Tool) (json.RawMessage, error) {
	encoded, err := json.Marshal(tool)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(encoded, &fields); err != nil {
		return nil, err
	}
	if hints, ok := fields["annotations"].(map[string]any); ok {
		for name, value := range map[string]bool{"readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": true} {
			if hints[name] == value {
				delete(hints, name)
			}
		}
		if hints["readOnlyHint"] == true { // the other hints mean nothing then
			delete(hints, "destructiveHint")
			delete(hints, "idempotentHint")
		}
		if title, ok := hints["title"].(string); ok && slices.ContainsFunc([]string{tool.Name, unprefixed(tool.Name)}, func(name string) bool { return strings.EqualFold(strings.ReplaceAll(name, "_", " "), title) }) {
			delete(hints, "title")
		}
		if len(hints) == 0 {
			delete(fields, "annotations")
		}
	}
	for _, name := range []string{"inputSchema", "outputSchema"} {
		if schema, ok := fields[name].(map[string]any); ok {
			shortSchema(schema)
		}
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(fields); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// Unlisted is the description of a parameter that is not listed: only Fitted gives it.
const Unlisted = "unlisted"

func shortSchema(schema map[string]any) {
	if schema["additionalProperties"] != true {
		delete(schema, "additionalProperties")
	}
	if types, ok := schema["type"].([]any); ok && len(types) == 2 && types[0] == "null" {
		schema["type"] = types[1]
	}
	if properties, ok := schema["properties"].(map[string]any); ok {
		for name, property := range properties {
			if property, ok := property.(map[string]any); ok {
				if property["description"] == Unlisted {
					delete(properties, name)
				}
				if text, _ := property["description"].(string); strings.HasPrefix(text, "{x, y}") { // which is all of it
					delete(property, "properties")
					delete(property, "required")
				}
				shortSchema(property)
			}
		}
	}
	if items, ok := schema["items"].(map[string]any); ok {
		shortSchema(items)
	}
}
