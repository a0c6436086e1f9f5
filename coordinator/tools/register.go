package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/catalog"
	"browser-coordinator/policy"
)

// inWindow is embedded by the arguments of every tool that works in a window.
type inWindow struct {
	Window string `json:"window,omitempty"`
}

func (in inWindow) window() string { return in.Window }

// inPage is embedded by the arguments of every tool that works in a page.
type inPage struct {
	Tab *int `json:"tab,omitempty"`
	inWindow
}

func (in inPage) tab() *int { return in.Tab }

// add registers a tool. It answers in the call's Out. Fields of the arguments with a tag
// "oneof" are checked.
func add[In any](s *Server, tool *mcp.Tool, do func(context.Context, *agent.Call, In) error) {
	prepare := func(a *agent.Agent, in In, claims []string) agent.Step {
		c := &agent.Call{Agent: a, Request: agent.Request{Tool: tool, In: in, Claims: claims, Operation: policy.Tool(tool.Name, in)}}
		if chooses, ok := any(in).(interface{ window() string }); ok {
			c.Named = chooses.window()
		}
		if chooses, ok := any(in).(interface{ tab() *int }); ok {
			c.Tab = chooses.tab()
		}
		if opens, ok := any(in).(interface{ opens() bool }); ok {
			c.Opens = opens.opens()
		}
		if shows, ok := any(in).(interface{ changes() string }); ok {
			c.Changes = shows.changes()
		}
		return agent.Step{Call: c, Do: func(ctx context.Context) error {
			if err := checkValues(in); err != nil {
				return err
			}
			return do(ctx, c, in)
		}}
	}
	handle(s, tool, func(ctx context.Context, a *agent.Agent, in In) (*mcp.CallToolResult, any, error) {
		step := prepare(a, in, catalog.Claims(ctx))
		result, data := step.Answer(ctx, step.Do)
		return result, data, nil
	})
	s.steps[tool.Name] = func(a *agent.Agent, arguments json.RawMessage, claims []string) (step agent.Step, err error) {
		var in In
		if err := json.Unmarshal(arguments, &in); err != nil {
			return step, err
		}
		return prepare(a, in, claims), nil
	}
}

// handle registers a tool that makes its own result.
func handle[In any](s *Server, tool *mcp.Tool, do func(context.Context, *agent.Agent, In) (*mcp.CallToolResult, any, error)) {
	catalog.Add(s.tools, s.mcp, tool, func(ctx context.Context, req *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
		a := s.agentOf(req.Session)
		if question := a.AskRoots(req); question != nil {
			return question, nil, nil
		}
		return do(ctx, a, in)
	})
}

// onPage registers a tool that works in the agent's page.
func onPage[In any](s *Server, tool *mcp.Tool, do func(context.Context, *agent.Call, *page.Page, In) error) {
	add(s, tool, func(ctx context.Context, c *agent.Call, in In) error {
		p, err := c.Page(ctx)
		if err != nil {
			return err
		}
		return do(ctx, c, p, in)
	})
}

// checkValues refuses a value that is not one of those that the tag "oneof" names. A field
// that may be left out may also be empty.
func checkValues(in any) error {
	v := reflect.ValueOf(in)
	for _, f := range reflect.VisibleFields(v.Type()) {
		values, checked := f.Tag.Lookup("oneof")
		if !checked {
			continue
		}
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		value := v.FieldByIndex(f.Index).String()
		if option == "omitempty" && value == "" {
			continue
		}
		if err := oneOf(name, value, strings.Fields(values)...); err != nil {
			return err
		}
	}
	return nil
}

// oneOf refuses a value that is not one of the allowed ones.
func oneOf(name, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return fmt.Errorf("%s %q: want one of %s", name, value, strings.Join(allowed, ", "))
}

// The kinds of tools. Values that MCP assumes by default are left out of their
// annotations, since every character of the list costs tokens: a mutating tool is
// destructive, and the world is open.

// reads is a tool that changes nothing.
func reads(name, title, description string) *mcp.Tool {
	return &mcp.Tool{Name: name, Description: description, Annotations: &mcp.ToolAnnotations{Title: title, ReadOnlyHint: true, IdempotentHint: true}}
}

// saves is a tool that does not change the page, but may write a file.
func saves(name, title, description string) *mcp.Tool {
	return &mcp.Tool{Name: name, Description: description, Annotations: &mcp.ToolAnnotations{Title: title, DestructiveHint: new(false)}}
}

// mutates is a tool that may change or send something irrevocably.
func mutates(name, title, description string) *mcp.Tool {
	return &mcp.Tool{Name: name, Description: description, Annotations: &mcp.ToolAnnotations{Title: title}}
}

// adjusts is a tool that changes only the presentation, and is idempotent.
func adjusts(name, title, description string) *mcp.Tool {
	return &mcp.Tool{Name: name, Description: description, Annotations: &mcp.ToolAnnotations{Title: title, DestructiveHint: new(false), IdempotentHint: true}}
}

// local marks a tool that works on windows of this machine only, never on a page.
func local(tool *mcp.Tool) *mcp.Tool {
	tool.Annotations.OpenWorldHint = new(false)
	return tool
}

// withData marks a tool with a structured answer. An agent pays for the schema in every
// conversation, so it does not name the members.
func withData(tool *mcp.Tool) *mcp.Tool {
	tool.OutputSchema = json.RawMessage(`{"type":"object"}`)
	return tool
}
