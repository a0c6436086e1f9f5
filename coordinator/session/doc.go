// Package session keeps one agent's session while the commands of a shell come and go. The
// session is the MCP server of coordinator/tools, in a process of its own, on a socket that
// only its user can open. A command is an MCP client of it:
//
//	place, err := session.Find("", dir)             // where the session of this folder is
//	client, err := session.Open(ctx, place, start)  // which starts it if there is none
//	result, err := client.Call(ctx, "browser_click", arguments)
//
// It ends when it is closed, idle, or its window closes, and when its process gets a signal.
// The package has no tool, no permission and no answer of its own.
package session
