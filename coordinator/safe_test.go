package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

const secretPage = `<!doctype html><title>Login</title>
<form onsubmit="event.preventDefault(); console.error('sent ' + pw.value); fetch('/login?pw=' + encodeURIComponent(pw.value)); document.title = 'Hello ' + user.value; history.replaceState(0, '', '?pw=' + encodeURIComponent(pw.value)); out.textContent = pw.value">
<label>User <input id=user></label><label>Password <input id=pw></label><button>Log in</button></form><output id=out></output>`

// An agent types secrets by name. It sees only their names wherever the page shows the
// values.
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
	saved, err := os.ReadFile(savedIn(shop, "page.md"))
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

// An agent stays within its origins, however a page tries to lead it away. Other
// clients' pages have no such limit.
func TestOrigins(t *testing.T) {
	var asked atomic.Int32
	forbidden := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
		w.Header().Set("Access-Control-Allow-Credentials", "true")
		io.WriteString(w, "<title>Forbidden</title>")
	}))
	t.Cleanup(forbidden.Close)
	allowed := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, forbidden.URL+"/redirected", http.StatusFound)
		case "/twice":
			http.Redirect(w, r, "/away", http.StatusFound)
		case "/data":
			io.WriteString(w, "data")
		default:
			io.WriteString(w, `<title>Allowed</title><a id=link href="`+forbidden.URL+`/link">link</a> <a id=away href="/away">away</a>
<button id=script onclick="location.href='`+forbidden.URL+`/script'">script</button> <button id=open onclick="window.open('`+forbidden.URL+`/popup')">open</button>`)
		}
	}))
	t.Cleanup(allowed.Close)
	dir, shop := t.TempDir(), folder(t, "shop")
	start(t, dir, "window", "--workspace", shop, "--headless")
	agent := host(t, dir, shop, "--allowed-origins", allowed.URL+";http://nobody.example")
	refused := func(name string, args map[string]any) {
		t.Helper()
		if text, err := tool(t, agent, name, args); err == nil || !strings.Contains(err.Error(), "--allowed-origins does not list it") {
			t.Errorf("%s %v: %s %v", name, args, text, err)
		}
	}
	stays := func() {
		t.Helper()
		if title := mustTool(t, agent, "browser_evaluate", map[string]any{"function": "() => document.title"}); title != `"Allowed"` {
			t.Errorf("the page is %s", title)
		}
	}
	mustTool(t, agent, "browser_navigate", map[string]any{"url": allowed.URL})
	refused("browser_navigate", map[string]any{"url": forbidden.URL})
	refused("browser_navigate", map[string]any{"url": allowed.URL + "/away"})
	refused("browser_navigate", map[string]any{"url": allowed.URL + "/twice"})
	stays()
	for _, target := range []string{"#link", "#away", "#script"} {
		if text := mustTool(t, agent, "browser_click", map[string]any{"target": target}); !strings.Contains(text, "A navigation was refused: "+forbidden.URL) {
			t.Errorf("%s: %s", target, text)
		}
		stays()
	}
	refused("browser_fetch", map[string]any{"url": forbidden.URL + "/fetch"})
	refused("browser_fetch", map[string]any{"url": "/away"})
	refused("browser_fetch", map[string]any{"url": "/twice"})
	if text := mustTool(t, agent, "browser_fetch", map[string]any{"url": "/data"}); !strings.Contains(text, "data") {
		t.Errorf("an allowed fetch: %s", text)
	}
	refused("browser_tabs", map[string]any{"action": "new", "url": forbidden.URL})
	if n := asked.Load(); n != 0 {
		t.Errorf("the forbidden server was asked %d times", n)
	}

	// A tab that the page itself opens is listed, but the agent cannot work in it.
	opened := mustTool(t, agent, "browser_click", map[string]any{"target": "#open"})
	if !strings.Contains(opened, "A new tab opened") {
		t.Errorf("a popup: %s", opened)
	}
	list := mustTool(t, agent, "browser_tabs", map[string]any{"action": "list"})
	for i, line := range strings.Split(list, "\n") {
		if !strings.Contains(line, "(current)") {
			mustTool(t, agent, "browser_tabs", map[string]any{"action": "select", "index": i})
		}
	}
	// The tab may still be loading. Then this call waits; otherwise it is refused.
	_, _ = tool(t, agent, "browser_wait_for", map[string]any{"url": forbidden.URL, "time": 5})
	for _, name := range []string{"browser_snapshot", "browser_take_screenshot", "browser_console_messages"} {
		if text, err := tool(t, agent, name, nil); err == nil || !strings.Contains(err.Error(), "out of bounds") {
			t.Errorf("%s of a forbidden tab: %s %v", name, text, err)
		}
	}
	// The agent can navigate it back, and other clients have no limit.
	mustTool(t, agent, "browser_navigate", map[string]any{"url": allowed.URL})
	other := host(t, dir, shop)
	if text := mustTool(t, other, "browser_tabs", map[string]any{"action": "new", "url": forbidden.URL}); !strings.Contains(text, "Forbidden") {
		t.Errorf("another agent: %s", text)
	}
}

