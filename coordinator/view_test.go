package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/vscodeipc"
)

// notingPage records every access to it in its own world. It reports its records when
// /ask is answered.
const notingPage = `<!doctype html><title>Noted</title><h1>Heading</h1><button>Buy</button>
<script>
const seen = [];
console.log("ready");
for (const [of, name] of [[window, "devicePixelRatio"], [document, "visibilityState"], [document, "title"]]) {
	const value = of[name];
	Object.defineProperty(of, name, { get() { seen.push(name); return value; } });
}
new MutationObserver((all) => all.forEach((m) => seen.push(m.type))).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
fetch("/ask").then(() => {
	if (navigator.userActivation.hasBeenActive) seen.push("user activation");
	fetch("/noted", { method: "POST", body: JSON.stringify(seen) });
});
</script>`

// TestViewToolsRunNothing: where agents may only read, the read-only tools work for each
// of them on the page that the user sees. The page notices nothing. An agent's code is
// refused, and no tab is opened.
func TestViewToolsRunNothing(t *testing.T) {
	ask, noted := make(chan struct{}), make(chan []string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/ask":
			select {
			case <-ask:
			case <-r.Context().Done():
			}
		case "/noted":
			var seen []string
			if err := json.NewDecoder(r.Body).Decode(&seen); err != nil {
				t.Error(err)
			}
			noted <- seen
		default:
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, notingPage)
		}
	}))
	t.Cleanup(server.Close)
	dir, shop := t.TempDir(), folder(t, "shop")
	window := start(t, dir, "window", "--workspace", shop, "--headless", "--access", "view", "--url", server.URL)
	first, second := host(t, dir, shop, "--no-launch"), host(t, dir, shop, "--no-launch")
	mustTool(t, first, "browser_wait_for", map[string]any{"text": "Heading"}) // the window exists before its page
	for name, agent := range map[string]*mcp.ClientSession{"first": first, "second": second} {
		for _, read := range []struct {
			tool string
			args map[string]any
			want string
		}{
			{"browser_snapshot", nil, "Heading"},
			{"browser_snapshot", map[string]any{"target": "h1"}, "Heading"},
			{"browser_find", map[string]any{"text": "Buy"}, "Buy"},
			{"browser_markdown", map[string]any{"target": "h1"}, "Heading"},
			{"browser_dom", map[string]any{"target": "h1"}, "<h1>Heading</h1>"},
			{"browser_console_messages", map[string]any{"level": "debug"}, "ready"},
			{"browser_network_requests", map[string]any{"static": true}, server.URL},
			{"browser_take_screenshot", nil, ""},
			{"browser_wait_for", map[string]any{"text": "Heading"}, ""},
			{"browser_tabs", map[string]any{"action": "list"}, server.URL},
		} {
			if text := mustTool(t, agent, read.tool, read.args); !strings.Contains(text, read.want) {
				t.Errorf("%s agent: %s %v: %s", name, read.tool, read.args, text)
			}
		}
		for _, act := range []struct {
			tool string
			args map[string]any
		}{
			{"browser_evaluate", map[string]any{"function": "() => document.title"}},
			{"browser_wait_for", map[string]any{"expression": "true"}},
			{"browser_click", map[string]any{"target": "button"}},
			{"browser_navigate", map[string]any{"url": server.URL}},
			{"browser_tabs", map[string]any{"action": "new"}},
			{"debug_evaluate", map[string]any{"expression": "1"}},
		} {
			if _, err := tool(t, agent, act.tool, act.args); err == nil || !strings.Contains(err.Error(), `refused: the access mode of this window is "view"`) {
				t.Errorf("%s agent: %s %v: %v", name, act.tool, act.args, err)
			}
		}
	}
	if got := titles(t, window.first); !slices.Equal(got, []string{"Noted"}) {
		t.Errorf("the window's pages are %q", got)
	}
	close(ask)
	select {
	case seen := <-noted:
		if len(seen) > 0 {
			t.Errorf("the page has noted %q", seen)
		}
	case <-time.After(time.Minute):
		t.Error("the page has not reported what it noted")
	}
}

