package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const jankyPage = `<!doctype html><title>janky</title><h1 style="font-size:60px">Large</h1><div id=ad></div><p>below</p>
<script>setTimeout(function heavy() {
	const end = performance.now() + 120; while (performance.now() < end);
	ad.style.height = "400px";
	requestAnimationFrame(() => requestAnimationFrame(() => { document.title = "settled" }));
}, 100)</script>`

// The results for a slow page: the metrics, and files that DevTools opens.
func TestPerformanceTools(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, jankyPage) }))
	t.Cleanup(server.Close)
	dir, shop := t.TempDir(), folder(t, "shop")
	start(t, dir, "window", "--workspace", shop, "--headless")
	agent := host(t, dir, shop, "--caps", "performance")
	read := func(name string, into any) {
		t.Helper()
		text, err := os.ReadFile(savedIn(shop, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, into); err != nil {
			t.Errorf("%s is not valid: %v", name, err)
		}
	}
	settled := map[string]any{"function": `() => new Promise((done) => { const look = () => document.title === "settled" ? done(1) : setTimeout(look, 10); look() })`}

	if _, err := tool(t, agent, "performance_stop_trace", map[string]any{"filename": "none.json"}); err == nil || !strings.Contains(err.Error(), "start it first") {
		t.Errorf("stopped before the start: %v", err)
	}
	mustTool(t, agent, "browser_navigate", map[string]any{"url": server.URL})
	if text := mustTool(t, agent, "performance_start_trace", map[string]any{"reload": true}); !strings.Contains(text, "reloaded") {
		t.Errorf("%s", text)
	}
	mustTool(t, agent, "browser_evaluate", settled)
	text := mustTool(t, agent, "performance_stop_trace", map[string]any{"filename": "out/trace.json"})
	for _, want := range []string{`Saved .*out/trace.json \([0-9.]+ MB\)`, regexp.QuoteMeta(server.URL), `LCP \d+ms \(good\) H1 \(text\)`, `CLS 0\.(0[1-9]|[1-9])\d+ \(.*\), 1 shifts`, `INP: there was no interaction`, `Long tasks: [1-9]`, `- 1[2-9]\dms at .*heavy at`, `Requests: [1-9]`, `text/html ` + regexp.QuoteMeta(server.URL)} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("the answer lacks %s:\n%s", want, text)
		}
	}
	var trace struct {
		TraceEvents []struct {
			Name string
			Args struct {
				Data struct{ DocumentLoaderURL string }
			}
		}
	}
	read("out/trace.json", &trace)
	navigated := false
	for _, e := range trace.TraceEvents {
		navigated = navigated || e.Name == "navigationStart" && e.Args.Data.DocumentLoaderURL == server.URL+"/"
	}
	if !navigated {
		t.Errorf("%d events, and none is the navigation", len(trace.TraceEvents))
	}

	text = mustTool(t, agent, "performance_heap_snapshot", map[string]any{"filename": "out/page.heapsnapshot"})
	var heap struct{ Nodes, Edges []int }
	read("out/page.heapsnapshot", &heap)
	if len(heap.Nodes) == 0 || len(heap.Edges) == 0 || !strings.Contains(text, "JavaScript heap") {
		t.Errorf("%s", text)
	}

	mustTool(t, agent, "performance_start_profile", map[string]any{"reload": true})
	mustTool(t, agent, "browser_evaluate", settled)
	text = mustTool(t, agent, "performance_stop_profile", map[string]any{"filename": "out/page.cpuprofile"})
	var profile struct{ Nodes, Samples []any }
	read("out/page.cpuprofile", &profile)
	if len(profile.Samples) == 0 || !regexp.MustCompile(`- [1-9]\d+ms heavy at`).MatchString(text) {
		t.Errorf("%s", text)
	}

	mustTool(t, agent, "performance_start_coverage", map[string]any{"reload": true})
	text = mustTool(t, agent, "performance_stop_coverage", map[string]any{"filename": "out/coverage.json"})
	var coverage []struct {
		URL    string
		Ranges []struct{ Start, End int }
	}
	read("out/coverage.json", &coverage)
	if len(coverage) != 1 || coverage[0].URL != server.URL+"/" || !strings.Contains(text, "(JS)") {
		t.Errorf("%s\n%+v", text, coverage)
	}
	// Without a name each file gets its own name, below the workspace.
	text = mustTool(t, agent, "performance_heap_snapshot", nil)
	if !regexp.MustCompile(regexp.QuoteMeta(savedIn(shop, "heap")) + `-\d{4}-.*\.heapsnapshot`).MatchString(text) {
		t.Errorf("%s", text)
	}
	if files, err := filepath.Glob(savedIn(shop, "none*")); err != nil || len(files) > 0 {
		t.Errorf("half files are left: %v %v", files, err)
	}
}
