package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"browser-coordinator/internal/toolstest"
)

// A window with a real browser, written from the protocol's text, reports an unknown
// access mode, or none. An agent and a client of the endpoint may then read, and change
// nothing.
func TestUnknownAccessIsView(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "minimal")
	if out, err := exec.Command("go", "build", "-o", binary, "../specs/window-protocol/minimal").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	browser, page := toolstest.Browser(t), toolstest.ServeSample(t)
	toolstest.Sit(t, browser.URL()).Browse(page)
	dir, err := os.MkdirTemp("", "w") // the minimal window accepts no long path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	shop := toolstest.Folder(t, "shop")
	cmd := exec.Command(binary, shop)
	cmd.Env = append(os.Environ(), environment(dir)...)
	cmd.Stderr = os.Stderr
	states, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { states.Close(); cmd.Wait() })
	if _, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	agent, serving := host(t, dir, shop), start(t, dir, "serve", "--workspace", shop)
	var client *client
	// push sends a state, and waits until the agent and the endpoint have received whether
	// they may only read.
	push := func(access string, views bool) {
		t.Helper()
		fmt.Fprintf(states, `{"debugSessions":[],"browser":{"url":%q,"via":"attached"},"pages":[]%s}`+"\n", browser.URL(), access)
		if client == nil {
			client = joinPage(t, serving.first, "test")
		}
		for deadline := time.Now().Add(time.Minute); ; {
			list := agent.Must("window_list", nil)
			_, err := client.call("Page.navigate", `{"url":"`+page+`?acted"}`)
			if err != nil && !strings.Contains(err.Error(), `"view"`) {
				t.Fatalf("%s: Page.navigate through the endpoint: %v", access, err)
			}
			if strings.Contains(list, shop) && strings.Contains(list, "[access: view]") == views && (err != nil) == views {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: window_list: %s; Page.navigate through the endpoint: %v", access, list, err)
			}
		}
	}
	push(`,"access":{"mode":"full","stopped":[]}`, false)
	for _, access := range []string{``, `,"access":null`, `,"access":{}`, `,"access":{"stopped":[]}`, `,"access":{"mode":"everything","stopped":[]}`, `,"access":{"mode":"full"}`} {
		push(access, true)
		agent.Must("browser_snapshot", nil)
		agent.Refused("browser_navigate", args{"url": page + "?acted"}, `"view"`)
	}
}
