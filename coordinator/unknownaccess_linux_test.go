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

	"browser-coordinator/vscodeipc"
)

// TestUnknownAccessOnlyLooks: a window with a real browser, written from the protocol's
// text, reports an unknown access mode, or none. An agent and a client of the endpoint
// may then read, and change nothing.
func TestUnknownAccessOnlyLooks(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "minimal")
	if out, err := exec.Command("go", "build", "-o", binary, "../specs/window-protocol/minimal").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	browser := realBrowser(t)
	page := servePage(t)
	sitAt(t, browser.URL()).browse(t, page)
	for _, access := range []string{``, `,"access":null`, `,"access":{}`, `,"access":{"stopped":[]}`, `,"access":{"mode":"everything","stopped":[]}`, `,"access":{"mode":"full"}`} {
		t.Run(access, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "w") // the minimal window accepts no long path
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			shop := folder(t, "shop")
			canonical, err := vscodeipc.Canonical(shop)
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(binary, canonical)
			cmd.Env = append(os.Environ(), privateDirs(dir)...)
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
			fmt.Fprintf(states, `{"debugSessions":[],"browser":{"url":%q,"via":"attached"},"pages":[]%s}`+"\n", browser.URL(), access)
			agent := host(t, dir, shop)
			deadline := time.Now().Add(30 * time.Second)
			for !strings.Contains(mustTool(t, agent, "window_list", nil), "[access: view]") {
				if time.Now().After(deadline) {
					t.Fatalf("window_list: %s", mustTool(t, agent, "window_list", nil))
				}
			}
			mustTool(t, agent, "browser_snapshot", nil)
			if _, err := tool(t, agent, "browser_navigate", map[string]any{"url": page + "?acted"}); err == nil || !strings.Contains(err.Error(), `"view"`) {
				t.Errorf("navigating: %v", err)
			}
			serving := start(t, dir, "serve", "--workspace", canonical)
			client := sitAt(t, serving.first)
			session, err := client.conn.Attach(t.Context(), client.page)
			if err != nil {
				t.Fatal(err)
			}
			if err := session.Call(t.Context(), "Page.navigate", map[string]any{"url": page + "?acted"}, nil); err == nil || !strings.Contains(err.Error(), `"view"`) {
				t.Errorf("Page.navigate through the endpoint: %v", err)
			}
		})
	}
}