// TestReaderOpensNoTab: an agent reads the tab in which another agent works. It gets its
// own tab with its first action.
func TestReaderOpensNoTab(t *testing.T) {
	dir, shop := t.TempDir(), folder(t, "shop")
	url := servePage(t)
	window := start(t, dir, "window", "--workspace", shop, "--headless")
	first, second := host(t, dir, shop, "--no-launch"), host(t, dir, shop, "--no-launch")
	mustTool(t, first, "browser_navigate", map[string]any{"url": url + "/first"})
	text := mustTool(t, second, "browser_snapshot", nil)
	if !strings.Contains(text, "Another agent works in the tab that the developer sees. You can read it") || !strings.Contains(text, url+"/first") {
		t.Errorf("the reader gets %s", text)
	}
	if text := mustTool(t, second, "browser_snapshot", nil); strings.Contains(text, "Another agent") {
		t.Errorf("the reader is told twice: %s", text)
	}
	if got := titles(t, window.first); len(got) != 1 {
		t.Errorf("after it was read, the window's pages are %q", got)
	}
	if text := mustTool(t, second, "browser_navigate", map[string]any{"url": url + "/second"}); !strings.Contains(text, "a tab of your own") {
		t.Errorf("the reader acts: %s", text)
	}
	if got := titles(t, window.first); len(got) != 2 {
		t.Errorf("after it acted, the window's pages are %q", got)
	}
	if text := mustTool(t, first, "browser_snapshot", nil); !strings.Contains(text, url+"/first") {
		t.Errorf("the first agent is at %s", text)
	}
}

// feelingPage records what its user or a debugger could do to it. It reports its records
// when /ask is answered.
const feelingPage = `<!doctype html><title>Noted</title><h1>Loading</h1><iframe srcdoc="<p>Inner</p>"></iframe>
<div style="height: 5000px"></div><button>Buy</button><input value="typed">
<script>
localStorage.setItem("key", "value");
const seen = [];
for (const name of ["scroll", "scrollend", "resize", "focus", "blur", "focusin", "pageshow", "pagehide", "beforeprint", "storage"])
	addEventListener(name, (e) => seen.push(name), true);
document.addEventListener("visibilitychange", () => seen.push(document.visibilityState));
new ResizeObserver(() => seen.push("observed size")).observe(document.documentElement);
const drawn = new Promise((done) => addEventListener("load", () => requestAnimationFrame(() => setTimeout(done))));
drawn.then(() => { seen.length = 0; document.querySelector("h1").textContent = "Heading"; });
fetch("/ask").then(() => fetch("/noted", { method: "POST", body: JSON.stringify([...seen, ...(scrollY ? ["scrolled"] : [])]) }));
</script>`

