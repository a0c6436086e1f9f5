//go:build unix

package tools

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/registry"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/internal/pagetest"
	"browser-coordinator/vscodeipc"
)

// silentWindow is a window that never answers a command: a real one would have to be
// stopped in the middle of each.
type silentWindow struct{ noWindows }

func (silentWindow) Resolve(context.Context, registry.Want) (registry.Window, []registry.Candidate, error) {
	commands := []string{"debug.start", "debug.state", "debug.breakpoints", "debug.step", "debug.evaluate", "debug.stop", "editor.reveal", "pick.start", "review.present", "review.wait"}
	state := vscodeipc.State{Access: vscodeipc.Access{Mode: vscodeipc.AccessFull}}
	return registry.Window{Kind: "vscode", Commands: commands, State: state}, nil, nil
}

func (silentWindow) Call(ctx context.Context, _ registry.Window, _ string, _, _ any) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// everyTool has arguments with which each tool does its usual work.
var everyTool = map[string]map[string]any{
	"browser_click":               {"target": "#field"},
	"browser_console_messages":    {},
	"browser_dom":                 {},
	"browser_drag":                {"startTarget": "#field", "endTarget": "#box"},
	"browser_drop":                {"target": "#field", "data": map[string]any{"text/plain": "x"}},
	"browser_emulate":             {"colorScheme": "dark"},
	"browser_evaluate":            {"function": "() => 1"},
	"browser_fetch":               {"url": "/"},
	"browser_file_upload":         {"target": "#file", "paths": []string{"file.txt"}},
	"browser_fill_form":           {"fields": []map[string]any{{"target": "#field", "type": "textbox", "value": "x"}}},
	"browser_find":                {"text": "x"},
	"browser_handle_dialog":       {"accept": true},
	"browser_hover":               {"target": "#field"},
	"browser_markdown":            {},
	"browser_navigate":            {"url": "about:blank"},
	"browser_network_request":     {"index": 1},
	"browser_network_requests":    {},
	"browser_press_key":           {"key": "a"},
	"browser_select_option":       {"target": "select", "values": []string{"a"}},
	"browser_snapshot":            {},
	"browser_steps":               {"steps": []map[string]any{{"action": "click", "target": "#field"}}},
	"browser_tabs":                {"action": "list"},
	"browser_take_screenshot":     {},
	"browser_type":                {"target": "#field", "text": "x"},
	"browser_wait_for":            {"text": "never there"},
	"debug_breakpoints":           {"action": "list"},
	"debug_evaluate":              {"expression": "1"},
	"debug_start":                 {"url": "about:blank"},
	"debug_state":                 {},
	"debug_step":                  {"action": "over"},
	"debug_stop":                  {"session": "x"},
	"pick_element":                {},
	"present_review":              {"markdown": "x"},
	"reveal_source":               {"path": "file.txt"},
	"window_list":                 {},
	"browser_route":               {"pattern": "**", "abort": "failed"},
	"browser_route_list":          {},
	"browser_unroute":             {},
	"browser_network_state_set":   {"state": "offline"},
	"browser_pdf_save":            {},
	"performance_start_trace":     {},
	"performance_stop_trace":      {},
	"performance_heap_snapshot":   {},
	"performance_start_profile":   {},
	"performance_stop_profile":    {},
	"performance_start_coverage":  {},
	"performance_stop_coverage":   {},
	"browser_cookie_list":         {},
	"browser_cookie_get":          {"name": "x"},
	"browser_cookie_set":          {"name": "x", "value": "y"},
	"browser_cookie_delete":       {"name": "x"},
	"browser_cookie_clear":        {},
	"browser_localstorage_list":   {},
	"browser_localstorage_get":    {"key": "x"},
	"browser_localstorage_set":    {"key": "x", "value": "y"},
	"browser_localstorage_delete": {"key": "x"},
	"browser_localstorage_clear":  {},
	"browser_sessionstorage_list": {},
	"browser_sessionstorage_get":  {"key": "x"},
	"browser_sessionstorage_set":  {"key": "x", "value": "y"},

	"browser_sessionstorage_delete":  {"key": "x"},
	"browser_sessionstorage_clear":   {},
	"browser_storage_state":          {},
	"browser_set_storage_state":      {"filename": "state.json"},
	"browser_verify_element_visible": {"role": "textbox", "accessibleName": "x"},
	"browser_verify_text_visible":    {"text": "x"},
	"browser_verify_list_visible":    {"target": "select", "items": []string{"x"}},
	"browser_verify_value":           {"target": "#field", "type": "textbox", "value": "x"},
	"browser_generate_locator":       {"target": "#field"},
	"browser_export":                 {},
	"browser_mouse_move_xy":          {"x": 5, "y": 5},
	"browser_mouse_click_xy":         {"x": 5, "y": 5},
	"browser_mouse_drag_xy":          {"startX": 5, "startY": 5, "endX": 9, "endY": 9},
	"browser_mouse_down":             {},
	"browser_mouse_up":               {},
	"browser_mouse_wheel":            {"deltaY": 5},
}

