package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/cdp"
)

const stuckPage = `<!doctype html><title>Stuck</title><button id=save>Save</button>
<button id=ask onclick="confirm('Really?')">Ask</button><button id=stop onclick="stop()">Stop</button>
<script>function stop() { debugger; }</script>`

// The error names what blocks a page and the next step, and that step helps.
func TestStuckPagesAreTold(t *testing.T) {
	t.Parallel()
	dir, shop := t.TempDir(), folder(t, "shop")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, stuckPage) }))
	t.Cleanup(server.Close)
	url := server.URL
	start(t, dir, "window", "--workspace", shop, "--headless")
	agent := host(t, dir, shop, "--no-launch")
	mustTool(t, agent, "browser_navigate", map[string]any{"url": url})
	developer := sitAt(t, browserOf(t, dir)) // the endpoint would not allow a page to crash
	user, err := developer.conn.Attach(t.Context(), developer.page)
	if err != nil {
		t.Fatal(err)
	}

	t.Run("stale ref", func(t *testing.T) {
		save := ref(t, mustTool(t, agent, "browser_snapshot", nil), "button", "Save")
		click := map[string]any{"target": save}
		mustTool(t, agent, "browser_evaluate", map[string]any{"function": "() => document.querySelector('#save').replaceWith(Object.assign(document.createElement('button'), { textContent: 'Save' }))"})
		refuses(t, agent, "browser_click", click, `ref `+save+` (button "Save") is stale, its element was removed`, " looks the same now; use it if that is meant, or take a new snapshot")
		mustTool(t, agent, "browser_navigate", map[string]any{"url": url})
		mustTool(t, agent, "browser_evaluate", map[string]any{"function": "() => document.querySelector('#save').remove()"})
		refuses(t, agent, "browser_click", click, "is stale, its document was replaced: take a new snapshot and use its refs")
	})
	t.Run("dialog", func(t *testing.T) {
		if text := mustTool(t, agent, "browser_click", map[string]any{"target": "#ask"}); !strings.Contains(text, "Really?") {
			t.Errorf("the click: %s", text)
		}
		refuses(t, agent, "browser_snapshot", nil, `a JavaScript confirm dialog is open ("Really?"): accept or dismiss it first`)
		mustTool(t, agent, "browser_handle_dialog", map[string]any{"accept": true})
		mustTool(t, agent, "browser_snapshot", nil)
	})
	t.Run("paused", func(t *testing.T) {
		call(t, user, "Debugger.enable")
		if text := mustTool(t, agent, "browser_click", map[string]any{"target": "#stop"}); !strings.Contains(text, "The page is paused in the debugger, in stop at "+url+"/:3:") {
			t.Errorf("the click: %s", text)
		}
		refuses(t, agent, "browser_click", map[string]any{"target": "#ask"}, "the page is paused in the debugger (stop at "+url+"/:3:", "continue it there first")
		call(t, user, "Debugger.resume")
		call(t, user, "Debugger.disable")
		mustTool(t, agent, "browser_snapshot", nil)
	})
	t.Run("crashed", func(t *testing.T) {
		// The client that requests the crash gets no response.
		if _, err := user.Start(t.Context(), "Page.crash", nil); err != nil {
			t.Fatal(err)
		}
		crashed := "the page crashed: navigate or reload to revive it"
		if _, err := tool(t, agent, "browser_evaluate", map[string]any{"function": "() => new Promise(() => {})"}); err == nil || !strings.Contains(err.Error(), crashed) {
			t.Errorf("a call while it crashes: %v", err)
		}
		refuses(t, agent, "browser_snapshot", nil, crashed)
		mustTool(t, agent, "browser_navigate", map[string]any{"url": url})
		mustTool(t, agent, "browser_snapshot", nil)
	})
	t.Run("hung", func(t *testing.T) {
		mustTool(t, agent, "browser_evaluate", map[string]any{"function": "() => { setTimeout(() => { for (;;); }) }"})
		refuses(t, agent, "browser_snapshot", nil, "the tab hangs: a script of it, or of another tab of its site, is busy, and it did not answer for 10s", "Navigate it, which stops the script, or choose a tab of another site")
		mustTool(t, agent, "browser_navigate", map[string]any{"url": url})
		mustTool(t, agent, "browser_snapshot", nil)
	})
}

// browserOf is the direct address of the only window's browser.
func browserOf(t *testing.T, dir string) string {
	t.Helper()
	out, err := command(t.Context(), t, dir, "windows", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Windows []struct{ Browser struct{ URL string } }
	}
	if err := json.Unmarshal(out, &list); err != nil || len(list.Windows) != 1 {
		t.Fatalf("%s %v", out, err)
	}
	return list.Windows[0].Browser.URL
}

// refuses calls a tool, which must return an error that contains these texts.
func refuses(t *testing.T, agent *mcp.ClientSession, name string, args map[string]any, words ...string) {
	t.Helper()
	text, err := tool(t, agent, name, args)
	if err == nil {
		t.Errorf("%s is not refused: %s", name, text)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%s: %q is not in: %v", name, w, err)
		}
	}
}

// call sends a command as the developer's debugger would.
func call(t *testing.T, s *cdp.Session, method string) {
	t.Helper()
	if err := s.Call(t.Context(), method, nil, nil); err != nil {
		t.Fatalf("%s: %v", method, err)
	}
}
