//go:build unix

package tools

import (
	"context"
	"encoding/json"
	"io"
	"maps"
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

	"browser-coordinator/vscodeipc"
)

// serveSilentWindow serves a window on a folder that takes each command and never answers.
func serveSilentWindow(t *testing.T, dir string) {
	t.Helper()
	commands := map[string]vscodeipc.Handler{}
	for _, name := range []string{
		"debug.start", "debug.state", "debug.breakpoints", "debug.step", "debug.evaluate", "debug.stop",
		"editor.reveal", "pick.start", "review.present", "review.wait",
	} {
		commands[name] = func(ctx context.Context, _ vscodeipc.Call) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
	}
	window, err := vscodeipc.Serve(t.Context(), vscodeipc.ServerOptions{
		Workspace: dir, Folders: []string{dir}, Server: vscodeipc.ServerInfo{Name: "silent", Kind: "vscode"},
		Commands: commands, NoDeadline: slices.Collect(maps.Keys(commands)),
	})
	if err == nil {
		err = window.SetState(vscodeipc.State{Access: vscodeipc.Access{Mode: vscodeipc.AccessFull}})
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { window.Close(context.Background()) })
}

// atOnce are the tools that wait for no peer, or for none that may be silent.
var atOnce = []string{
	"browser_console_messages", "browser_network_requests", // recorded before
	"browser_handle_dialog",                    // no dialog is open
	"browser_stop_video", "browser_storyboard", // no video is being recorded
	"browser_hide_highlight",               // nothing is highlighted
	"browser_route_list", "browser_export", // the coordinator's own
	"window_list", // the windows' known state
}

// pageToolOffer is a page's offer of the tool that is the example of browser_page_tool.
const pageToolOffer = `<script>
document.modelContext.registerTool({ name: "add_to_cart", description: "Add an item", execute: () => "added" });
</script>`

// hush returns a session with every tool, a page, and a browser that is stopped: neither
// the browser nor the window responds to anything. The performance tools are recording,
// and there is a route.
func hush(t *testing.T) (server *Server, connect func(*mcp.ClientOptions) *mcp.ClientSession) {
	t.Helper()
	browser, dir := launchBrowser(t), t.TempDir()
	for _, name := range []string{"receipt.pdf", "storage-state.json"} { // of the examples
		text := `{"cookies": [], "origins": []}`
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "<!doctype html><input>"+pageToolOffer)
	}))
	t.Cleanup(func() { site.CloseClientConnections(); site.Close() })
	serveSilentWindow(t, dir)
	server = NewServer(attachedOptions(t, dir, browser, CapNames()...))
	return server, func(o *mcp.ClientOptions) *mcp.ClientSession {
		session, end := clientOf(t, server, o)
		t.Cleanup(end)
		for _, first := range []*mcp.CallToolParams{
			{Name: "browser_navigate", Arguments: map[string]any{"url": site.URL}},
			{Name: "browser_route", Arguments: map[string]any{"pattern": "**/never", "abort": "failed"}},
			{Name: "performance_start_trace"}, {Name: "performance_start_profile"},
			{Name: "performance_start_coverage"},
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
		args := json.RawMessage(Named(tool.Name).Example)
		if slices.Contains(atOnce, tool.Name) {
			if _, err := session.CallTool(t.Context(),
				&mcp.CallToolParams{Name: tool.Name, Arguments: args}); err != nil {
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
	session := connect(&mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context,
		req *mcp.ProgressNotificationClientRequest) {
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
		params := &mcp.CallToolParams{Name: tool.Name, Arguments: json.RawMessage(Named(tool.Name).Example)}
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
