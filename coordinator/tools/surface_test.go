package tools

import (
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// extra are our parameters that Playwright MCP does not have.
var extra = map[string][]string{
	"browser_navigate":        {"action"}, // chrome-devtools-mcp's way to go back, forward and reload
	"browser_snapshot":        {"filter", "diff", "page"},
	"browser_take_screenshot": {"clip", "marks", "quality"},
	"browser_find":            {"page", "scroll"},
	"browser_click":           {"position"},                     // Playwright's option
	"browser_hover":           {"position", "deltaX", "deltaY"}, // theirs of the wheel is a tool of its own
	"browser_drag":            {"offset"},
	// Answers that may be long have parts.
	"browser_console_messages": {"page"},
	"browser_evaluate":         {"page"},
	"browser_network_requests": {"page", "all", "failed"},
	"browser_network_request":  {"page"},
	"browser_wait_for":         {"url", "expression", "networkIdle", "new"},
	"browser_file_upload":      {"target"}, // theirs answers a file chooser that a click has opened
	"browser_handle_dialog":    {"time"},
	"browser_tabs":             {"front"},
	"browser_route":            {"abort", "times"},
}

// toolsOf are the tools of a set, or the default ones, with their parameters.
func toolsOf(t *testing.T, set string) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for _, tool := range listTools(t, connect(t, strings.Fields(set)...)) {
		properties, _ := tool.InputSchema.(map[string]any)["properties"].(map[string]any)
		found[tool.Name] = slices.Sorted(maps.Keys(properties))
	}
	if set != "" {
		for name := range toolsOf(t, "") {
			delete(found, name)
		}
	}
	return found
}

// Our tools have Playwright MCP's names and parameters. Our sets have every tool of its
// sets, with every parameter.
func TestToolsMatchPlaywrightMCP(t *testing.T) {
	data, err := os.ReadFile("testdata/playwright-mcp-0.0.83.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded struct {
		Tools map[string][]string
		Caps  map[string]map[string][]string
	}
	if err := json.Unmarshal(data, &recorded); err != nil {
		t.Fatal(err)
	}
	for _, set := range []string{"", "network", "pdf", "storage", "testing", "vision"} {
		theirs, ours := recorded.Tools, toolsOf(t, set)
		if len(ours) == 0 {
			t.Errorf("%q has no tools", set)
		}
		if set != "" {
			theirs = recorded.Caps[set]
			for tool, params := range theirs {
				for _, param := range params {
					if param != "element" && !slices.Contains(ours[tool], param) { // that is accepted, not listed
						t.Errorf("%s: %s lacks the parameter %s", set, tool, param)
					}
				}
			}
		}
		for tool, params := range ours {
			if Named(tool).Difference != "" || set == "" && !strings.HasPrefix(tool, "browser_") {
				continue
			}
			if _, known := theirs[tool]; !known {
				t.Errorf("%s: Playwright MCP has no such tool; ours alone are named window_*, debug_* or after the "+
					"user", tool)
			}
			for _, param := range params {
				if param != "window" && param != "tab" && param != "changes" && !slices.Contains(theirs[tool], param) &&
					!slices.Contains(extra[tool], param) {
					t.Errorf("%s: Playwright MCP has no parameter %s", tool, param)
				}
			}
		}
	}
}

// An agent pays for every character of the tool list in every conversation.
func TestToolListIsSmall(t *testing.T) {
	tools := rawToolList(t)
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
	session := connect(t)
	for _, tool := range listTools(t, session) {
		if tool.Name != "browser_fill_form" {
			continue
		}
		fields := tool.InputSchema.(map[string]any)["properties"].(map[string]any)["fields"].(map[string]any)
		if fields["type"] != "array" || fields["items"].(map[string]any)["type"] != "object" {
			t.Errorf("the fields of browser_fill_form: %v", fields)
		}
	}
	// An unknown parameter is still refused.
	res, err := session.CallTool(t.Context(),
		&mcp.CallToolParams{Name: "browser_click", Arguments: map[string]any{"target": "e1", "colour": "red"}})
	if err != nil || !res.IsError || !strings.Contains(res.Content[0].(*mcp.TextContent).Text, "colour") {
		t.Errorf("an unknown parameter: %+v %v", res, err)
	}
}

// Annotations are what a host shows its user before it runs a tool.
func TestAnnotations(t *testing.T) {
	tools := listTools(t, connect(t))
	type kind struct{ readOnly, destructive, idempotent, openWorld bool }
	is := func(hint *bool) bool { return hint == nil || *hint } // MCP's defaults
	known := map[string]kind{
		"window_list":      {readOnly: true},
		"browser_snapshot": {openWorld: true}, // it may write a file
		"pick_element":     {readOnly: true, openWorld: true},
		"browser_click":    {destructive: true, openWorld: true},
		"browser_evaluate": {destructive: true, openWorld: true},
		"browser_hover":    {idempotent: true, openWorld: true},
	}
	for _, tool := range tools {
		a := cmp.Or(tool.Annotations, &mcp.ToolAnnotations{}) // none are MCP's defaults
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

// Each set is small too: an agent pays for it once it is on.
func TestCapsAreOffByDefault(t *testing.T) {
	plain := rawToolList(t)
	for _, c := range Caps {
		tools := rawToolList(t, c.Name)
		size := 0
		for _, tool := range tools {
			size += len(tool)
		}
		for _, tool := range plain {
			size -= len(tool)
			if !slices.ContainsFunc(tools, func(other json.RawMessage) bool { return string(other) == string(tool) }) {
				t.Errorf("%s takes away or changes %s", c.Name, tool)
			}
		}
		t.Logf("%s: %d tools more, %d characters", c.Name, len(tools)-len(plain), size)
		if size > 6000 {
			t.Errorf("%s costs %d characters", c.Name, size)
		}
	}
}

func TestUnknownCap(t *testing.T) {
	if err := CheckCaps([]string{"storage", "cookies"}); err == nil || !strings.Contains(err.Error(), `"cookies"`) ||
		!strings.Contains(err.Error(), "storage") {
		t.Errorf("%v", err)
	}
	if err := CheckCaps(CapNames()); err != nil {
		t.Error(err)
	}
}
