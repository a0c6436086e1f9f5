// Package group ends a program together with those that it has started.
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
// It is a process group on Linux and macOS, and a job object on Windows. What has
// left the group by itself (a daemon) is not ended; in a terminal the program is
// in the background.
package group
