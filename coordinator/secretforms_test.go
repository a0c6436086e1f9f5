package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A secret stands nowhere either in what is read as Markdown or HTML, which have
// escapes of their own, nor in what is fetched, cut or not, nor in resources.
func TestSecretsInOtherForms(t *testing.T) {
	const password = `p4_"ß'&<x>*[y]` + "\u00a0z"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/text":
			io.WriteString(w, password)
		case "/json":
			json.NewEncoder(w).Encode(map[string]string{"password": password}) // with \u0026 and the like
		case "/long": // whose first part ends within it
			io.WriteString(w, strings.Repeat("x", 20_000-8)+password+strings.Repeat("y", 100))
		default:
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			encoded, _ := json.Marshal(password)
			fmt.Fprintf(w, `<!doctype html><title>Account</title><main><h1>Account</h1><p>Your password is <b id=word></b>.</p><a id=link>reset</a><pre id=pre></pre></main>
<script>const pw = %s; word.textContent = pre.textContent = pw; link.title = pw; link.href = '/reset?pw=' + encodeURIComponent(pw); console.log('it is ' + pw); fetch('/text?pw=' + encodeURIComponent(pw))</script>`, encoded)
		}
	}))
	t.Cleanup(server.Close)
	dir, shop := t.TempDir(), folder(t, "shop")
	start(t, dir, "window", "--workspace", shop, "--headless")
	agent := host(t, dir, shop, "--secrets", secretsFile(t, "PASSWORD="+`"`+strings.ReplaceAll(password, `"`, `\"`)+`"`+"\n"))
	mustTool(t, agent, "browser_navigate", map[string]any{"url": server.URL})
	mustTool(t, agent, "browser_wait_for", map[string]any{"networkIdle": true})
	hidden := func(what, text string) {
		t.Helper()
		if !strings.Contains(text, "<secret>PASSWORD</secret>") {
			t.Errorf("%s does not name the secret:\n%s", what, text)
		}
		for _, part := range []string{"p4_", `p4\_`, "ß", "%C3%9F", "[y]"} {
			if strings.Contains(text, part) {
				t.Errorf("%s holds %q of the secret:\n%.2000s", what, part, text)
			}
		}
	}
	for name, args := range map[string]map[string]any{
		"browser_markdown":         nil,
		"browser_dom":              nil,
		"browser_snapshot":         nil,
		"browser_console_messages": nil,
		"browser_network_requests": {"filter": "/text"},
		"browser_find":             {"text": "Your password"},
	} {
		hidden(name, mustTool(t, agent, name, args))
	}
	for _, path := range []string{"/text", "/json"} {
		hidden("browser_fetch of "+path, mustTool(t, agent, "browser_fetch", map[string]any{"url": path}))
	}
	if text := mustTool(t, agent, "browser_fetch", map[string]any{"url": "/long"}); strings.Contains(text, "p4_") {
		t.Errorf("what is cut holds the secret's beginning: …%s", text[len(text)-200:])
	}
	for name, file := range map[string]string{"browser_fetch": "fetched.txt", "browser_markdown": "page.md", "browser_dom": "page.html"} {
		args := map[string]any{"filename": file}
		if name == "browser_fetch" {
			args["url"] = "/text"
		}
		mustTool(t, agent, name, args)
		saved, err := os.ReadFile(filepath.Join(shop, file))
		if err != nil {
			t.Fatal(err)
		}
		hidden(file, string(saved))
	}
	for _, uri := range []string{"browser://console", "browser://network"} {
		read, err := agent.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err != nil {
			t.Fatal(err)
		}
		hidden(uri, read.Contents[0].Text)
	}
}
