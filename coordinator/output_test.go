package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// savedIn is where a tool saves a file of that name for an agent of a workspace.
func savedIn(workspace, name string) string {
	return filepath.Join(workspace, ".browser-coordinator", name)
}

// The bytes of a page never become a program or the configuration of one, whatever name
// a misled agent gives them.
func TestPagesBytesAreNoCode(t *testing.T) {
	taken := filepath.Join(t.TempDir(), "taken")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/config":
			w.Header().Set("Content-Type", "text/plain")
			io.WriteString(w, "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = touch "+taken+"; false\n")
		case "/run":
			w.Header().Set("Content-Disposition", `attachment; filename="../.git/hooks/run.sh"`)
			io.WriteString(w, "#!/bin/sh\ntouch "+taken)
		default:
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, `<title>Bait</title><a href=/run>run</a><script>fetch("/config").then((r) => r.text())</script>`)
		}
	}))
	t.Cleanup(server.Close)
	shop := folder(t, "shop")
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = shop
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git("init", "-q")
	config, err := os.ReadFile(filepath.Join(shop, ".git", "config"))
	if err != nil {
		t.Fatal(err)
	}
	agent := host(t, t.TempDir(), shop)
	mustTool(t, agent, "browser_navigate", map[string]any{"url": server.URL})
	mustTool(t, agent, "browser_wait_for", map[string]any{"networkIdle": true})
	list := mustTool(t, agent, "browser_network_requests", map[string]any{"filter": "/config"})
	index := atoi(t, strings.TrimSpace(list[:strings.Index(list, ".")]))
	for _, name := range []string{".git/config", filepath.Join(shop, ".git", "config"), "../.git/config"} {
		if text, err := tool(t, agent, "browser_network_request", map[string]any{"index": index, "part": "response-body", "filename": name}); err == nil {
			t.Errorf("browser_network_request wrote %s: %s", name, text)
		}
		if text, err := tool(t, agent, "browser_fetch", map[string]any{"url": "/config", "filename": name}); err == nil {
			t.Errorf("browser_fetch wrote %s: %s", name, text)
		}
	}
	if text := mustTool(t, agent, "browser_fetch", map[string]any{"url": "/config", "filename": "config.sh"}); !strings.Contains(text, savedIn(shop, "config.sh.txt")) {
		t.Errorf("a program's name: %s", text)
	}
	text := mustTool(t, agent, "browser_click", map[string]any{"target": "a"})
	if !strings.Contains(text, "Downloaded ") {
		text += mustTool(t, agent, "browser_wait_for", map[string]any{"time": 1})
	}
	if !strings.Contains(text, "Downloaded "+savedIn(shop, "")) || !strings.Contains(text, "run.sh.bin") { // the browser cleans the name too
		t.Errorf("a download: %s", text)
	}
	if status := git("status", "--short"); status != "" {
		t.Errorf("git sees %s", status)
	}
	if now, err := os.ReadFile(filepath.Join(shop, ".git", "config")); err != nil || string(now) != string(config) {
		t.Errorf(".git/config is %s %v", now, err)
	}
	if _, err := os.Stat(taken); err == nil {
		t.Error("the page's program ran")
	}
}
