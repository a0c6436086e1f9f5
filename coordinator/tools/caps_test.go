package tools

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// theirCaps are the tools and parameters of Playwright MCP's sets.
func theirCaps(t *testing.T) map[string]map[string][]string {
	t.Helper()
	data, err := os.ReadFile("testdata/playwright-mcp-0.0.83.json")
	if err != nil {
		t.Fatal(err)
	}
	var theirs struct {
		Caps map[string]map[string][]string
	}
	if err := json.Unmarshal(data, &theirs); err != nil {
		t.Fatal(err)
	}
	return theirs.Caps
}

// moreInCaps are our parameters that Playwright MCP's tools do not have.
var moreInCaps = map[string][]string{
	"browser_route": {"abort", "fromServer", "method", "replace", "requestBody", "times"},
}

// capTools are the tools of each set, with their parameters.
func capTools(t *testing.T, name string) map[string][]string {
	t.Helper()
	base := Options{Windows: noWindows{}, Dir: t.TempDir(), Version: "test"}
	found := map[string][]string{}
	with := base
	with.Caps = []string{name}
	for _, tool := range listTools(t, connect(t, with)) {
		properties, _ := tool.InputSchema.(map[string]any)["properties"].(map[string]any)
		found[tool.Name] = slices.Sorted(maps.Keys(properties))
	}
	for _, tool := range listTools(t, connect(t, base)) {
		delete(found, tool.Name)
	}
	return found
}

// Our sets have every tool of Playwright MCP's sets, with its parameters.
func TestCapsMatchPlaywrightMCP(t *testing.T) {
	for _, name := range []string{
		capNetwork,
		capPDF,
		capStorage,
		capTesting,
		capVision,
	} {
		theirs, ours := theirCaps(t)[name], capTools(t, name)
		for tool, params := range theirs {
			for _, param := range params {
				if !slices.Contains(ours[tool], param) {
					t.Errorf("%s: %s lacks the parameter %s", name, tool, param)
				}
			}
		}
		for tool, params := range ours {
			if _, known := theirs[tool]; !known {
				t.Errorf("%s: Playwright MCP has no tool %s", name, tool)
			}
			for _, param := range params {
				if param != "window" && !slices.Contains(theirs[tool], param) && !slices.Contains(moreInCaps[tool], param) {
					t.Errorf("%s: Playwright MCP's %s has no parameter %s", name, tool, param)
				}
			}
		}
	}
}

// Each set is small too: an agent pays for it once it is on.
func TestCapsAreOffByDefault(t *testing.T) {
	plain := rawToolList(t, Options{Windows: noWindows{}, Dir: t.TempDir(), Version: "test"})
	for _, c := range Caps() {
		tools := rawToolList(t, Options{Windows: noWindows{}, Dir: t.TempDir(), Version: "test", Caps: []string{c.Name}})
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
	if err := CheckCaps([]string{"storage", "cookies"}); err == nil || !strings.Contains(err.Error(), `"cookies"`) || !strings.Contains(err.Error(), "storage") {
		t.Errorf("%v", err)
	}
	for _, c := range Caps() {
		if err := CheckCaps([]string{c.Name}); err != nil {
			t.Error(err)
		}
	}
}
