package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// structured is the structured part of a result, as JSON.
func structured(t *testing.T, session *mcp.ClientSession, name string, args map[string]any) string {
	t.Helper()
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil || res.IsError || res.StructuredContent == nil {
		t.Fatalf("%s: %+v %v", name, res, err)
	}
	encoded, err := json.Marshal(res.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(encoded))
}

func dataSite(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api":
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"items": [1, "hunter22"]}`)
		case "/text":
			io.WriteString(w, "plain hunter22")
		default:
			http.SetCookie(w, &http.Cookie{Name: "session", Value: "hunter22"})
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, `<!doctype html><title>Data</title><p>Data<script>localStorage.setItem('who', 'Ada'); console.warn('take care')</script>`)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// Hosts give a model the structured result or the text. Each is complete, and neither
// contains a secret.
func TestStructuredAnswers(t *testing.T) {
	url, shop := dataSite(t), folder(t, "shop")
	agent := host(t, t.TempDir(), shop, "--caps", "storage", "--secrets", secretsFile(t, "PASSWORD=hunter22\n"))
	schemas := map[string]bool{}
	for tool, err := range agent.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		schemas[tool.Name] = tool.OutputSchema != nil
	}
	mustTool(t, agent, "browser_navigate", map[string]any{"url": url})
	for _, c := range []struct {
		tool string
		args map[string]any
		says []string
	}{
		{"browser_evaluate", map[string]any{"function": "() => ({a: [1, 'ä', null]})"}, []string{`{"value":{"a":[1,"ä",null]}}`}},
		{"browser_evaluate", map[string]any{"function": "() => { console.error('oh'); return 'hunter22' }"}, []string{`"value":"<secret>PASSWORD</secret>"`, `"notes":"[error] oh`}},
		{"browser_evaluate", map[string]any{"function": "() => 'x'.repeat(100000)"}, []string{`"notes":"\"xxx`, `Part 1 of 3`}},
		{"browser_evaluate", map[string]any{"function": "() => 5", "filename": "five.json"}, []string{`{"notes":"Saved the result to `}},
		{"browser_fetch", map[string]any{"url": "/api"}, []string{`"status":200`, `"type":"application/json"`, `"url":"` + url + `/api"`, `"body":{"items":[1,"<secret>PASSWORD</secret>"]}`}},
		{"browser_fetch", map[string]any{"url": "/text"}, []string{`"body":"plain <secret>PASSWORD</secret>"`}},
		{"browser_console_messages", nil, []string{`{"messages":[{"level":"warning","place":"` + url + `/:1`, `"text":"take care"`}},
		{"browser_console_messages", map[string]any{"level": "error", "filename": "console.txt"}, []string{`"notes":"Saved the console`}},
		{"browser_network_requests", nil, []string{`"method":"GET"`, `"navigation":true`, `"url":"` + url + `/api"`, `"type":"application/json"`}},
		{"browser_network_requests", map[string]any{"filter": "nothing"}, []string{`"requests":[]`, `"notes":"No request`}},
		{"browser_tabs", map[string]any{"action": "list"}, []string{`{"tabs":[{"current":true,"index":0,"title":"Data"`}},
		{"browser_tabs", map[string]any{"action": "new"}, []string{`"notes":"Opened a tab; you work in it now.`, `"index":1`}},
		{"browser_tabs", map[string]any{"action": "select", "index": 0}, []string{`"current":true,"index":0`}},
		{"browser_cookie_list", nil, []string{`"name":"session"`, `"value":"<secret>PASSWORD</secret>"`}},
		{"browser_cookie_get", map[string]any{"name": "session"}, []string{`"domain":"127.0.0.1"`}},
		{"browser_cookie_get", map[string]any{"name": "other"}, []string{`{"cookies":[],"notes":"There is no cookie other."}`}},
		{"browser_localstorage_list", nil, []string{`{"items":[{"key":"who","value":"Ada"}]}`}},
		{"browser_localstorage_get", map[string]any{"key": "who"}, []string{`{"key":"who","value":"Ada"}`}},
		{"window_list", nil, []string{`"windows":[]`, `"notes":"`}},
	} {
		if !schemas[c.tool] {
			t.Errorf("%s has no schema", c.tool)
		}
		got := structured(t, agent, c.tool, c.args)
		for _, want := range c.says {
			if !strings.Contains(got, want) {
				t.Errorf("%s %v says %.300s, without %s", c.tool, c.args, got, want)
			}
		}
		if strings.Contains(got, "hunter") {
			t.Errorf("%s %v tells the secret: %.300s", c.tool, c.args, got)
		}
		if len(got) > mostOfAnswer {
			t.Errorf("%s %v has %d characters", c.tool, c.args, len(got))
		}
	}
	// A list that is longer than a result comes as parts of text.
	mustTool(t, agent, "browser_evaluate", map[string]any{"function": `() => { for (let i = 0; i < 900; i++) { console.log("line " + i + " " + "ä".repeat(60)); localStorage.setItem("key " + i, "v".repeat(150)) } }`})
	for _, name := range []string{"browser_console_messages", "browser_localstorage_list"} {
		if got := structured(t, agent, name, nil); len(got) > mostOfAnswer || strings.Contains(got, `"messages"`) || !strings.Contains(got, `"notes":"`) {
			t.Errorf("%s has %d characters: %.200s", name, len(got), got)
		}
	}
	// Content of the page is marked as the page's.
	res, err := agent.CallTool(t.Context(), &mcp.CallToolParams{Name: "browser_evaluate", Arguments: map[string]any{"function": "1"}})
	if err != nil || res.Meta["browser-coordinator/from-page"] != true {
		t.Errorf("%+v %v", res, err)
	}
	if fmt.Sprint(res.StructuredContent) != "map[value:1]" {
		t.Errorf("%v", res.StructuredContent)
	}
}
