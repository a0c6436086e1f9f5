// Package registry knows which windows are alive, and resolves a request to one of them.
// It is the coordinator's only mutable picture of the world outside.
//
//	windows := registry.Open(ctx, registry.Options{Client: vscodeipc.Peer{Name: "coordinator"}})
//	defer windows.Close()
//	window, _, err := windows.Resolve(ctx, registry.Want{Dir: dir})
//	source := windows.Source(window.Workspace) // feeds the window's endpoint
//
// It holds one connection to each window, which notifies it of every change. It notices
// new windows by watching the directories of their sockets, and polls nothing where the
// system has events.
//
// Lock order: Registry.mu, which guards the entries, then Source.mu. Nothing blocks under
// either.
//
// A window may close before a result is used. The registry never guesses: no window that
// fits, or several, is a [SelectionError].
package registry
