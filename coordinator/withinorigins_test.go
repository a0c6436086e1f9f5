package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHistoryStaysWithinOrigins: an agent gets no history and no storage from the time
// when a tab showed a document that the agent's limits refuse.
func TestHistoryStaysWithinOrigins(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, _, _ := strings.Cut(r.Host, ":")
		w.Header().Set("Content-Type", "text/html")
		http.SetCookie(w, &http.Cookie{Name: "of", Value: "cookie-" + name})
		fmt.Fprintf(w, `<!doctype html><title>%[1]s</title><script>console.log("message of %[1]s"); localStorage.of = "stored-%[1]s"; fetch("/data-%[1]s")</script>`, name)
	}))
	t.Cleanup(server.Close)
	forbidden := strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	dir, shop := t.TempDir(), folder(t, "shop")
	start(t, dir, "window", "--workspace", shop, "--headless")
	developer := host(t, dir, shop, "--no-launch")
	mustTool(t, developer, "browser_navigate", map[string]any{"url": server.URL}) // in the tab that is visible
	for name, flags := range map[string][]string{
		"allowed": {"--allowed-origins", "127.0.0.1"}, "blocked": {"--blocked-origins", forbidden + ";https://localhost:443;http://localhost:80"},
	} {
		t.Run(name, func(t *testing.T) {
			agent := host(t, dir, shop, append(flags, "--no-launch", "--caps", "storage")...)
			mustTool(t, agent, "browser_tabs", map[string]any{"action": "list"}) // it is connected, and records
			for _, url := range []string{forbidden, server.URL} {
				mustTool(t, developer, "browser_navigate", map[string]any{"url": url})
				mustTool(t, developer, "browser_wait_for", map[string]any{"expression": "performance.getEntriesByType('resource').some((e) => e.name.includes('/data-'))"})
			}
			for _, read := range []struct {
				tool       string
				args       map[string]any
				want, told string
			}{
				{"browser_console_messages", map[string]any{"all": true}, "message of 127.0.0.1", "messages"},
				{"browser_network_requests", map[string]any{"static": true}, "/data-127.0.0.1", "requests"},
				{"browser_cookie_list", nil, "cookie-127.0.0.1", "cookies"},
				{"browser_cookie_get", map[string]any{"name": "of"}, "cookie-127.0.0.1", "cookies"},
				{"browser_storage_state", map[string]any{"filename": name + ".json"}, "Saved 1 cookies and the local storage of 1 origins", "origins"},
			} {
				text := mustTool(t, agent, read.tool, read.args)
				if !strings.Contains(text, read.want) || strings.Contains(text, "localhost") || !strings.Contains(text, "Left out because of --allowed-origins or --blocked-origins: ") || !strings.Contains(text, read.told) {
					t.Errorf("%s: %s", read.tool, text)
				}
			}
			saved, err := filepath.Glob(filepath.Join(shop, ".browser-coordinator", name+"*.json"))
			if err != nil || len(saved) != 1 {
				t.Fatalf("saved: %q %v", saved, err)
			}
			state, err := os.ReadFile(saved[0])
			if err != nil || strings.Contains(string(state), "localhost") || !strings.Contains(string(state), "stored-127.0.0.1") {
				t.Errorf("the storage state: %s %v", state, err)
			}
			for index := range 20 {
				text, err := tool(t, agent, "browser_network_request", map[string]any{"index": index + 1})
				if err == nil && strings.Contains(text, "localhost") {
					t.Errorf("request %d: %s", index+1, text)
				}
			}
		})
	}
}
