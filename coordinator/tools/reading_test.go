package tools_test

import (
	"bytes"
	"fmt"
	"image/jpeg"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/internal/toolstest"
)

// The tools that read, as an agent uses them: on a source-mapped TypeScript bundle of
// its own workspace, and on a page too long for one result.
func TestReadingTools(t *testing.T) {
	t.Parallel()
	w := toolstest.OpenWindow(t)
	if err := os.Remove(filepath.Join(w.Folder, "src")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(w.Folder, os.DirFS("../page/testdata/shop")); err != nil {
		t.Fatal(err)
	}
	files := http.FileServer(http.Dir(w.Folder))
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
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
	})
	agent := w.Agent("pdf")
	agent.Expect("browser_navigate", args{"url": url}, "Shop")
	snapshot := agent.Expect("browser_snapshot", nil, `heading "Things"`, `button "Coffee" [ref=`)

	// Errors name the files of the workspace, in the action's result and in the console.
	agent.Expect("browser_click", args{"target": toolstest.Ref(t, snapshot, "button", "Coffee")},
		"RangeError: the price of coffee is negative", "@ src/cart.ts:11:13", "(src/app.ts:6:22)")
	agent.Expect("browser_click", args{"target": "#good"}, "the cart costs 3 @ src/app.ts:7:11")
	if console := agent.Expect("browser_console_messages", args{"level": "warning"}, "src/cart.ts:11:13",
		"src/app.ts:7:11"); strings.Contains(console, "app.js") {
		t.Errorf("the bundle is named:\n%s", console)
	}
	expectAll(t, agent, []toolCall{
		{"browser_find", args{"text": "coffee"}, []string{`button "Coffee" [ref=`, "- main:"}},
		{"browser_find", args{"regex": "no+thing"}, []string{"Nothing in the page matches"}},
		{"browser_markdown", nil, []string{"# Things\n\nTea or **coffee**", "URL: " + url}},
		{"browser_dom", args{"target": "#good"}, []string{`<button id="good">Tea</button>`}},
		{"browser_snapshot", args{"diff": true}, []string{"Since the last snapshot:", "[active]"}},
		{"browser_snapshot", args{"diff": true}, []string{"Nothing has changed"}},
	})

	// Pictures: a part, as jpeg, in the requested quality; and in a file.
	picture := func(quality int) []byte {
		t.Helper()
		a := args{"type": "jpeg", "clip": "0, 0, 300, 120", "quality": quality}
		res, err := agent.CallTool(t.Context(), &mcp.CallToolParams{Name: "browser_take_screenshot", Arguments: a})
		if err != nil || res.IsError {
			t.Fatalf("%+v %v", res, err)
		}
		return res.Content[len(res.Content)-1].(*mcp.ImageContent).Data
	}
	poor, good := picture(5), picture(95)
	if config, err := jpeg.DecodeConfig(bytes.NewReader(good)); err != nil || config.Width != 300 ||
		config.Height != 120 || len(poor) >= len(good) {
		t.Errorf("%d × %d, %d and %d bytes, %v", config.Width, config.Height, len(poor), len(good), err)
	}
	agent.Expect("browser_take_screenshot", args{"filename": "out/page.webp"}, "Saved ")
	agent.Expect("browser_pdf_save", args{"filename": "out/page.pdf"}, "Saved ")
	for name, magic := range map[string]string{"out/page.webp": "RIFF", "out/page.pdf": "%PDF-"} {
		if data, err := os.ReadFile(agent.Saved(name)); err != nil || !bytes.HasPrefix(data, []byte(magic)) {
			t.Errorf("%s: %.10q %v", name, data, err)
		}
	}
	for _, wrong := range []args{{"clip": "1,2"}, {"scale": "double"}, {"quality": 500, "type": "jpeg"},
		{"target": "#good", "fullPage": true}} {
		agent.Refused("browser_take_screenshot", wrong)
	}

	// A long page comes in parts of one snapshot, or as a file.
	agent.Open(url + "/long")
	all := agent.Expect("browser_snapshot", nil, "Part 1 of ", `link "Row 0"`, "ask for page 2")
	agent.Evaluate("() => { document.querySelector('ul').textContent = 'changed' }")
	for n, part := 2, ""; !strings.Contains(part, "the last"); n++ {
		part = agent.Expect("browser_snapshot", args{"page": n}, fmt.Sprintf("Part %d of ", n))
		all += part
	}
	for i := range 2500 {
		if !strings.Contains(all, fmt.Sprintf(`"Row %d"`, i)) {
			t.Fatalf("row %d is in no part", i)
		}
	}
	agent.Open(url + "/long")
	agent.Expect("browser_snapshot", args{"filename": "out/long.md"}, "Saved the snapshot")
	if data, err := os.ReadFile(agent.Saved("out/long.md")); err != nil ||
		!strings.Contains(string(data), `"Row 2499"`) {
		t.Errorf("the file: %d bytes, %v", len(data), err)
	}
}

// A PDF has no elements that could be read: the answers tell what can be done.
func TestTabWithAPDF(t *testing.T) {
	t.Parallel()
	agent := toolstest.OpenWindow(t).Agent("pdf", "network")
	agent.Open(toolstest.ServeHTML(t, "<!doctype html><title>Invoice</title><h1>Invoice 42</h1>"))
	agent.Must("browser_pdf_save", args{"filename": "invoice.pdf"})
	pdf, err := os.ReadFile(agent.Saved("invoice.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/pdf")
		_, _ = w.Write(pdf)
	})
	agent.Expect("browser_navigate", args{"url": url}, "a PDF, drawn by the browser's viewer")
	agent.Expect("browser_snapshot", nil, "a PDF, drawn by the browser's viewer")
	agent.Expect("browser_markdown", nil, "a PDF, drawn by the browser's viewer")
	agent.Must("browser_fetch", args{"url": url, "filename": "copy.pdf"})
	if got, err := os.ReadFile(agent.Saved("copy.pdf")); err != nil || !bytes.Equal(got, pdf) {
		t.Errorf("the saved copy has %d bytes, want %d: %v", len(got), len(pdf), err)
	}
}
