package sources_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/history"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/pagetest"
)

func TestMain(m *testing.M) { os.Exit(pagetest.Main(m)) }

const shopPage = `<!doctype html><button id=good>Tea</button><button id=bad>Coffee</button><script src="%s"></script>`

// openIn serves a workspace's folder, with that script in the page, to a
// connection with that folder.
func openIn(t *testing.T, folder, script string) (*page.Page, string) {
	t.Helper()
	files := http.FileServer(http.Dir(folder))
	return pagetest.ServeIn(t, pagetest.ConnectWith(t, &page.Options{Folders: []string{folder}}),
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/" {
				fmt.Fprintf(w, shopPage, script)
				return
			}
			w.Header().Del("Content-Type") // the server knows the type of a script
			files.ServeHTTP(w, r)
		}))
}

func copyShop(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "shop")
	if err := os.CopyFS(folder, os.DirFS("../testdata/shop")); err != nil {
		t.Fatal(err)
	}
	return folder
}

// located are the warnings and errors of a page with their places.
func located(t *testing.T, p *page.Page) []history.Message {
	t.Helper()
	all := p.History().Console.Messages("warning")
	p.Sources().LocateMessages(t.Context(), all)
	return all
}

// A bundle of TypeScript: errors report the files and lines that the developer wrote.
func TestSourceMappedBundle(t *testing.T) {
	t.Parallel()
	p, _ := openIn(t, copyShop(t), "/dist/app.js")
	c, err := p.Act(t.Context(), p.Input().Click("#bad", input.ClickOptions{}))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Console) != 1 || c.Console[0].Position.Place != "src/cart.ts:11:13" ||
		!strings.Contains(c.Console[0].Text, "src/cart.ts:11:13") || !strings.Contains(c.Console[0].Text, "src/app.ts:6:22") {
		t.Errorf("what the click changed: %+v", c.Console)
	}
	pagetest.Act(t, p, p.Input().Click("#good", input.ClickOptions{}))
	if all := located(t, p); len(all) != 2 || all[1].Position.Place != "src/app.ts:7:11" {
		t.Errorf("the console: %+v", all)
	}
}

