// Package group ends a program together with the processes that it has started.
//
//	cmd := exec.Command("npx", "server")
//	g, err := group.New(cmd)
//	if err != nil { … }
//	defer g.Close()
//	if err := cmd.Start(); err != nil { … }
//	if err := g.Started(); err != nil { … }
//	…
//	g.Kill()
//
// It is a process group on Linux and macOS, and a job object on Windows. A process that
// has left the group (a daemon) is not ended. In a terminal the program runs in the
// background.
package group
