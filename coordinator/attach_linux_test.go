package main

import (
	"bufio"
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"browser-coordinator/coordinator/userchrome"
	"browser-coordinator/internal/cdptest"
	"browser-coordinator/internal/desktoptest"
	"browser-coordinator/internal/longtest"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/toolstest"
)

// An editor has the connection to the user's own browser kept, and hands over a tab. Programs
// that start and end meanwhile join it, and the user is asked once.
func TestAttachForEditor(t *testing.T) {
	longtest.Require(t)
	sample, dir := toolstest.ServeSample(t), t.TempDir()
	screen := desktoptest.Start(t)
	profile := filepath.Join(t.TempDir(), "profile")
	screen.Browser(profile, true, "data:text/html,<title>elsewhere</title>", sample+"/?the-users")
	cmd := command(context.Background(), t, dir, "attach", profile, "--json")
	in := must.Get(cmd.StdinPipe())(t)
	out := bufio.NewReader(must.Get(cmd.StdoutPipe())(t))
	cmd.Stderr = new(printed)
	must.Do(t, cmd.Start())
	t.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	line := func(value any) {
		t.Helper()
		must.Do(t, json.Unmarshal(must.Get(out.ReadBytes('\n'))(t), value))
	}

	var connection struct{ URL, Product string }
	screen.Press(desktoptest.Allow, meanwhile(func() { line(&connection) }))
	if !strings.Contains(connection.Product, "Chrom") {
		t.Errorf("the connection: %+v\n%s", connection, cmd.Stderr)
	}
	request := func(text string) (r userchrome.Response) {
		t.Helper()
		must.Get(in.Write([]byte(text + "\n")))(t)
		line(&r)
		return r
	}
	tabs := request("tabs").Tabs
	if len(tabs) != 2 || !tabs[0].Developed || tabs[0].Origin != sample || tabs[1].Developed ||
		tabs[1].Origin != "data:" {
		t.Fatalf("the tabs, that of a running server first: %+v", tabs)
	}
	if r := request("hand-over nothing"); !strings.Contains(r.Error, "has closed") {
		t.Errorf("a tab that does not exist: %+v", r)
	}
	if r := request("hand-over " + tabs[0].ID); r.Error != "" {
		t.Error(r.Error)
	}
	if now := request("tabs").Tabs; len(now) != 2 || !now[0].HandedOver || now[1].HandedOver {
		t.Errorf("the tabs, that which was handed over first: %+v", now)
	}
	for range 2 {
		agent := command(context.Background(), t, dir, "mcp", "--attach", profile, "--access", "full")
		agent.Dir = toolstest.Folder(t, "shop")
		startHost(t, agent).Expect("browser_tabs", args{"action": "list"}, "?the-users")
	}
	cdptest.Dial(t, connection.URL).Call("", "Browser.getVersion", "", nil)
	if r := request("take-back " + tabs[0].ID); r.Error != "" || request("tabs").Tabs[0].HandedOver {
		t.Errorf("taken back: %+v", r)
	}
	if screen.HasQuestion() {
		t.Error("the user is asked again")
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("at the end of its input: %v\n%s", err, cmd.Stderr)
	}
}
