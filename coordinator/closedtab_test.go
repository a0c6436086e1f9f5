package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// When a tab closes by itself, as a login's tab does, the agent is notified. It does not
// continue in another tab, and its refs are invalid there.
func TestTabThatClosesItself(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/login" {
			io.WriteString(w, `<!doctype html><title>Login</title><button>Harmless</button><button onclick="setTimeout(() => window.close(), 50)">Sign in</button>`)
			return
		}
		io.WriteString(w, `<!doctype html><title>Shop</title><button onclick="document.title='DELETED'">Delete everything</button><button onclick="window.open('/login')">Log in</button>`)
	}))
	t.Cleanup(server.Close)
	dir, shop := t.TempDir(), folder(t, "shop")
	start(t, dir, "window", "--workspace", shop, "--headless")
	agent := host(t, dir, shop)
	mustTool(t, agent, "browser_navigate", map[string]any{"url": server.URL})
	first := mustTool(t, agent, "browser_snapshot", nil)
	deleting, login := ref(t, first, "button", "Delete everything"), ref(t, first, "button", "Log in")
	mustTool(t, agent, "browser_click", map[string]any{"target": login})
	tabs := mustTool(t, agent, "browser_tabs", map[string]any{"action": "list"})
	index := 1
	if strings.Contains(strings.Split(tabs, "\n")[0], "/login") {
		index = 0
	}
	mustTool(t, agent, "browser_tabs", map[string]any{"action": "select", "index": index})
	second := mustTool(t, agent, "browser_snapshot", nil)
	harmless, signIn := ref(t, second, "button", "Harmless"), ref(t, second, "button", "Sign in")
	if harmless == deleting {
		t.Errorf("%s is a ref in both tabs", harmless)
	}
	if _, err := tool(t, agent, "browser_click", map[string]any{"target": deleting}); err == nil || !strings.Contains(err.Error(), "of another tab") {
		t.Errorf("a ref of the other tab: %v", err)
	}
	mustTool(t, agent, "browser_click", map[string]any{"target": signIn})
	for {
		_, err := tool(t, agent, "browser_press_key", map[string]any{"key": "Enter"})
		if err == nil {
			continue // the tab is still there
		}
		if !strings.Contains(err.Error(), "was closed") {
			t.Fatal(err)
		}
		if strings.Contains(err.Error(), `"Shop", `+server.URL) {
			break // and not only that the page went during the call
		}
	}
	if _, err := tool(t, agent, "browser_click", map[string]any{"target": harmless}); err == nil || !strings.Contains(err.Error(), "gone") {
		t.Errorf("a ref of the tab that is closed: %v", err)
	}
	if title := mustTool(t, agent, "browser_evaluate", map[string]any{"function": "() => document.title"}); title != `"Shop"` {
		t.Errorf("the shop is %s", title)
	}
}
