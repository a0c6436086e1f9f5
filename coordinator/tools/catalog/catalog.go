// Package catalog lists the tools of the MCP server, each in its shortest form, and
// registers one with the MCP SDK at its first call.
package catalog

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Tools has the tools of this program, by their names. It does not change once the server
// is made.
//
// At the start the tools are only listed. A tool's schema for its arguments is prepared
// at its first call: preparing all would take much of the start, and an agent uses only a
// few.
type Tools map[string]*Tool

// Tool is one of the Tools.
type Tool struct {
	once     sync.Once
	register func(*mcp.Server)
}

// Add puts a tool into the set.
func Add[In any](t Tools, tool *mcp.Tool, handle mcp.ToolHandlerFor[In, any]) {
	t[tool.Name] = &Tool{register: func(server *mcp.Server) { mcp.AddTool(server, tool, handle) }}
}

// Prepare is the middleware that registers a tool before its first call.
func (t Tools) Prepare(server *mcp.Server) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if call, ok := req.GetParams().(*mcp.CallToolParamsRaw); ok {
				if tool := t[call.Name]; tool != nil {
					tool.once.Do(func() { tool.register(server) })
				}
			}
			return next(ctx, method, req)
		}
	}
}

// RegisterAll registers all tools that are not registered yet.
func (t Tools) RegisterAll(server *mcp.Server) {
	for _, tool := range t {
		tool.once.Do(func() { tool.register(server) })
	}
}
