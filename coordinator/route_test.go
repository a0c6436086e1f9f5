package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The agent's routes apply to its own pages and end with its MCP session. The
// developer's browser continues unchanged.
func TestRoutesEndWithTheSession(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			io.WriteString(w, "<!doctype html><title>shop</title>")
		default:
			fmt.Fprintf(w, "price 7 %s", r.Header.Get("X-Trace"))
		}
	}))
	t.Cleanup(server.Close)
	dir, shop := t.TempDir(), folder(t, "shop")
	window := start(t, dir, "window", "--workspace", shop, "--headless")
	user := sitAt(t, window.first)
	user.browse(t, server.URL)

	ask := func(session string) string {
		t.Helper()
		t.Logf("%s", session)
		return user.evaluate(t, `fetch("/price").then((r) => r.text().then((t) => r.status + " " + t), () => "failed")`)
	}
	t.Run("agent", func(t *testing.T) {
		agent := host(t, dir, shop, "--caps", "network")
		if list := mustTool(t, agent, "browser_route_list", nil); list != "There are none." {
			t.Errorf("%s", list)
		}
		mustTool(t, agent, "browser_route", map[string]any{"pattern": "/price", "status": 503, "body": "closed", "contentType": "text/plain", "headers": []string{"Retry-After: 5"}})
		if got := ask("answered"); got != `"503 closed"` {
			t.Errorf("%s", got)
		}
		mustTool(t, agent, "browser_route", map[string]any{"pattern": "**/price", "headers": []string{"X-Trace: abc"}})
		if got := ask("sent on"); got != `"200 price 7 abc"` {
			t.Errorf("%s", got)
		}
		mustTool(t, agent, "browser_route", map[string]any{"pattern": "**/price", "replace": []map[string]any{{"find": "7", "with": "8"}}, "times": 1})
		mustTool(t, agent, "browser_route", map[string]any{"pattern": "**/price", "abort": "timedout", "times": 1})
		list := mustTool(t, agent, "browser_route_list", nil)
		for _, want := range []string{"1. **/price: fails with timedout, 1 times", `2. **/price: "8" for "7", 1 times`, "3. **/price: with X-Trace: abc", "4. /price: status 503, body closed"} {
			if !strings.Contains(list, want) {
				t.Errorf("the list lacks %q:\n%s", want, list)
			}
		}
		if got := ask("aborted"); got != `"failed"` {
			t.Errorf("%s", got)
		}
		if got := ask("changed"); got != `"200 price 8 "` {
			t.Errorf("%s", got)
		}
		if text := mustTool(t, agent, "browser_unroute", map[string]any{"pattern": "**/price"}); text != "Removed 3 routes." {
			t.Errorf("%s", text)
		}
		for name, wrong := range map[string]map[string]any{
			"Name: Value": {"pattern": "**", "headers": []string{"nonsense"}}, "want one of": {"pattern": "**", "abort": "sleep"}, "100 to 599": {"pattern": "**", "status": 7},
		} {
			if _, err := tool(t, agent, "browser_route", wrong); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%v: %v", wrong, err)
			}
		}
		mustTool(t, agent, "browser_network_state_set", map[string]any{"state": "offline"})
		if got := ask("offline"); got != `"503 closed"` && got != `"failed"` {
			t.Errorf("%s", got)
		}
	})
	if got := ask("afterwards"); got != `"200 price 7 "` {
		t.Errorf("something stayed behind: %s", got)
	}
	if got := user.evaluate(t, "navigator.onLine"); got != "true" {
		t.Errorf("the developer's page is offline")
	}
}

// Routes also end when the coordinator is killed, although no process is left to remove
// them.
func TestRoutesEndWithAKilledCoordinator(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "<!doctype html><title>shop</title>real")
	}))
	t.Cleanup(server.Close)
	dir, shop := t.TempDir(), folder(t, "shop")
	window := start(t, dir, "window", "--workspace", shop, "--headless")
	user := sitAt(t, window.first)
	user.browse(t, server.URL)

	cmd := command(t.Context(), t, dir, "mcp", "--caps", "network")
	cmd.Cancel, cmd.Dir = nil, shop
	agent, err := mcp.NewClient(&mcp.Implementation{Name: "test-host", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	mustTool(t, agent, "browser_route", map[string]any{"pattern": "**", "body": "mocked"})
	ask := func() string {
		t.Helper()
		return user.evaluate(t, `fetch("/price").then((r) => r.text(), () => "failed")`)
	}
	if got := ask(); got != `"mocked"` {
		t.Fatalf("%s", got)
	}
	mustTool(t, agent, "browser_network_state_set", map[string]any{"state": "offline"})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	agent.Close() // waits for its end
	if got := ask(); !strings.Contains(got, "real") {
		t.Errorf("something stayed behind: %s", got)
	}
}
