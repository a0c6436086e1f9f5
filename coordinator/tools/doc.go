// Package tools is the coordinator's MCP surface: it validates what an agent
// asks, calls the registry and the page, and shapes a small answer.
//
//	server := tools.NewServer(tools.Options{Windows: windows, Dir: dir, Version: version})
//	err := server.Run(ctx, &mcp.StdioTransport{})
//
// Which window is meant is decided anew at each call. Names and parameters are
// Playwright MCP's where the same thing exists there (adr/0010). Every tool is
// there from the first message.
//
// The package does not find windows, speak CDP, or decide which of several
// windows is right, and it starts a browser only by the Launcher that it is
// given.
package tools