// An agent opens no file that it may not read.
func TestFileAddresses(t *testing.T) {
	dir, shop := t.TempDir(), folder(t, "shop")
	for name, text := range map[string]string{"index.html": "<title>Inside</title>", "../outside.html": "<title>Outside</title>"} {
		if err := os.WriteFile(filepath.Join(shop, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	start(t, dir, "window", "--workspace", shop, "--headless")
	agent := host(t, dir, shop)
	if text := mustTool(t, agent, "browser_navigate", map[string]any{"url": "file://" + shop + "/index.html"}); !strings.Contains(text, "Inside") {
		t.Errorf("a file of the workspace: %s", text)
	}
	for _, address := range []string{"file:///etc/passwd", "FILE:///etc/passwd", "file://" + shop + "/../outside.html", "file://" + shop + "/%2e%2e/outside.html", "view-source:file:///etc/passwd", " file:///etc/passwd"} {
		for name, args := range map[string]map[string]any{"browser_navigate": {"url": address}, "browser_tabs": {"action": "new", "url": address}} {
			if text, err := tool(t, agent, name, args); err == nil || !strings.Contains(err.Error(), "out of bounds") {
				t.Errorf("%s %s: %s %v", name, address, text, err)
			}
		}
	}
}

func secretsFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "secrets.env")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// Blocked origins are not opened, followed or fetched. All others are.
func TestBlockedOrigins(t *testing.T) {
	var asked atomic.Int32
	blocked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("Access-Control-Allow-Origin", "*")
		io.WriteString(w, "<title>Blocked</title>")
	}))
	t.Cleanup(blocked.Close)
	open := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, blocked.URL+"/redirected", http.StatusFound)
		case "/near":
			http.Redirect(w, r, "/data", http.StatusFound)
		case "/data":
			io.WriteString(w, "data")
		default:
			io.WriteString(w, `<title>Open</title><a href="`+blocked.URL+`/link">link</a>`)
		}
	}))
	t.Cleanup(open.Close)
	dir, shop := t.TempDir(), folder(t, "shop")
	start(t, dir, "window", "--workspace", shop, "--headless")
	agent := host(t, dir, shop, "--blocked-origins", blocked.URL)
	if text := mustTool(t, agent, "browser_navigate", map[string]any{"url": open.URL}); !strings.Contains(text, "Open") {
		t.Errorf("what is not blocked: %s", text)
	}
	for _, c := range []struct{ tool, url string }{
		{"browser_navigate", blocked.URL},
		{"browser_navigate", open.URL + "/away"},
		{"browser_fetch", blocked.URL + "/fetch"},
		{"browser_fetch", "/away"},
	} {
		if text, err := tool(t, agent, c.tool, map[string]any{"url": c.url}); err == nil || !strings.Contains(err.Error(), "--blocked-origins") {
			t.Errorf("%s %s: %s %v", c.tool, c.url, text, err)
		}
	}
	if text := mustTool(t, agent, "browser_click", map[string]any{"target": "a"}); !strings.Contains(text, "A navigation was refused: "+blocked.URL) {
		t.Errorf("a link: %s", text)
	}
	if title := mustTool(t, agent, "browser_evaluate", map[string]any{"function": "() => document.title"}); title != `"Open"` {
		t.Errorf("the page is %s", title)
	}
	if text := mustTool(t, agent, "browser_fetch", map[string]any{"url": "/near"}); !strings.Contains(text, "data") {
		t.Errorf("a redirect to what is not blocked: %s", text)
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the blocked server was asked %d times", n)
	}
}
