// Package catalog lists the tools of the MCP server, and brings the arguments of calls into
// the form that the tools take.
package catalog

import "github.com/modelcontextprotocol/go-sdk/mcp"

// Tools has the tools of this program, by their names. It does not change once the server
// is made.
type Tools map[string]*mcp.Tool

// Add puts a tool into the set, and registers it.
func Add[In any](t Tools, server *mcp.Server, tool *mcp.Tool, handle mcp.ToolHandlerFor[In, any]) {
	t[tool.Name] = tool
	mcp.AddTool(server, tool, handle)
}
