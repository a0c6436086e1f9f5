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

const secretPage = `<!doctype html><title>Login</title>
<form onsubmit="event.preventDefault(); console.error('sent ' + pw.value); fetch('/login?pw=' + encodeURIComponent(pw.value)); document.title = 'Hello ' + user.value; history.replaceState(0, '', '?pw=' + encodeURIComponent(pw.value)); out.textContent = pw.value">
<label>User <input id=user></label><label>Password <input id=pw></label><button>Log in</button></form><output id=out></output>`

// An agent types secrets by their names, and sees nothing but their names,
// wherever the page shows the values.
func TestSecrets(t *testing.T) {
	const password, user = `p4 "ß&<x>`, "ada.lovelace"
	got := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/login" {
			got <- r.URL.Query().Get("pw")
			return
		}
		io.WriteString(w, secretPage)
	}))
	t.Cleanup(server.Close)
	dir, shop := t.TempDir(), folder(t, "shop")
	secrets := filepath.Join(t.TempDir(), "secrets.env")
	if err := os.WriteFile(secrets, []byte("# for the shop\nSHOP_PASSWORD='"+password+"'\nSHOP_USER="+user+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, dir, "window", "--workspace", shop, "--headless")
	agent := host(t, dir, shop, "--secrets", secrets)
	answers := []string{
		mustTool(t, agent, "browser_navigate", map[string]any{"url": server.URL}),
		mustTool(t, agent, "browser_type", map[string]any{"target": "#pw", "text": "SHOP_PASSWORD"}),
		mustTool(t, agent, "browser_fill_form", map[string]any{"fields": []map[string]any{{"target": "#user", "type": "textbox", "value": "SHOP_USER"}}}),
		mustTool(t, agent, "browser_click", map[string]any{"target": "button"}),
		mustTool(t, agent, "browser_snapshot", nil),
		mustTool(t, agent, "browser_evaluate", map[string]any{"function": "() => [user.value, pw.value]"}),
		mustTool(t, agent, "browser_console_messages", nil),
		mustTool(t, agent, "browser_network_requests", nil),
		mustTool(t, agent, "browser_tabs", map[string]any{"action": "list"}),
	}
	if sent := <-got; sent != password {
		t.Errorf("the page sent %q", sent)
	}
	_, err := tool(t, agent, "browser_evaluate", map[string]any{"function": "() => { throw new Error(pw.value) }"})
	if err == nil {
		t.Fatal("no error")
	}
	answers = append(answers, err.Error())
	mustTool(t, agent, "browser_snapshot", map[string]any{"filename": "page.md"})
	saved, err := os.ReadFile(filepath.Join(shop, "page.md"))
	if err != nil {
		t.Fatal(err)
	}
	answers = append(answers, string(saved))
	for i, text := range answers {
		for _, form := range []string{password, user, `p4 \"`, "p4%20", "p4+"} {
			if strings.Contains(text, form) {
				t.Errorf("answer %d holds %q:\n%s", i, form, text)
			}
		}
	}
	if all := strings.Join(answers, "\n"); strings.Count(all, "<secret>SHOP_PASSWORD</secret>") < 6 || !strings.Contains(all, "<secret>SHOP_USER</secret>") {
		t.Errorf("the names are not where the values were:\n%s", all)
	}
}
