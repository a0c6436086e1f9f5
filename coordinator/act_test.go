package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const actPage = `<!doctype html><title>Acts</title>
<button onclick="const i = document.createElement('input'); i.type = 'file'; i.onchange = () => document.title = 'file ' + i.files[0].name; i.click()">Choose a file</button>
<div id=zone style="width: 200px; height: 100px" ondragover="event.preventDefault()"
  ondrop="event.preventDefault(); document.title = 'drop ' + (event.dataTransfer.files[0]?.name ?? event.dataTransfer.getData('text/plain'))">Zone</div>
<canvas id=canvas style="position: fixed; left: 300px; top: 200px" width=100 height=100 onclick="document.title = 'at ' + event.offsetX + ' ' + event.offsetY"></canvas>`

// The actions of an agent beside clicking and typing, as its host sees them.
func TestActs(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, actPage) }))
	t.Cleanup(server.Close)
	dir, shop := t.TempDir(), folder(t, "shop")
	for _, name := range []string{"photo.png", "../outside.png"} {
		if err := os.WriteFile(filepath.Join(shop, name), []byte("png"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../outside.png", filepath.Join(shop, "door.png")); err != nil {
		t.Fatal(err)
	}
	start(t, dir, "window", "--workspace", shop, "--headless")
	agent := host(t, dir, shop, "--caps", "vision")
	title := func(want string) {
		t.Helper()
		if got := mustTool(t, agent, "browser_evaluate", map[string]any{"function": "() => document.title"}); got != `"`+want+`"` {
			t.Errorf("the title is %s, want %s", got, want)
		}
	}
	mustTool(t, agent, "browser_navigate", map[string]any{"url": server.URL})

	clicked := mustTool(t, agent, "browser_click", map[string]any{"target": "button"})
	if !strings.Contains(clicked, "browser_file_upload") {
		t.Errorf("a click that opens a file chooser: %s", clicked)
	}
	mustTool(t, agent, "browser_file_upload", map[string]any{"paths": []string{"photo.png"}})
	title("file photo.png")
	for _, name := range []string{"../outside.png", "door.png", "/etc/passwd"} {
		for tool2, args := range map[string]map[string]any{
			"browser_file_upload": {"paths": []string{name}, "target": "button"},
			"browser_drop":        {"paths": []string{name}, "target": "#zone"},
		} {
			if _, err := tool(t, agent, tool2, args); err == nil || !strings.Contains(err.Error(), "out of bounds") {
				t.Errorf("%s of %s: %v", tool2, name, err)
			}
		}
	}
	mustTool(t, agent, "browser_drop", map[string]any{"target": "#zone", "paths": []string{"photo.png"}})
	title("drop photo.png")
	mustTool(t, agent, "browser_drop", map[string]any{"target": "#zone", "data": map[string]any{"text/plain": "words"}})
	title("drop words")
	mustTool(t, agent, "browser_mouse_click_xy", map[string]any{"x": 310, "y": 220})
	title("at 10 20")

	mustTool(t, agent, "browser_navigate", map[string]any{"url": server.URL + "/two"})
	for _, step := range []struct{ action, path string }{{"back", "/"}, {"forward", "/two"}, {"reload", "/two"}} {
		if got := mustTool(t, agent, "browser_navigate", map[string]any{"action": step.action}); !strings.Contains(got, "URL: "+server.URL+step.path) {
			t.Errorf("%s: %s", step.action, got)
		}
	}
	if _, err := tool(t, agent, "browser_navigate", map[string]any{"action": "back", "url": "x"}); err == nil {
		t.Error("two places to go to are no error")
	}
}

func TestEmulateFetchAndWait(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api":
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"cookie":"`+r.Header.Get("Cookie")+`","method":"`+r.Method+`"}`)
		case "/image":
			w.Header().Set("Content-Type", "image/png")
			w.Write([]byte{0x89, 'P', 'N', 'G', 0xff, 0})
		default:
			w.Header().Set("Set-Cookie", "a=b")
			io.WriteString(w, `<!doctype html><title>T</title><script>setTimeout(() => window.ready = true, 100)</script>`)
		}
	}))
	t.Cleanup(server.Close)
	dir, shop := t.TempDir(), folder(t, "shop")
	start(t, dir, "window", "--workspace", shop, "--headless")
	agent := host(t, dir, shop)
	mustTool(t, agent, "browser_navigate", map[string]any{"url": server.URL})
	mustTool(t, agent, "browser_wait_for", map[string]any{"expression": "window.ready", "networkIdle": true})
	if got := mustTool(t, agent, "browser_fetch", map[string]any{"url": "/api", "method": "POST", "body": "x"}); !strings.Contains(got, "200 OK (application/json,") || !strings.Contains(got, `{"cookie":"a=b","method":"POST"}`) {
		t.Errorf("fetch: %s", got)
	}
	if got := mustTool(t, agent, "browser_fetch", map[string]any{"url": "/image", "filename": "i.png"}); !strings.Contains(got, "i.png") {
		t.Errorf("fetch into a file: %s", got)
	}
	if data, err := os.ReadFile(savedIn(shop, "i.png")); err != nil || string(data) != "\x89PNG\xff\x00" {
		t.Errorf("the file holds %q, %v", data, err)
	}
	mustTool(t, agent, "browser_emulate", map[string]any{"viewport": "390x844x3,mobile", "colorScheme": "dark", "geolocation": "52.5, 13.4"})
	const believes = `() => [innerWidth, devicePixelRatio, matchMedia("(prefers-color-scheme: dark)").matches].join()`
	if got := mustTool(t, agent, "browser_evaluate", map[string]any{"function": believes}); got != `"980,3,true"` {
		t.Errorf("the page believes %s", got)
	}
	for _, bad := range []map[string]any{{}, {"viewport": "wide"}, {"viewport": "390x844x"}, {"geolocation": "here"}, {"media": "tv"}, {"colorScheme": "pink"}} {
		if _, err := tool(t, agent, "browser_emulate", bad); err == nil {
			t.Errorf("%v is no error", bad)
		}
	}
}

// The user's tab stays in front, whatever the agent does in another tab. Only an agent
// that requests it brings its own tab to the front.
func TestNeverStealsFocus(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `<!doctype html><title>`+r.URL.Path+`</title><input id=i><button onclick="window.open('/popup')">Open</button>`)
	}))
	t.Cleanup(server.Close)
	dir, shop := t.TempDir(), folder(t, "shop")
	start(t, dir, "window", "--workspace", shop, "--headless")
	user := host(t, dir, shop)
	mustTool(t, user, "browser_navigate", map[string]any{"url": server.URL + "/user"})
	user.Close() // a page has one agent
	agent := host(t, dir, shop)
	for _, act := range []struct {
		tool string
		args map[string]any
	}{
		{"browser_tabs", map[string]any{"action": "new", "url": server.URL + "/agent"}},
		{"browser_type", map[string]any{"target": "#i", "text": "words"}},
		{"browser_press_key", map[string]any{"key": "Tab"}},
		{"browser_hover", map[string]any{"target": "button"}},
		{"browser_navigate", map[string]any{"action": "reload"}},
		{"browser_emulate", map[string]any{"colorScheme": "dark"}},
		{"browser_take_screenshot", nil},
		{"browser_tabs", map[string]any{"action": "list"}},
	} {
		mustTool(t, agent, act.tool, act.args)
	}
	// The next client gets the tab in front.
	looks := host(t, dir, shop)
	if text := mustTool(t, looks, "browser_snapshot", nil); !strings.Contains(text, "URL: "+server.URL+"/user") {
		t.Errorf("in front is %s", text)
	}
	looks.Close()
	list := mustTool(t, agent, "browser_tabs", map[string]any{"action": "list"})
	mine := 0
	for i, line := range strings.Split(list, "\n") {
		if strings.Contains(line, "(current)") {
			mine = i
		}
	}
	mustTool(t, agent, "browser_tabs", map[string]any{"action": "select", "index": mine, "front": true})
	second := host(t, dir, shop)
	if text := mustTool(t, second, "browser_snapshot", nil); !strings.Contains(text, "Another agent works in the tab that the developer sees") {
		t.Errorf("the agent's tab is not in front: %s", text)
	}

	// The agent may close a tab that its action opened.
	if text := mustTool(t, agent, "browser_click", map[string]any{"target": "button"}); !strings.Contains(text, "A new tab opened") {
		t.Fatalf("a click that opens a tab: %s", text)
	}
	list = mustTool(t, agent, "browser_tabs", map[string]any{"action": "list"})
	for i, line := range strings.Split(list, "\n") {
		if !strings.Contains(line, "/agent") && !strings.Contains(line, "/user") && !strings.Contains(line, "about:blank") {
			mustTool(t, agent, "browser_tabs", map[string]any{"action": "close", "index": i})
			return
		}
	}
	t.Errorf("no tab was opened: %s", list)
}
