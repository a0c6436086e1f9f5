package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/registry"
)

// noWindows is a machine without a window.
type noWindows struct{}

func (noWindows) List(context.Context) (registry.Listing, error) { return registry.Listing{}, nil }

func (noWindows) Call(context.Context, registry.Window, string, any, any) error { return nil }

func (noWindows) Source(string) *registry.Source { return nil }

func (noWindows) Resolve(_ context.Context, want registry.Want) (registry.Window, []registry.Candidate, error) {
	return registry.Window{}, nil, &registry.SelectionError{Looked: want.Dir}
}

func (noWindows) Changed() <-chan struct{} { return nil }

// connect runs a server and returns a client of it.
func connect(t *testing.T, o Options) *mcp.ClientSession {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	here, there := mcp.NewInMemoryTransports()
	ended := make(chan error, 1)
	go func() { ended <- NewServer(o).Run(ctx, there) }()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(ctx, here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session.Close()
		<-ended
		cancel()
	})
	return session
}

func listTools(t *testing.T, session *mcp.ClientSession) []*mcp.Tool {
	t.Helper()
	var tools []*mcp.Tool
	for tool, err := range session.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		tools = append(tools, tool)
	}
	return tools
}

// extra are our parameters that Playwright MCP does not have.
var extra = map[string][]string{
	"browser_navigate":        {"action"}, // chrome-devtools-mcp's way to go back, forward and reload
	"browser_snapshot":        {"filter", "diff", "page"},
	"browser_take_screenshot": {"clip", "quality"},
	"browser_find":            {"page"},
	// Answers that may be long have parts.
	"browser_console_messages": {"page"},
	"browser_evaluate":         {"page"},
	"browser_network_requests": {"page"},
	"browser_network_request":  {"page"},
	"browser_wait_for":         {"url", "expression", "networkIdle"},
	"browser_file_upload":      {"target"}, // theirs answers a file chooser that a click has opened
	"browser_tabs":             {"front"},
}

// alone are tools without an equivalent, or without exactly one, in Playwright MCP.
var alone = map[string]string{
	"browser_emulate":  "theirs, browser_emulate_media, is a part of it, by the same parameters",
	"browser_fetch":    "theirs run code of their own for it",
	"browser_markdown": "theirs has only the snapshot to read a page",
	"browser_dom":      "theirs run code of their own for it",
}

func TestToolsMatchPlaywrightMCP(t *testing.T) {
	data, err := os.ReadFile("testdata/playwright-mcp-0.0.83.json")
	if err != nil {
		t.Fatal(err)
	}
	var theirs struct{ Tools map[string][]string }
	if err := json.Unmarshal(data, &theirs); err != nil {
		t.Fatal(err)
	}
	tools := listTools(t, connect(t, Options{Windows: noWindows{}, Dir: t.TempDir(), Version: "test"}))
	if len(tools) < 8 {
		t.Errorf("only %d tools are there from the first message", len(tools))
	}
	for _, tool := range tools {
		if !strings.HasPrefix(tool.Name, "browser_") || alone[tool.Name] != "" {
			continue
		}
		params, known := theirs.Tools[tool.Name]
		if !known {
			t.Errorf("%s: Playwright MCP has no such tool; ours alone are named window_*, debug_* or after the user", tool.Name)
		}
		schema := tool.InputSchema.(map[string]any)
		for name := range schema["properties"].(map[string]any) {
			if name != "window" && !slices.Contains(params, name) && !slices.Contains(extra[tool.Name], name) {
				t.Errorf("%s: Playwright MCP has no parameter %s", tool.Name, name)
			}
		}
	}
}

// An agent pays for every character of the tool list in every conversation.
func TestToolListIsSmall(t *testing.T) {
	tools := rawToolList(t, Options{Windows: noWindows{}, Dir: t.TempDir(), Version: "test"})
	all := 0
	for _, tool := range tools {
		t.Logf("%4d %s", len(tool), tool)
		all += len(tool) + 1
	}
	const most = 16_000
	if all > most {
		t.Errorf("the tool list has %d characters, more than %d", all, most)
	}
	t.Logf("%d tools, %d characters", len(tools), all)
}

