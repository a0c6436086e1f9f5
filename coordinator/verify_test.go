package main

import (
	"strings"
	"testing"
)

func TestTestingTools(t *testing.T) {
	dir, shop := t.TempDir(), folder(t, "shop")
	start(t, dir, "window", "--workspace", shop, "--headless")
	agent := host(t, dir, shop, "--caps", "testing")
	mustTool(t, agent, "browser_navigate", map[string]any{"url": servePage(t)})
	text := mustTool(t, agent, "browser_verify_element_visible", map[string]any{"role": "textbox", "accessibleName": "Name"})
	target := ref(t, text, "textbox", "Name")
	mustTool(t, agent, "browser_type", map[string]any{"target": target, "text": "Ada"})
	if text := mustTool(t, agent, "browser_verify_value", map[string]any{"type": "textbox", "element": "Name", "target": target, "value": "Ada"}); text != "Yes." {
		t.Errorf("%s", text)
	}
	mustTool(t, agent, "browser_verify_text_visible", map[string]any{"text": "greet"})
	mustTool(t, agent, "browser_verify_list_visible", map[string]any{"element": "page", "target": "body", "items": []string{"Name", "Greet"}})
	if text := mustTool(t, agent, "browser_generate_locator", map[string]any{"target": "button"}); text != "getByRole('button', { name: 'Greet' })" {
		t.Errorf("%s", text)
	}
	for _, c := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"browser_verify_element_visible", map[string]any{"role": "link", "accessibleName": "Greet"}, `no link "Greet" is shown`},
		{"browser_verify_text_visible", map[string]any{"text": "absent"}, `the text "absent" is not shown`},
		{"browser_verify_list_visible", map[string]any{"target": "body", "items": []string{"Greet", "absent"}}, `body does not show ["absent"]`},
		{"browser_verify_value", map[string]any{"type": "textbox", "target": target, "value": "Bob"}, `holds "Ada", not "Bob"`},
		{"browser_verify_value", map[string]any{"type": "number", "target": target, "value": "Bob"}, "want one of textbox"},
	} {
		if _, err := tool(t, agent, c.tool, c.args); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %s", c.tool, err, c.want)
		}
	}
}
