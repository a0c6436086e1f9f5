package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const samplePage = `<!doctype html><title>Sample</title>
<label>Name <input id=name></label>
<button onclick="document.title='Hello '+document.querySelector('#name').value; console.log('greeted', document.querySelector('#name').value)">Greet</button>`

func servePage(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, samplePage)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// The main job: an agent in a workspace's folder drives that window's browser, and
// another client sees the same page at the stable address.
func TestAgentDrivesItsWindow(t *testing.T) {
	dir, shop, other := t.TempDir(), folder(t, "shop"), folder(t, "other")
	url := servePage(t)
	shopWindow := start(t, dir, "window", "--workspace", shop, "--headless")
	otherWindow := start(t, dir, "window", "--workspace", other, "--headless")
	if shopWindow.first == otherWindow.first {
		t.Fatalf("both windows have the endpoint %s", shopWindow.first)
	}

	agent := host(t, dir, filepath.Join(shop, "src"), "--no-launch")
	list := mustTool(t, agent, "window_list", nil)
	if !regexp.MustCompile(`(?m)^\* .*shop `).MatchString(list) || !regexp.MustCompile(`(?m)^- .*other `).MatchString(list) {
		t.Errorf("window_list does not say which window is meant:\n%s", list)
	}
	if !strings.Contains(list, shopWindow.first) {
		t.Errorf("window_list does not give the endpoint %s:\n%s", shopWindow.first, list)
	}
	if text := mustTool(t, agent, "browser_navigate", map[string]any{"url": url}); !strings.Contains(text, "Sample") {
		t.Errorf("navigate: %s", text)
	}
	snapshot := mustTool(t, agent, "browser_snapshot", nil)
	mustTool(t, agent, "browser_type", map[string]any{"target": ref(t, snapshot, "textbox", "Name"), "text": "Ada"})
	mustTool(t, agent, "browser_click", map[string]any{"target": ref(t, snapshot, "button", "Greet")})
	if text := mustTool(t, agent, "browser_evaluate", map[string]any{"function": "() => document.title"}); text != `"Hello Ada"` {
		t.Errorf("evaluate: %s", text)
	}
	if text := mustTool(t, agent, "browser_console_messages", nil); !strings.Contains(text, "greeted Ada") {
		t.Errorf("console: %s", text)
	}
	mustTool(t, agent, "browser_take_screenshot", map[string]any{"filename": "src/shot.png"})

	if got := titles(t, shopWindow.first); len(got) != 1 || got[0] != "Hello Ada" {
		t.Errorf("at the endpoint of the window: pages %q", got)
	}
	if got := titles(t, otherWindow.first); len(got) != 1 || got[0] == "Hello Ada" {
		t.Errorf("at the endpoint of the other window: pages %q", got)
	}

	// An agent reaches the other window by its name.
	text := mustTool(t, agent, "browser_evaluate", map[string]any{"function": "() => location.href", "window": other})
	if text != `"about:blank"` {
		t.Errorf("the other window is at %s", text)
	}

	// When the window ends, the agent gets an error, and no other window is selected.
	shopWindow.stop(t)
	if _, err := tool(t, agent, "browser_snapshot", nil); err == nil || !strings.Contains(err.Error(), "no window fits") {
		t.Errorf("after the window's end: %v", err)
	}
	// When the window is back, the next call finds it at the same endpoint.
	again := start(t, dir, "window", "--workspace", shop, "--headless")
	if again.first != shopWindow.first {
		t.Errorf("the endpoint moved from %s to %s", shopWindow.first, again.first)
	}
	if text := mustTool(t, agent, "browser_evaluate", map[string]any{"function": "() => location.href"}); text != `"about:blank"` {
		t.Errorf("the new window is at %s", text)
	}
	if got := titles(t, again.first); len(got) != 1 {
		t.Errorf("at the endpoint after a restart: pages %q", got)
	}
}

