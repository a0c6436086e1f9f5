package main

import (
	"bytes"
	"fmt"
	"image/jpeg"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The tools that read, as an agent uses them: on a source-mapped TypeScript bundle of
// its own workspace, and on a page too long for one result.
func TestSeeingTools(t *testing.T) {
	dir, shop := t.TempDir(), folder(t, "web")
	if err := os.RemoveAll(filepath.Join(shop, "src")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(shop, os.DirFS("page/testdata/shop")); err != nil {
		t.Fatal(err)
	}
	files := http.FileServer(http.Dir(shop))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			fmt.Fprint(w, `<!doctype html><title>Shop</title><nav>Elsewhere</nav><main><h1>Things</h1><p>Tea or <b>coffee</b></p>
<button id=good>Tea</button><button id=bad>Coffee</button></main><script src="/dist/app.js"></script>`)
		case "/long":
			fmt.Fprint(w, `<!doctype html><title>Long</title><ul>`)
			for i := range 2500 {
				fmt.Fprintf(w, `<li><a href=#>Row %d</a> <button>Take</button>`, i)
			}
		default:
			files.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	start(t, dir, "window", "--workspace", shop, "--headless")
	agent := host(t, dir, shop, "--no-launch", "--caps", "pdf")
	use := func(name string, args map[string]any, wanted ...string) string {
		t.Helper()
		text := mustTool(t, agent, name, args)
		for _, w := range wanted {
			if !strings.Contains(text, w) {
				t.Errorf("%s lacks %q:\n%.1500s", name, w, text)
			}
		}
		return text
	}
	use("browser_navigate", map[string]any{"url": server.URL}, "Shop")
	snapshot := use("browser_snapshot", nil, `heading "Things"`, `button "Coffee" [ref=`)

	// Errors name the files of the workspace, in the action's result and in the console.
	use("browser_click", map[string]any{"target": ref(t, snapshot, "button", "Coffee")}, "RangeError: the price of coffee is negative", "@ src/cart.ts:11:13", "(src/app.ts:6:22)")
	use("browser_click", map[string]any{"target": "#good"}, "the cart costs 3 @ src/app.ts:7:11")
	console := use("browser_console_messages", map[string]any{"level": "warning"}, "src/cart.ts:11:13", "src/app.ts:7:11")
	if strings.Contains(console, "app.js") {
		t.Errorf("the bundle is named:\n%s", console)
	}

	use("browser_find", map[string]any{"text": "coffee"}, `button "Coffee" [ref=`, "- main:")
	use("browser_find", map[string]any{"regex": "no+thing"}, "Nothing in the page matches")
	use("browser_markdown", nil, "# Things\n\nTea or **coffee**", "URL: "+server.URL)
	use("browser_dom", map[string]any{"target": "#good"}, `<button id="good">Tea</button>`)
	use("browser_snapshot", map[string]any{"diff": true}, "Since the last snapshot:", "[active]")
	use("browser_snapshot", map[string]any{"diff": true}, "Nothing has changed")

	// Pictures: a part, as jpeg, in the requested quality; and in a file.
	picture := func(args map[string]any) []byte {
		t.Helper()
		res, err := agent.CallTool(t.Context(), &mcp.CallToolParams{Name: "browser_take_screenshot", Arguments: args})
		if err != nil || res.IsError {
			t.Fatalf("%v: %+v %v", args, res, err)
		}
		return res.Content[len(res.Content)-1].(*mcp.ImageContent).Data
	}
	args := map[string]any{"type": "jpeg", "clip": "0, 0, 300, 120", "quality": 5}
	poor := picture(args)
	args["quality"] = 95
	good := picture(args)
	if config, err := jpeg.DecodeConfig(bytes.NewReader(good)); err != nil || config.Width != 300 || config.Height != 120 || len(poor) >= len(good) {
		t.Errorf("%d × %d, %d and %d bytes, %v", config.Width, config.Height, len(poor), len(good), err)
	}
	for name, magic := range map[string]string{"out/page.webp": "RIFF", "out/page.pdf": "%PDF-"} {
		call := "browser_take_screenshot"
		if strings.HasSuffix(name, ".pdf") {
			call = "browser_pdf_save"
		}
		use(call, map[string]any{"filename": name}, "Saved ")
		if data, err := os.ReadFile(savedIn(shop, name)); err != nil || !bytes.HasPrefix(data, []byte(magic)) {
			t.Errorf("%s: %.10q %v", name, data, err)
		}
	}
	for _, wrong := range []map[string]any{{"clip": "1,2"}, {"scale": "double"}, {"quality": 500, "type": "jpeg"}, {"target": "#good", "fullPage": true}} {
		if _, err := tool(t, agent, "browser_take_screenshot", wrong); err == nil {
			t.Errorf("%v is no error", wrong)
		}
	}

	// A long page comes in parts of one snapshot, or as a file.
	use("browser_navigate", map[string]any{"url": server.URL + "/long"})
	one := use("browser_snapshot", nil, "Part 1 of ", `link "Row 0"`, "ask for page 2")
	mustTool(t, agent, "browser_evaluate", map[string]any{"function": "() => { document.querySelector('ul').textContent = 'changed' }"})
	all := one
	for n := 2; ; n++ {
		part := use("browser_snapshot", map[string]any{"page": n}, fmt.Sprintf("Part %d of ", n))
		if all += part; strings.Contains(part, "the last") {
			break
		}
	}
	for i := range 2500 {
		if !strings.Contains(all, fmt.Sprintf(`"Row %d"`, i)) {
			t.Fatalf("row %d is in no part", i)
		}
	}
	use("browser_navigate", map[string]any{"url": server.URL + "/long"})
	use("browser_snapshot", map[string]any{"filename": "out/long.md"}, "Saved the snapshot")
	if data, err := os.ReadFile(savedIn(shop, "out/long.md")); err != nil || !strings.Contains(string(data), `"Row 2499"`) {
		t.Errorf("the file: %d bytes, %v", len(data), err)
	}
}
