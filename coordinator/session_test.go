package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/remote"
	"github.com/modelcontextprotocol/go-sdk/mcp"
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

// running is a coordinator command in the foreground of its own process.
type running struct {
	cmd    *exec.Cmd
	first  string // the first line that it printed
	stderr *bytes.Buffer
}

// start runs a command until the test ends, and waits for its first line.
func start(t *testing.T, dir string, args ...string) *running {
	t.Helper()
	r := &running{cmd: command(context.Background(), t, dir, args...), stderr: new(bytes.Buffer)}
	r.cmd.Stderr = r.stderr
	stdout, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.stop(t) })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("%v ended before it was ready: %v\n%s", args, err, r.stderr)
	}
	r.first = strings.TrimSpace(line)
	return r
}

// stop interrupts the command as a person does, and demands a clean end.
func (r *running) stop(t *testing.T) {
	t.Helper()
	if r.cmd.ProcessState != nil {
		return
	}
	r.cmd.Process.Signal(os.Interrupt)
	timer := time.AfterFunc(10*time.Second, func() { r.cmd.Process.Kill() })
	defer timer.Stop()
	if err := r.cmd.Wait(); err != nil {
		t.Errorf("%v ended with %v\n%s", r.cmd.Args, err, r.stderr)
	}
}

// host starts the coordinator as an MCP host does.
func host(t *testing.T, dir, workspace string, args ...string) *mcp.ClientSession {
	t.Helper()
	return hostWith(t, nil, "", dir, workspace, args...)
}

// hostWith is a host that speaks that version of the protocol, empty: the newest.
func hostWith(t *testing.T, options *mcp.ClientOptions, protocol, dir, workspace string, args ...string) *mcp.ClientSession {
	t.Helper()
	cmd := command(context.Background(), t, dir, append([]string{"mcp"}, args...)...)
	cmd.Cancel = nil
	cmd.Dir = workspace
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	client := mcp.NewClient(&mcp.Implementation{Name: "test-host", Version: "1"}, options)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, &mcp.ClientSessionOptions{ProtocolVersion: protocol})
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Errorf("the coordinator ended with %v\n%s", err, &stderr)
		}
	})
	return session
}

// tool calls a tool and gives its text; an error of the tool comes as one.
func tool(t *testing.T, session *mcp.ClientSession, name string, args map[string]any) (string, error) {
	t.Helper()
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var text strings.Builder
	for _, c := range res.Content {
		if c, ok := c.(*mcp.TextContent); ok {
			text.WriteString(c.Text)
		}
	}
	if res.IsError {
		return "", fmt.Errorf("%s", text.String())
	}
	return text.String(), nil
}

func mustTool(t *testing.T, session *mcp.ClientSession, name string, args map[string]any) string {
	t.Helper()
	text, err := tool(t, session, name, args)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return text
}

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func ref(t *testing.T, snapshot, role, name string) string {
	t.Helper()
	m := regexp.MustCompile(role + ` "` + name + `".*?\[ref=([^\]]+)\]`).FindStringSubmatch(snapshot)
	if m == nil {
		t.Fatalf("no %s %q in\n%s", role, name, snapshot)
	}
	return m[1]
}

// titles asks an endpoint with chromedp for the titles of its pages.
func titles(t *testing.T, endpoint string) []string {
	t.Helper()
	titles, err := askTitles(t.Context(), endpoint)
	if err != nil {
		t.Fatalf("chromedp at %s: %v", endpoint, err)
	}
	return titles
}

func askTitles(ctx context.Context, endpoint string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	ctx, cancelAllocator := remote.NewAllocator(ctx, endpoint)
	defer cancelAllocator()
	ctx, cancelBrowser := chromedp.NewContext(ctx)
	defer cancelBrowser()
	targets, err := chromedp.Targets(ctx)
	if err != nil {
		return nil, err
	}
	var titles []string
	for _, target := range targets {
		if target.Type == "page" {
			titles = append(titles, target.Title)
		}
	}
	return titles, nil
}

func folder(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.MkdirAll(filepath.Join(dir, "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// The main job: an agent in a workspace's folder drives that window's browser,
// and another client sees the same page at the stable address.
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

	// The other window is there for who asks for it by name.
	text := mustTool(t, agent, "browser_evaluate", map[string]any{"function": "() => location.href", "window": other})
	if text != `"about:blank"` {
		t.Errorf("the other window is at %s", text)
	}

	// When the window ends, the agent is told, and no other window is taken.
	shopWindow.stop(t)
	if _, err := tool(t, agent, "browser_snapshot", nil); err == nil || !strings.Contains(err.Error(), "no window fits") {
		t.Errorf("after the window's end: %v", err)
	}
	// And when it is back, the next call finds it, at the same endpoint.
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

// With no window at all the coordinator launches a browser of its own, and
// ends it when the host goes.
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
	// Wrong arguments are refused with the reason, and the session goes on.
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

// What is open, what blocks and what belongs to the developer.
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

	// The developer's tab is not the agent's to close; one of its own is.
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

// The endpoint is served before there is a window, and a client that comes
// early waits for it; another coordinator takes over when the first ends.
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
