// Package registry knows which windows live and decides which one is meant. It
// is the coordinator's only mutable picture of the world outside.
//
//	windows := registry.Open(ctx, registry.Options{Client: vscodeipc.Peer{Name: "coordinator"}})
//	defer windows.Close()
//	window, _, err := windows.Resolve(ctx, registry.Want{Dir: dir})
//	source := windows.Source(window.Workspace) // feeds the window's endpoint
//
// It holds one connection to each window and is told of every change by the
// window; new windows are noticed by the directories that their sockets are in.
// Nothing is polled where the system tells of changes.
//
// It does not promise that a window still lives when its answer is used, and it
// never guesses: none or several that fit are a [SelectionError].
package registry
