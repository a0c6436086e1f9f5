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

// What an agent does beside clicking and typing, as its host sees it.
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