// atOnce are the tools that wait for no peer, or for none that may be silent.
var atOnce = []string{
	"browser_console_messages", "browser_network_requests", // recorded before
	"browser_handle_dialog",                // no dialog is open
	"browser_route_list", "browser_export", // the coordinator's own
	"window_list", // the windows' known state
}

// hush returns a session with every tool, a page, and a browser that is stopped: neither
// the browser nor the window responds to anything. The performance tools are recording,
// and there is a route.
func hush(t *testing.T) (server *Server, connect func(*mcp.ClientOptions) *mcp.ClientSession) {
	t.Helper()
	browser, dir := launchBrowser(t), t.TempDir()
	for name, text := range map[string]string{"file.txt": "x", "state.json": `{"cookies": [], "origins": []}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "<!doctype html><input id=field><input id=file type=file><div id=box>box</div><select><option>a</select>")
	}))
	t.Cleanup(func() { site.CloseClientConnections(); site.Close() })
	server = NewServer(Options{Options: agent.Options{Windows: silentWindow{}, Dir: dir, Launcher: pagetest.Attached(t, browser.URL()), Attached: true}, Version: "test", Caps: CapNames()})
	return server, func(o *mcp.ClientOptions) *mcp.ClientSession {
		session, end := clientOf(t, server, o)
		t.Cleanup(end)
		for _, first := range []*mcp.CallToolParams{
			{Name: "browser_navigate", Arguments: map[string]any{"url": site.URL}},
			{Name: "browser_route", Arguments: map[string]any{"pattern": "**/never", "abort": "failed"}},
			{Name: "performance_start_trace"}, {Name: "performance_start_profile"}, {Name: "performance_start_coverage"},
		} {
			if res, err := session.CallTool(t.Context(), first); err != nil || res.IsError {
				t.Fatalf("%s: %+v %v", first.Name, res, err)
			}
		}
		// The browser is the leader of its own group; only the browser is stopped.
		if err := syscall.Kill(-browser.PID(), syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { syscall.Kill(-browser.PID(), syscall.SIGCONT) })
		return session
	}
}

// Every tool ends within 100 ms when the host cancels the call, while neither the browser
// nor the window responds.
func TestEveryToolCanBeCancelled(t *testing.T) {
	server, connect := hush(t)
	calls := timeRequests(server, "tools/call")
	session := connect(nil)
	tools := listTools(t, session)
	// Recordings are stopped before they are started again.
	slices.SortStableFunc(tools, func(x, y *mcp.Tool) int {
		starts := func(tool *mcp.Tool) int { return strings.Count(tool.Name, "performance_start_") }
		return starts(x) - starts(y)
	})
	for _, tool := range tools {
		args, known := everyTool[tool.Name]
		if !known {
			t.Errorf("%s is not in the table", tool.Name)
			continue
		}
		if slices.Contains(atOnce, tool.Name) {
			if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool.Name, Arguments: args}); err != nil {
				t.Errorf("%s: %v", tool.Name, err)
			}
			continue
		}
		calls.atOnceWhenCancelled(t, tool.Name, func(ctx context.Context) {
			session.CallTool(ctx, &mcp.CallToolParams{Name: tool.Name, Arguments: args})
		})
	}
}

// Every tool that runs for longer than a second reports its progress to a host that
// requests it.
func TestEveryToolReportsItsProgress(t *testing.T) {
	reported := make(chan any, 1000)
	_, connect := hush(t)
	session := connect(&mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
		reported <- req.Params.ProgressToken
	}})
	ctx, cancel := context.WithCancel(t.Context())
	var calls sync.WaitGroup
	defer calls.Wait()
	defer cancel()
	silent := map[any]bool{}
	for _, tool := range listTools(t, session) {
		// A recording that runs already is not started again.
		if slices.Contains(atOnce, tool.Name) || strings.HasPrefix(tool.Name, "performance_start_") {
			continue
		}
		silent[tool.Name] = true
		params := &mcp.CallToolParams{Name: tool.Name, Arguments: everyTool[tool.Name]}
		params.SetProgressToken(tool.Name)
		calls.Go(func() { session.CallTool(ctx, params) })
	}
	for timeout := time.After(time.Minute); len(silent) > 0; {
		select {
		case name := <-reported:
			delete(silent, name)
		case <-timeout:
			t.Fatalf("no progress of %v", silent)
		}
	}
}