func TestWindowsCommand(t *testing.T) {
	dir, shop := t.TempDir(), folder(t, "shop")
	w := start(t, dir, "window", "--workspace", shop, "--headless")
	out, err := command(t.Context(), t, dir, "windows", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Windows []struct {
			Workspace, Kind, Endpoint string
			PID                       int
			Browser                   struct{ URL, Product, Via string }
		}
	}
	if err := json.Unmarshal(out, &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Windows) != 1 {
		t.Fatalf("%d windows:\n%s", len(list.Windows), out)
	}
	got := list.Windows[0]
	if filepath.Base(got.Workspace) != "shop" || got.Kind != "terminal" || got.Endpoint != w.first || got.PID != w.cmd.Process.Pid {
		t.Errorf("%+v", got)
	}
	if got.Browser.Via != "launched" || !strings.Contains(got.Browser.Product, "Chrom") {
		t.Errorf("browser %+v", got.Browser)
	}
	if out, err := command(t.Context(), t, dir, "probe").Output(); err != nil || !strings.Contains(string(out), "\nlive") {
		t.Errorf("probe: %v\n%s", err, out)
	}
	var probed []struct {
		Address, Verdict, Reason, Version string
		Deleted                           bool
		Workspace                         *string
		Folders                           []string
		PID                               int
		Browser                           *struct{ URL, Product, Via string }
	}
	out, err = command(t.Context(), t, dir, "probe", "--json").Output()
	if err == nil {
		err = json.Unmarshal(out, &probed)
	}
	if err != nil || len(probed) != 1 {
		t.Fatalf("probe --json: %v\n%s", err, out)
	}
	if p := probed[0]; p.Verdict != "live" || p.Reason == "" || p.Deleted || p.Workspace == nil || *p.Workspace != got.Workspace ||
		len(p.Folders) != 1 || p.PID != got.PID || p.Version == "" || p.Browser == nil || p.Browser.Via != "launched" || p.Browser.URL == "" {
		t.Errorf("probe --json says %s", out)
	}
	out, err = command(t.Context(), t, dir, "endpoint", "--workspace", shop).Output()
	if err != nil || strings.TrimSpace(string(out)) != w.first {
		t.Errorf("endpoint: %q, %v; want %s", out, err, w.first)
	}
}

// Without any window the coordinator launches a browser of its own, and ends it with the
// host's session.
func TestAgentWithoutWindow(t *testing.T) {
	dir, shop := t.TempDir(), folder(t, "shop")
	agent := host(t, dir, shop)
	first := mustTool(t, agent, "browser_navigate", map[string]any{"url": servePage(t)})
	if !strings.Contains(first, "a browser of its own") || !strings.Contains(first, "Sample") {
		t.Errorf("the first answer does not say whose browser it is:\n%s", first)
	}
	if second := mustTool(t, agent, "browser_snapshot", nil); strings.Contains(second, "of its own") {
		t.Errorf("it says so more than once:\n%s", second)
	}
}

func TestAgentWithoutWindowOrLaunch(t *testing.T) {
	agent := host(t, t.TempDir(), folder(t, "shop"), "--no-launch")
	if _, err := tool(t, agent, "browser_snapshot", nil); err == nil || !strings.Contains(err.Error(), "no window is open") {
		t.Errorf("%v", err)
	}
	// Wrong arguments are rejected with the reason, and the session continues.
	if _, err := tool(t, agent, "browser_click", map[string]any{"target": "e1", "button": "thumb"}); err == nil || !strings.Contains(err.Error(), "want one of left, right, middle") {
		t.Errorf("%v", err)
	}
}

const formPage = `<!doctype html><title>Form</title>
<label>Name <input id=name></label>
<label>News <input type=checkbox id=news></label>
<label>Colour <select id=colour><option>red<option>blue</select></label>
<button onclick="document.title = confirm('Really?') ? 'yes' : 'no'">Ask</button>
<a href="/" target="_blank">Another</a>`

// Forms, dialogs that block, and tabs that belong to the developer.
func TestFormsDialogsAndTabs(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, formPage) }))
	t.Cleanup(server.Close)
	dir, shop := t.TempDir(), folder(t, "shop")
	start(t, dir, "window", "--workspace", shop, "--headless")
	agent := host(t, dir, shop)
	mustTool(t, agent, "browser_navigate", map[string]any{"url": server.URL})

	mustTool(t, agent, "browser_fill_form", map[string]any{"fields": []map[string]any{
		{"target": "#name", "type": "textbox", "value": "Ada"},
		{"target": "#news", "type": "checkbox", "value": "true"},
	}})
	mustTool(t, agent, "browser_select_option", map[string]any{"target": "#colour", "values": []string{"blue"}})
	state := mustTool(t, agent, "browser_evaluate", map[string]any{
		"function": `() => [document.querySelector("#name").value, document.querySelector("#news").checked, document.querySelector("#colour").value].join(" ")`,
	})
	if state != `"Ada true blue"` {
		t.Errorf("the form holds %s", state)
	}

	// A dialog ends the click with its text, and blocks until it is answered.
	snapshot := mustTool(t, agent, "browser_snapshot", nil)
	clicked := mustTool(t, agent, "browser_click", map[string]any{"target": ref(t, snapshot, "button", "Ask")})
	if !strings.Contains(clicked, `"Really?"`) {
		t.Errorf("the click does not tell of the dialog: %s", clicked)
	}
	if _, err := tool(t, agent, "browser_evaluate", map[string]any{"function": "() => 1"}); err == nil || !strings.Contains(err.Error(), "dialog") {
		t.Errorf("while the dialog is open: %v", err)
	}
	mustTool(t, agent, "browser_handle_dialog", map[string]any{"accept": true})
	if title := mustTool(t, agent, "browser_evaluate", map[string]any{"function": "() => document.title"}); title != `"yes"` {
		t.Errorf("after the dialog the title is %s", title)
	}

	// The agent cannot close the developer's tab. It can close its own.
	if _, err := tool(t, agent, "browser_tabs", map[string]any{"action": "close"}); err == nil || !strings.Contains(err.Error(), "developer's") {
		t.Errorf("closing the developer's tab: %v", err)
	}
	mustTool(t, agent, "browser_tabs", map[string]any{"action": "new", "url": server.URL})
	if list := mustTool(t, agent, "browser_tabs", map[string]any{"action": "list"}); strings.Count(list, "\n") != 1 {
		t.Errorf("not two tabs:\n%s", list)
	}
	mustTool(t, agent, "browser_tabs", map[string]any{"action": "close"})
	if list := mustTool(t, agent, "browser_tabs", map[string]any{"action": "list"}); strings.Count(list, "\n") != 0 || !strings.Contains(list, "(current)") {
		t.Errorf("the first tab is not the current one again:\n%s", list)
	}
}

