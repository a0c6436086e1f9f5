package main

import (
	"bytes"
	"fmt"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mostOfAnswer is an upper bound for a result: a part of 40,000 bytes and its frame.
const mostOfAnswer = 51_000

const talkativePage = `<!doctype html><title>Talk</title><ul id=list></ul><button onclick="for (let i = 0; i < 300; i++) console.error('trouble ' + i + ' ' + 'x'.repeat(1000))">Trouble</button>
<script>for (let i = 0; i < 300; i++) list.insertAdjacentHTML('beforeend', '<li>Row ' + i + '</li>')</script>`

func talkative(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			io.WriteString(w, talkativePage)
		case "/big":
			io.WriteString(w, "begin "+strings.Repeat("0123456789", 20_000)+" end")
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// No result is long enough to fill the agent's context, and nothing is out of reach: the
// rest comes in parts or in a file.
func TestAnswersAreBounded(t *testing.T) {
	url, shop := talkative(t), folder(t, "shop")
	agent := host(t, t.TempDir(), shop, "--caps", "storage")
	mustTool(t, agent, "browser_navigate", map[string]any{"url": url})

	clicked := mustTool(t, agent, "browser_click", map[string]any{"target": "button"})
	if len(clicked) > 14_000 || strings.Count(clicked, "trouble ") != 20 || !strings.Contains(clicked, "280 more: browser_console_messages") {
		t.Errorf("a click with 300 errors has %d characters: …%s", len(clicked), clicked[max(0, len(clicked)-300):])
	}
	mustTool(t, agent, "browser_evaluate", map[string]any{"function": `async () => {
		console.log("begin " + "long ".repeat(200000) + "end");
		localStorage.setItem("long", "x".repeat(1000000));
		await fetch("/big").then(r => r.text());
		for (let i = 0; i < 400; i++) await fetch("/item?" + "q".repeat(200) + i);
	}`})
	big := strings.Index(mustTool(t, agent, "browser_network_requests", map[string]any{"filter": "/big"}), ". GET")
	if big < 0 {
		t.Fatal("the request is not listed")
	}
	index := atoi(t, mustTool(t, agent, "browser_network_requests", map[string]any{"filter": "/big"})[:big])
	counter := `() => { window.runs = (window.runs ?? 0) + 1; return runs + " run " + "y".repeat(200000) + " end" }`
	for _, c := range []struct {
		tool  string
		args  map[string]any
		holds string // its last part does
	}{
		{"browser_console_messages", map[string]any{}, "long end"},
		{"browser_evaluate", map[string]any{"function": counter}, "y end"},
		{"browser_network_requests", map[string]any{}, "399 => 200"},
		{"browser_network_request", map[string]any{"index": index, "part": "response-body"}, "9 end"},
	} {
		part := 1
		for last := ""; part < 40; part++ {
			args := map[string]any{"page": part}
			for name, value := range c.args {
				args[name] = value
			}
			text := mustTool(t, agent, c.tool, args)
			if len(text) > mostOfAnswer {
				t.Errorf("%s, part %d, has %d characters", c.tool, part, len(text))
			}
			if strings.Contains(text, ", the last.") {
				if !strings.Contains(text, c.holds) {
					t.Errorf("the last part of %s: …%s", c.tool, text[max(0, len(text)-200):])
				}
				break
			}
			if last == text {
				t.Fatalf("%s: part %d is the one before", c.tool, part)
			}
			last = text
		}
		if part < 2 || part == 40 {
			t.Errorf("%s came in %d parts", c.tool, part)
		}
		c.args["filename"] = c.tool + ".txt"
		mustTool(t, agent, c.tool, c.args)
		if data, err := os.ReadFile(savedIn(shop, c.tool+".txt")); err != nil || !strings.Contains(string(data), c.holds) || len(data) < mostOfAnswer {
			t.Errorf("%s as a file: %d bytes, %v", c.tool, len(data), err)
		}
	}
	// Later parts come from the same run as the first part.
	if runs := mustTool(t, agent, "browser_evaluate", map[string]any{"function": "() => runs"}); runs != "2" { // once for parts, once for the file
		t.Errorf("the script ran %s times", runs)
	}
	if text, err := tool(t, agent, "browser_evaluate", map[string]any{"function": "() => 7", "page": 2}); err == nil {
		t.Errorf("a further part of nothing: %s", text)
	}

	// A result without parts is truncated.
	for name, args := range map[string]map[string]any{
		"browser_localstorage_get": {"key": "long"},
		"browser_evaluate":         {"function": `() => { throw new Error("z".repeat(1000000)) }`},
	} {
		text, err := tool(t, agent, name, args)
		if err != nil {
			text = err.Error()
		}
		if len(text) > mostOfAnswer || !strings.Contains(text, "more characters") {
			t.Errorf("%s has %d characters: …%s", name, len(text), text[max(0, len(text)-200):])
		}
	}
}

func TestFind(t *testing.T) {
	url := talkative(t)
	agent := host(t, t.TempDir(), folder(t, "shop"))
	mustTool(t, agent, "browser_navigate", map[string]any{"url": url})
	seen := map[string]bool{}
	for part := 1; part <= 6; part++ {
		text := mustTool(t, agent, "browser_find", map[string]any{"text": "row", "page": part})
		if want := fmt.Sprintf("Matches %d to %d of 300", part*50-49, part*50); !strings.Contains(text, want) || strings.Contains(text, "page 7") {
			t.Errorf("page %d does not say %q: %s", part, want, text[:100])
		}
		for line := range strings.Lines(text) {
			if strings.Contains(line, "- Row ") {
				seen[line] = true
			}
		}
	}
	if len(seen) != 300 {
		t.Errorf("%d of 300 matches were seen", len(seen))
	}
	if _, err := tool(t, agent, "browser_find", map[string]any{"text": "row", "page": 7}); err == nil || !strings.Contains(err.Error(), "page 6 is the last") {
		t.Errorf("a page too far: %v", err)
	}
	for regex, want := range map[string]string{"/ROW 29[0-9]/i": "Row 299", "/ow 7$/": "Row 7", "Row 29\\d": "Row 299", "/row/": "Nothing"} {
		if text := mustTool(t, agent, "browser_find", map[string]any{"regex": regex}); !strings.Contains(text, want) {
			t.Errorf("%s: %s", regex, text)
		}
	}
	for name, param := range map[string]string{"browser_find": "regex", "browser_network_requests": "filter"} {
		if _, err := tool(t, agent, name, map[string]any{param: "(?=x)"}); err == nil || !strings.Contains(err.Error(), "lookahead") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The requests of one document are distinct from those of another.
func TestRequestsOfDocuments(t *testing.T) {
	url := talkative(t)
	agent := host(t, t.TempDir(), folder(t, "shop"))
	mustTool(t, agent, "browser_navigate", map[string]any{"url": url})
	mustTool(t, agent, "browser_evaluate", map[string]any{"function": `async () => { await fetch("/one"); await fetch(URL.createObjectURL(new Blob(["blob"]))) }`})
	if list := mustTool(t, agent, "browser_network_requests", nil); strings.Contains(list, "Navigated") || strings.Contains(list, "-1 B") || !strings.Contains(list, "blob:") {
		t.Errorf("one document: %s", list)
	}
	mustTool(t, agent, "browser_navigate", map[string]any{"url": url + "/big"})
	mustTool(t, agent, "browser_evaluate", map[string]any{"function": `() => fetch("/two")`})
	list := mustTool(t, agent, "browser_network_requests", map[string]any{"filter": "one|two"})
	first, second, found := strings.Cut(list, "Navigated to "+url+"/big:\n")
	if !found || !strings.Contains(first, "/one") || !strings.Contains(second, "/two") {
		t.Errorf("two documents: %s", list)
	}
}

// An empty resource has a text that reports this: without text it would be invalid.
func TestEmptyResources(t *testing.T) {
	agent := host(t, t.TempDir(), folder(t, "shop"))
	mustTool(t, agent, "browser_snapshot", nil)
	for uri, want := range map[string]string{"browser://console": "The console is empty.", "browser://network": "No request was made."} {
		got, err := agent.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err != nil || len(got.Contents) != 1 || got.Contents[0].Text != want {
			t.Errorf("%s: %+v %v", uri, got, err)
		}
	}
}

// A host attaches a whole resource. It has no parts, so it contains the newest entries.
func TestResourcesAreBounded(t *testing.T) {
	url := talkative(t)
	agent := host(t, t.TempDir(), folder(t, "shop"))
	mustTool(t, agent, "browser_navigate", map[string]any{"url": url})
	mustTool(t, agent, "browser_evaluate", map[string]any{"function": `async () => {
		for (let i = 0; i < 400; i++) { console.log("line " + i + " " + "ä".repeat(100)); await fetch("/item?" + "q".repeat(200) + i); }
		document.body.style.height = "20000px";
	}`})
	mustTool(t, agent, "browser_take_screenshot", map[string]any{"fullPage": true, "filename": "long.png"})
	for uri, last := range map[string]string{"browser://console": "line 399", "browser://network": "399 => 200"} {
		got, err := agent.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err != nil {
			t.Fatal(err)
		}
		text := got.Contents[0].Text
		if len(text) > 41_000 || !strings.HasPrefix(text, "… ") || !strings.Contains(text, last) || !strings.Contains(text, "has all.\n") {
			t.Errorf("%s has %d characters: %.200s", uri, len(text), text)
		}
	}
	got, err := agent.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "browser://screenshot"})
	if err != nil {
		t.Fatal(err)
	}
	config, err := png.DecodeConfig(bytes.NewReader(got.Contents[0].Blob))
	if err != nil || max(config.Width, config.Height) > 1568 {
		t.Errorf("the picture: %+v %v", config, err)
	}
}
