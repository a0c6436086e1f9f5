package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"browser-coordinator/internal/desktoptest"
	"browser-coordinator/internal/longtest"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/toolstest"
)

// meanwhile does something, and returns a channel that is closed when it is done.
func meanwhile(do func()) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	return done
}

// Two agents and a CDP client share one connection to the user's own browser, of which they see
// their own tabs only. The user is asked once, and again when the program that had the
// connection is gone and somebody needs it.
func TestUsersOwnBrowser(t *testing.T) {
	longtest.Only(t)
	sample, dir := toolstest.ServeSample(t), t.TempDir()
	screen := desktoptest.Start(t)
	profile := filepath.Join(t.TempDir(), "profile")
	screen.Browser(profile, true, sample+"/?the-users")
	agent := func(more ...string) (*toolstest.Agent, func() error) {
		cmd := command(context.Background(), t, dir, append([]string{"mcp", "--attach", profile}, more...)...)
		cmd.Dir = toolstest.Folder(t, "shop")
		must.Do(t, os.WriteFile(filepath.Join(cmd.Dir, "report.pdf"), []byte("a report"), 0o600))
		return startHost(t, cmd), func() error { return cmd.Process.Kill() }
	}
	first, kill := agent("--access", "full")
	second, _ := agent("--access", "full")
	careful, _ := agent()

	screen.Press(desktoptest.Allow, meanwhile(func() { first.Open(sample + "/?first") }))
	second.Open(sample + "/?second")
	served := start(t, dir, "serve", "--attach", profile, "--access", "full", "--workspace", toolstest.Folder(t, "other"))
	client := dialEndpoint(t, served.first)
	var targets struct{ TargetInfos []struct{ URL string } }
	client.Call("", "Target.getTargets", "", &targets)
	if len(targets.TargetInfos) != 2 {
		t.Errorf("the client sees %+v", targets)
	}
	if tabs := second.Must("browser_tabs", args{"action": "list"}); strings.Contains(tabs, "the-users") ||
		!strings.Contains(tabs, "?second") {
		t.Errorf("an agent sees %s", tabs)
	}
	second.Evaluate(`() => document.body.innerHTML = '<input type=file>'`)
	second.Refused("browser_file_upload", args{"target": "[type=file]", "paths": []string{"report.pdf"}},
		"Ask the user to choose the file in the tab")
	careful.Refused("browser_navigate", args{"url": sample}, "its user cannot be asked here")
	if screen.Asks() {
		t.Error("the user is asked again")
	}
	if err := kill(); err != nil {
		t.Fatal(err)
	}
	screen.Press(desktoptest.Allow, meanwhile(func() {
		for again := 0; again < 3; again++ { // the agent is told first what has happened
			if _, err := second.Call("browser_navigate", args{"url": sample + "/?again"}); err == nil {
				return
			}
		}
	}))
	second.Expect("browser_tabs", args{"action": "list"}, "?again")
}