// TestViewToolsMoveNothing: no read-only tool scrolls, resizes or focuses the page.
func TestViewToolsMoveNothing(t *testing.T) {
	ask, noted := make(chan struct{}), make(chan []string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/ask":
			select {
			case <-ask:
			case <-r.Context().Done():
			}
		case "/noted":
			var seen []string
			if err := json.NewDecoder(r.Body).Decode(&seen); err != nil {
				t.Error(err)
			}
			noted <- seen
		default:
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, feelingPage)
		}
	}))
	t.Cleanup(server.Close)
	dir, shop := t.TempDir(), folder(t, "shop")
	start(t, dir, "window", "--workspace", shop, "--headless", "--access", "view", "--url", server.URL)
	agent := host(t, dir, shop, "--no-launch", "--caps", "performance,storage,testing")
	mustTool(t, agent, "browser_wait_for", map[string]any{"text": "Heading"})
	for _, read := range []struct {
		tool string
		args map[string]any
	}{
		{"browser_snapshot", nil},
		{"browser_snapshot", map[string]any{"target": "button"}},
		{"browser_find", map[string]any{"text": "Buy"}},
		{"browser_dom", map[string]any{"target": "button"}},
		{"browser_take_screenshot", nil},
		{"browser_take_screenshot", map[string]any{"clip": "10,10,100,100"}},
		{"browser_take_screenshot", map[string]any{"filename": "shot.png", "scale": "device"}},
		{"browser_generate_locator", map[string]any{"target": "button"}},
		{"browser_verify_text_visible", map[string]any{"text": "Buy"}},
		{"browser_storage_state", nil},
		{"performance_start_trace", nil},
		{"performance_stop_trace", nil},
	} {
		mustTool(t, agent, read.tool, read.args)
	}
	for _, args := range []map[string]any{{"target": "button"}, {"fullPage": true}, {"fullPage": true, "clip": "0,0,9,9"}} {
		if _, err := tool(t, agent, "browser_take_screenshot", args); err == nil || !strings.Contains(err.Error(), `refused: the access mode of this window is "view"`) {
			t.Errorf("a screenshot with %v: %v", args, err)
		}
	}
	close(ask)
	select {
	case seen := <-noted:
		if len(seen) > 0 {
			t.Errorf("the page has noted %q", seen)
		}
	case <-time.After(time.Minute):
		t.Error("the page has not reported what it noted")
	}
}

// TestViewHoldsForTheWindowItself: an agent may work in its own browser, or in one that
// the user has named. The window's access mode still limits its actions on the window.
func TestViewHoldsForTheWindowItself(t *testing.T) {
	dir, shop := t.TempDir(), folder(t, "shop")
	own := host(t, dir, shop)
	mustTool(t, own, "browser_navigate", map[string]any{"url": servePage(t)})
	window := start(t, dir, "window", "--workspace", shop, "--headless", "--access", "view")
	attached := host(t, dir, shop, "--attach", window.first)
	for name, agent := range map[string]*mcp.ClientSession{"own": own, "attached": attached} {
		for tried, args := range map[string]map[string]any{
			"debug_evaluate": {"expression": "1"}, "debug_step": {"action": "continue"}, "debug_start": nil,
		} {
			if _, err := tool(t, agent, tried, args); err == nil || !strings.Contains(err.Error(), `refused: the access mode of this window is "view"`) {
				t.Errorf("%s: %s: %v", name, tried, err)
			}
		}
	}
	mustTool(t, own, "browser_evaluate", map[string]any{"function": "1"}) // its own browser asks no user
}

// TestConsentStaysInItsWindow: an action that the user allowed in one window does not
// run in another window, which opened while the user was asked.
func TestConsentStaysInItsWindow(t *testing.T) {
	e := openEditor(t, t.TempDir())
	dir, inner := filepath.Dir(os.Getenv("XDG_DATA_HOME")), filepath.Join(e.folder, "inner")
	if err := os.Mkdir(inner, 0o700); err != nil {
		t.Fatal(err)
	}
	session := host(t, dir, inner, "--no-launch")
	button := greetButton(t, session)
	e.allow(vscodeipc.AccessAsk)
	e.until(session, "[access: ask]")
	asking, decided := make(chan struct{}), make(chan struct{})
	e.on(vscodeipc.CommandPermissionAsk, func(vscodeipc.Call) (any, error) {
		close(asking)
		<-decided
		return vscodeipc.AskResult{Decision: "allow", Scope: "once"}, nil
	})
	clicked := make(chan error, 1)
	go func() {
		_, err := tool(t, session, "browser_click", button)
		clicked <- err
	}()
	<-asking
	start(t, dir, "window", "--workspace", inner, "--headless", "--access", "view")
	e.until(session, "* "+inner)
	close(decided)
	if err := <-clicked; err == nil || !strings.Contains(err.Error(), "another window is meant now") {
		t.Errorf("a click that was allowed in the other window: %v", err)
	}
}
