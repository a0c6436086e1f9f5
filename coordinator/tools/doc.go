// Package tools is the coordinator's MCP surface: it validates an agent's calls, calls
// the registry and the page, and builds a small answer.
//
//	server := tools.NewServer(tools.Options{Windows: windows, Dir: dir, Version: version})
//	err := server.Run(ctx, &mcp.StdioTransport{})
//
// Each call resolves its window again. Names and parameters are Playwright MCP's where
// the same thing exists there (adr/0010). Every tool is available from the first message.
//
// The package does not find windows, use CDP, or select one of several windows. It starts
// a browser only through its Launcher.
package tools
