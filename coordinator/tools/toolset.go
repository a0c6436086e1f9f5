package tools

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// toolSet has the tools of this program, by their names. Nobody changes it once
// the server is made.
//
// A start only lists them. The schema that a tool's arguments are checked with is
// prepared when the tool is called first: to prepare all is much of a start, and an
// agent uses a few.
type toolSet map[string]*ownTool

type ownTool struct {
	once     sync.Once
	register func(*mcp.Server)
}

// offer puts a tool into the set.
func offer[In any](s *Server, tool *mcp.Tool, handle mcp.ToolHandlerFor[In, any]) {
	s.tools[tool.Name] = &ownTool{register: func(server *mcp.Server) { mcp.AddTool(server, tool, handle) }}
}

// prepare is the middleware that registers a tool before its first call.
func (t toolSet) prepare(server *mcp.Server) mcp.Middleware {
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

func (t toolSet) registerAll(server *mcp.Server) {
	for _, tool := range t {
		tool.once.Do(func() { tool.register(server) })
	}
}
