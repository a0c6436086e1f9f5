package tools

import (
	"context"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/registry"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/vscodeipc"
)

// breakpointWindow is a window with a breakpoint that has every property.
type breakpointWindow struct{ noWindows }

func (breakpointWindow) Resolve(context.Context, registry.Want) (registry.Window, []registry.Candidate, error) {
	return registry.Window{Kind: "vscode", State: vscodeipc.State{Access: vscodeipc.Access{Mode: vscodeipc.AccessFull}}}, nil, nil
}

func (breakpointWindow) Call(_ context.Context, _ registry.Window, _ string, _, result any) error {
	result.(*vscodeipc.BreakpointsResult).Breakpoints = []vscodeipc.Breakpoint{{Path: "/a.js", Line: 3, Condition: "x", LogMessage: "y", HitCondition: "2"}}
	return nil
}

// The properties of a breakpoint are always in the same order.
func TestBreakpoints(t *testing.T) {
	session := connect(t, Options{Options: agent.Options{Windows: breakpointWindow{}, Dir: t.TempDir()}, Version: "test"})
	for range 20 {
		res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "debug_breakpoints", Arguments: map[string]any{"action": "list"}})
		if err != nil || res.IsError {
			t.Fatalf("%+v %v", res, err)
		}
		if text := res.Content[0].(*mcp.TextContent).Text; !strings.HasPrefix(text, "- /a.js:3 [if x] [log y] [hits 2]") {
			t.Fatalf("%q", text)
		}
	}
}