// The list leaves out only what its reader assumes anyway.
func TestShortListMeansTheSame(t *testing.T) {
	short := map[string]*mcp.Tool{}
	for _, tool := range listTools(t, connect(t, Options{Windows: noWindows{}, Dir: t.TempDir(), Version: "test"})) {
		short[tool.Name] = tool
	}
	if hints := short["window_list"].Annotations; hints == nil || !hints.ReadOnlyHint {
		t.Errorf("window_list: %+v", hints)
	}
	if hints := short["browser_snapshot"].Annotations; hints == nil || hints.ReadOnlyHint || hints.DestructiveHint == nil || *hints.DestructiveHint {
		t.Errorf("browser_snapshot: %+v", hints)
	}
	if hints := short["browser_evaluate"].Annotations; hints != nil && (hints.ReadOnlyHint || hints.IdempotentHint || hints.DestructiveHint != nil || hints.OpenWorldHint != nil) {
		t.Errorf("browser_evaluate: %+v", hints)
	}
	fields := short["browser_fill_form"].InputSchema.(map[string]any)["properties"].(map[string]any)["fields"].(map[string]any)
	if fields["type"] != "array" || fields["items"].(map[string]any)["type"] != "object" {
		t.Errorf("the fields of browser_fill_form: %v", fields)
	}
	// An unknown parameter is still refused.
	session := connect(t, Options{Windows: noWindows{}, Dir: t.TempDir(), Version: "test"})
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "browser_click", Arguments: map[string]any{"target": "e1", "colour": "red"}})
	if err != nil || !res.IsError || !strings.Contains(res.Content[0].(*mcp.TextContent).Text, "colour") {
		t.Errorf("an unknown parameter: %+v %v", res, err)
	}
}

// rawToolList is tools/list as it is sent.
func rawToolList(t *testing.T, o Options) []json.RawMessage {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	here, there := mcp.NewInMemoryTransports()
	ended := make(chan error, 1)
	go func() { ended <- NewServer(o).Run(ctx, there) }()
	var wire bytes.Buffer
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, &mcp.LoggingTransport{Transport: here, Writer: &wire}, nil)
	if err != nil {
		t.Fatal(err)
	}
	listTools(t, session)
	session.Close()
	<-ended
	cancel()
	for line := range strings.Lines(wire.String()) {
		var m struct {
			Result struct{ Tools []json.RawMessage }
		}
		_, message, _ := strings.Cut(line, "{")
		if err := json.Unmarshal([]byte("{"+message), &m); err == nil && len(m.Result.Tools) > 0 {
			return m.Result.Tools
		}
	}
	t.Fatalf("no list in:\n%s", &wire)
	return nil
}

// Annotations are what a host shows its user before it runs a tool.
func TestAnnotations(t *testing.T) {
	tools := listTools(t, connect(t, Options{Windows: noWindows{}, Dir: t.TempDir(), Version: "test"}))
	type kind struct{ readOnly, destructive, idempotent, openWorld bool }
	is := func(hint *bool) bool { return hint == nil || *hint } // MCP's defaults
	known := map[string]kind{
		"window_list":      {readOnly: true},
		"browser_snapshot": {openWorld: true}, // it may write a file
		"pick_element":     {readOnly: true, openWorld: true},
		"browser_click":    {destructive: true, openWorld: true},
		"browser_hover":    {idempotent: true, openWorld: true},
	}
	for _, tool := range tools {
		a := tool.Annotations
		if a == nil {
			t.Errorf("%s has no annotations", tool.Name)
			continue
		}
		got := kind{readOnly: a.ReadOnlyHint, openWorld: is(a.OpenWorldHint)}
		if !a.ReadOnlyHint { // the other two mean nothing for a read-only tool
			got.destructive, got.idempotent = is(a.DestructiveHint), a.IdempotentHint
		}
		if want, listed := known[tool.Name]; listed && got != want {
			t.Errorf("%s: %+v, want %+v", tool.Name, got, want)
		}
		if (strings.HasPrefix(tool.Name, "browser_") || tool.Name == "pick_element") != got.openWorld {
			t.Errorf("%s: openWorld %v", tool.Name, got.openWorld)
		}
	}
}