const busyPage = `<!doctype html><title>Busy</title>
<input type=file id=file onchange="document.title = this.files[0].name">
<button onclick="fetch('/api/item?n=7', {method: 'POST', body: 'seven'}).then((r) => r.text()).then((t) => setTimeout(() => document.body.append(t), 50))">Load</button>`

func TestWaitNetworkAndFiles(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/item" {
			w.WriteHeader(http.StatusCreated)
			io.WriteString(w, "the seventh item")
			return
		}
		io.WriteString(w, busyPage)
	}))
	t.Cleanup(server.Close)
	dir, shop := t.TempDir(), folder(t, "shop")
	if err := os.WriteFile(filepath.Join(shop, "photo.png"), []byte("png"), 0o644); err != nil {
		t.Fatal(err)
	}
	start(t, dir, "window", "--workspace", shop, "--headless")
	agent := host(t, dir, shop)
	mustTool(t, agent, "browser_navigate", map[string]any{"url": server.URL})
	mustTool(t, agent, "browser_click", map[string]any{"target": "button"})
	mustTool(t, agent, "browser_wait_for", map[string]any{"text": "the seventh item"})

	list := mustTool(t, agent, "browser_network_requests", map[string]any{"filter": "/api/"})
	m := regexp.MustCompile(`(?m)^(\d+)\. POST .*/api/item\?n=7 => 201`).FindStringSubmatch(list)
	if m == nil {
		t.Fatalf("requests:\n%s", list)
	}
	index := atoi(t, m[1])
	whole := mustTool(t, agent, "browser_network_request", map[string]any{"index": index})
	if !strings.Contains(whole, "seven") || !strings.Contains(whole, "the seventh item") {
		t.Errorf("request:\n%s", whole)
	}
	if body := mustTool(t, agent, "browser_network_request", map[string]any{"index": index, "part": "response-body"}); body != "the seventh item" {
		t.Errorf("body: %q", body)
	}

	mustTool(t, agent, "browser_file_upload", map[string]any{"paths": []string{"photo.png"}, "target": "#file"})
	if title := mustTool(t, agent, "browser_evaluate", map[string]any{"function": "() => document.title"}); title != `"photo.png"` {
		t.Errorf("the page got %s", title)
	}
	if _, err := tool(t, agent, "browser_file_upload", map[string]any{"paths": []string{"/etc/passwd"}, "target": "#file"}); err == nil || !strings.Contains(err.Error(), "out of bounds") {
		t.Errorf("a file from elsewhere: %v", err)
	}
	mustTool(t, agent, "browser_resize", map[string]any{"width": 640, "height": 480})
	if size := mustTool(t, agent, "browser_evaluate", map[string]any{"function": "() => [innerWidth, innerHeight].join()"}); size != `"640,480"` {
		t.Errorf("the page is %s", size)
	}
}

// The endpoint is served before there is a window, and an early client waits for the
// window. When the coordinator ends, another takes over.
func TestServeWaitsForTheWindow(t *testing.T) {
	dir, shop := t.TempDir(), folder(t, "shop")
	serve := start(t, dir, "serve", "--workspace", shop)
	early := make(chan error, 1)
	go func() {
		got, err := askTitles(t.Context(), serve.first)
		if err == nil && len(got) != 1 {
			err = fmt.Errorf("it sees the pages %q", got)
		}
		early <- err
	}()
	window := start(t, dir, "window", "--workspace", shop, "--headless")
	if window.first != serve.first {
		t.Errorf("the window has the endpoint %s, not %s", window.first, serve.first)
	}
	if err := <-early; err != nil {
		t.Errorf("the client that came before the window: %v", err)
	}
	serve.stop(t)
	if got := titles(t, serve.first); len(got) != 1 {
		t.Errorf("after the first coordinator's end: pages %q", got)
	}
}