// Where a map may come from, and where not.
func TestSourceMapsOfAllKinds(t *testing.T) {
	t.Parallel()
	elsewhere, _ := pagetest.Serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".map") {
			t.Error("a page made us ask another server")
		}
	}))
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join("../testdata/shop", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	bundle, sourceMap := read("dist/app.js"), read("dist/app.js.map")
	for _, test := range []struct{ name, reference, sources, place string }{
		{"data", "data:application/json,", "../src/", "src/cart.ts:11:13"},
		{"webpack", "other.map", "webpack://shop/./src/", "src/cart.ts:11:13"},
		{"vite", "other.map", "/src/", "src/cart.ts:11:13"},
		{"in a monorepo", "other.map", "webpack:///packages/shop/src/", "src/cart.ts:11:13"},
		{"of a dependency", "other.map", "webpack:///node_modules/cart/lib/",
			"webpack:///node_modules/cart/lib/cart.ts:11:13"},
		{"of another server", elsewhere.URL() + "app.js.map", "../src/", ""},
		{"broken", "../src/app.ts", "", ""},
		{"missing", "none.map", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			folder := copyShop(t)
			changed := strings.ReplaceAll(sourceMap, "../src/", test.sources)
			reference := test.reference
			if reference == "data:application/json," {
				escape := strings.NewReplacer("%", "%25", " ", "%20", "\n", "%0A", `"`, "%22", "'", "%27", "*", "%2A")
				reference += escape.Replace(changed)
			}
			script := strings.Replace(bundle, "=app.js.map", "="+reference, 1)
			for name, text := range map[string]string{"app.js": script, "other.map": changed} {
				if err := os.WriteFile(filepath.Join(folder, "dist", name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			p, _ := openIn(t, folder, "/dist/app.js")
			c, err := p.Act(t.Context(), p.Input().Click("#bad", input.ClickOptions{}))
			if err != nil || len(c.Console) != 1 || c.Console[0].Position.Place != test.place {
				t.Errorf("%+v %v", c.Console, err)
			}
		})
	}
}

// A script without a map is itself a workspace file.
func TestPlainScripts(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "js"), 0o700); err != nil {
		t.Fatal(err)
	}
	script := "document.querySelector('#bad').onclick = () => {\n  throw new Error('plain');\n};\n"
	if err := os.WriteFile(filepath.Join(folder, "js", "plain.js"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	p, _ := openIn(t, folder, "/js/plain.js")
	c, err := p.Act(t.Context(), p.Input().Click("#bad", input.ClickOptions{}))
	if err != nil || len(c.Console) != 1 || c.Console[0].Position.Place != "js/plain.js:2:9" {
		t.Errorf("%+v %v", c.Console, err)
	}
}

// Messages of a worker report positions in the workspace's files too: for its own script
// and for an imported one.
func TestPlacesInWorkers(t *testing.T) {
	t.Parallel()
	folder := copyShop(t)
	worker := "const here = 1;\nconsole.error('from the worker', here);\n" +
		"self.document = { querySelector: (id) => ({ addEventListener: (_, f) => { if (id === '#good') f() } }) };\n" +
		"importScripts('/dist/app.js');\n"
	if err := os.WriteFile(filepath.Join(folder, "worker.js"), []byte(worker), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "main.js"), []byte("new Worker('/worker.js')"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, _ := openIn(t, folder, "/main.js")
	must.Await(t, "two messages", func() bool { return len(p.History().Console.Messages("warning")) == 2 })
	all := located(t, p)
	if all[0].Position.Place != "worker.js:2:9" || all[1].Position.Place != "src/app.ts:7:11" {
		t.Errorf("the console: %+v", all)
	}
}

// A pause reports its position in the workspace, for the action that caused it and for
// later calls.
func TestPlaceOfAPause(t *testing.T) {
	t.Parallel()
	p, url := openIn(t, copyShop(t), "/dist/app.js")
	// During a pause while the script loads, only the page has the script's text.
	latePage, err := pagetest.ConnectWith(t, &page.Options{Folders: p.Folders()}).Page(t.Context(), p.ID())
	if err != nil {
		t.Fatal(err)
	}
	debugger := pagetest.Attach(t, p)
	s := debugger.Session()
	if err := s.Call(t.Context(), "Debugger.enable", nil, nil); err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("../testdata/shop/dist/app.js")
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]any{"url": url + "/dist/app.js", "lineNumber": 0,
		"columnNumber": strings.Index(string(script), "console.warn")}
	if err := s.Call(t.Context(), "Debugger.setBreakpointByUrl", at, nil); err != nil {
		t.Fatal(err)
	}
	const place = "src/app.ts:7:"
	c, err := p.Act(t.Context(), p.Input().Click("#good", input.ClickOptions{}))
	if err != nil || c.Paused == nil || !strings.HasPrefix(c.Paused.Location.Place, place) ||
		!strings.Contains(c.Paused.String(), " at "+place) {
		t.Errorf("the click: %+v %v", c.Paused, err)
	}
	for client, p := range map[string]*page.Page{"who was there": p, "who came late": latePage} {
		_, err := p.Act(t.Context(), p.Input().Click("#good", input.ClickOptions{}))
		if !errors.Is(err, page.ErrPaused) || !strings.Contains(err.Error(), place) {
			t.Errorf("a click while paused, of %s: %v", client, err)
		}
	}
	if err := s.Call(t.Context(), "Debugger.resume", nil, nil); err != nil {
		t.Error(err)
	}
}

// Mapping positions of messages adds nothing to the page's requests, neither for workers
// nor for earlier scripts.
func TestSourcesLeaveNoTrace(t *testing.T) {
	t.Parallel()
	sheets := make(chan struct{}, 100)
	own := pagetest.ConnectWith(t, &page.Options{Folders: []string{t.TempDir()}})
	p, url := pagetest.ServeIn(t, own, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			fmt.Fprint(w, `<title>x</title>
<link rel=stylesheet href=/s.css><p>p</p><script src=/own.js></script><script>new Worker('/w.js')
new Worker(URL.createObjectURL(new Blob(["console.error('from a blob')"])))</script>`)
		case "/s.css":
			sheets <- struct{}{}
			w.Header().Set("Content-Type", "text/css")
		default:
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprintf(w, "console.error('from %s')", r.URL.Path)
		}
	}))
	late := pagetest.ConnectWith(t, &page.Options{Folders: []string{t.TempDir()}})
	// First with the requests observed, then by a later connection.
	for _, prompts := range []func() *page.Page{
		func() *page.Page { return p },
		func() *page.Page {
			q, err := late.Page(t.Context(), p.ID())
			if err != nil {
				t.Fatal(err)
			}
			return q
		},
	} {
		q := prompts()
		must.Await(t, "three messages", func() bool { return len(q.History().Console.Messages("debug")) >= 3 })
		pagetest.WaitFor(t, q, page.WaitOptions{Idle: true})
		before := len(q.History().Network.Requests(t.Context()))
		count := len(sheets)
		located(t, q)
		pagetest.Evaluate(t, q, "fetch('/now').then(() => 1)") // by now the browser has read the page again
		var urls []string
		for _, r := range q.History().Network.Requests(t.Context()) {
			urls = append(urls, r.URL)
		}
		if len(urls) != before+1 {
			t.Errorf("%d requests before, then %q", before, urls)
		}
		if q == p && len(sheets) != count {
			t.Errorf("%s was asked for its style sheet again", url)
		}
	}
}
