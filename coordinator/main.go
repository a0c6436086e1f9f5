// Command coordinator lets an AI agent drive the very browser that a developer is
// debugging in a VS Code window.
//
//	coordinator mcp                     what an MCP host launches, over stdio
//	coordinator status                  the open windows, and what is going on there
//	coordinator endpoint                the stable CDP address of a window
//	coordinator window --workspace DIR  make this terminal a window
//
// This folder is wiring only, a file for each subcommand. coordinator/registry finds
// windows, and vscodeipc speaks their protocol. coordinator/page drives pages. cdpproxy
// serves CDP clients, behind coordinator/endpoint.
//
// Only MCP messages and a command's output go to stdout.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"browser-coordinator/coordinator/child"
)

func main() {
	// Writing an output that nobody reads fails; else it would end the program.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), child.EndSignals()...)
	code := execute(ctx, os.Args[1:], stdio{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(code)
}

// release is set by the linker in releases.
var release = "0.1.0-dev"

// version is the release with the commit it was built from, if Go knows it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return release
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return release + "+" + s.Value[:12]
		}
	}
	return release
}
