package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A secret also does not appear in Markdown or HTML, which have escapes of their own,
// nor in fetched content, truncated or not, nor in resources.
func TestSecretsInOtherForms(t *testing.T) {
	const password = `p4_"ß'&<x>*[y]` + "\u00a0z"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/text":
			io.WriteString(w, password)
		case "/json":
			json.NewEncoder(w).Encode(map[string]string{"password": password}) // escapes & as \u0026
		case "/long": // its first part ends within the secret
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
		saved, err := os.ReadFile(savedIn(shop, file))
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

// Where the page's own fields, our scripts or a result truncate a text of the page, no
// part of a secret remains at the edge.
func TestSecretsAtCutEdges(t *testing.T) {
	const password = "Hx7-quartz/92&<lamp>"
	encoded, _ := json.Marshal(password)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		switch r.URL.Path {
		case "/large": // its 4 MiB end within the secret
			io.WriteString(w, strings.Repeat("x", 4<<20-8)+password+strings.Repeat("y", 100))
			return
		case "/auth":
			w.Header().Set("X-Echo", r.Header.Get("Authorization"))
			return
		}
		fmt.Fprintf(w, `<!doctype html><title>Edges</title><main></main>
<form><input id=short maxlength=9><input id=mask oninput="this.value = this.value.toUpperCase()"><output id=out></output></form>
<script>
const pw = %s, pad = (n) => "x".repeat(n) + pw + "y".repeat(500);
document.cookie = "edge=" + encodeURIComponent(pad(195 - 3)); localStorage.setItem("edge", pad(195)); sessionStorage.setItem("edge", pad(188));
const main = document.querySelector("main");
for (let n = 180; n < 200; n++) { const b = document.createElement("button"); b.title = pad(n); b.textContent = pad(n); main.append(b); }
for (let n = 980; n < 1000; n += 3) { const p = document.createElement("p"); p.textContent = pad(n) + " needle"; main.append(p); }
for (const n of [280, 285]) { const s = document.createElement("select"); s.append(new Option("one"), new Option(pad(n))); main.append(s); }
for (let n = 20; n < 60; n += 4) { const d = document.createElement("button"); d.disabled = true; d.id = "d" + n; d.textContent = pad(n); main.append(d); }
console.log({ nested: pad(40), more: pw + "z".repeat(300) }); console.error(pad(490));
short.oninput = mask.onchange = () => { out.textContent = "it has " + short.value + " and " + mask.value; };
fetch("/auth", { headers: { Authorization: "Basic " + btoa("ada:" + pw) } });
</script>`, encoded)
	}))
	t.Cleanup(server.Close)
	dir, shop := t.TempDir(), folder(t, "shop")
	start(t, dir, "window", "--workspace", shop, "--headless")
	agent := host(t, dir, shop, "--caps", "storage", "--secrets", secretsFile(t, "PASSWORD='"+password+"'\n"))
	mustTool(t, agent, "browser_navigate", map[string]any{"url": server.URL})
	mustTool(t, agent, "browser_wait_for", map[string]any{"networkIdle": true})
	hidden := func(what, text string) {
		t.Helper()
		for _, part := range []string{"Hx7", "HX7", "SHg3", "uartz", "lamp", "LAMP"} {
			if at := strings.Index(text, part); at >= 0 {
				t.Errorf("%s holds %q of the secret: …%s…", what, part, text[max(0, at-60):min(len(text), at+60)])
			}
		}
	}
	use := func(name string, args map[string]any) string {
		t.Helper()
		res, err := agent.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
		if err != nil {
			t.Fatal(err)
		}
		all, _ := json.Marshal(res)
		text := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(all))
		hidden(fmt.Sprint(name, args), text)
		return text
	}
	for _, name := range []string{"browser_snapshot", "browser_console_messages", "browser_markdown", "browser_dom"} {
		if text := use(name, nil); !strings.Contains(text, "<secret>PASSWORD</secret>") {
			t.Errorf("%s does not name the secret: %.3000s", name, text)
		}
	}
	for _, name := range []string{"browser_cookie_list", "browser_localstorage_list", "browser_sessionstorage_list"} {
		if text := use(name, nil); !strings.Contains(text, "edge") || !strings.Contains(text, "characters)") {
			t.Errorf("%s: %.3000s", name, text)
		}
	}
	use("browser_find", map[string]any{"text": "needle"})
	use("browser_evaluate", map[string]any{"function": "() => document.querySelectorAll('button')[3]"})
	use("browser_find", map[string]any{"regex": "x.{30}"})
	if text := use("browser_find", map[string]any{"text": "quartz"}); !strings.Contains(text, "Nothing in the page matches") {
		t.Errorf("a part of a secret is found: %.300s", text)
	}
	for n := 20; n < 60; n += 4 {
		use("browser_click", map[string]any{"target": fmt.Sprintf("#d%d", n)})
		break // each waits 5 s
	}
	for i := 1; i <= 2; i++ {
		use("browser_network_request", map[string]any{"index": i})
	}
	use("browser_fetch", map[string]any{"url": "/large"})
	mustTool(t, agent, "browser_fetch", map[string]any{"url": "/large", "filename": "large"})
	if saved, err := os.ReadFile(savedIn(shop, "large.html")); err != nil || len(saved) < 4<<20-100 {
		t.Errorf("%d bytes, %v", len(saved), err)
	} else {
		hidden("a file", string(saved))
	}

	// A value that a field derives from a secret is a secret too.
	use("browser_type", map[string]any{"target": "#short", "text": "PASSWORD"})
	use("browser_fill_form", map[string]any{"fields": []map[string]any{{"target": "#mask", "type": "textbox", "value": "PASSWORD"}}})
	if text := use("browser_snapshot", nil); strings.Count(text, "<secret>PASSWORD</secret>") < 4 {
		t.Errorf("the fields: %s", text)
	}
	use("browser_evaluate", map[string]any{"function": "() => short.value + ' ' + mask.value"})
}
