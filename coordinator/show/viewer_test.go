package show

import (
	"compress/gzip"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"browser-coordinator/internal/cdptest"
	"browser-coordinator/internal/must"
)

// viewer is the user's web browser, in which the page is opened.
type viewer struct {
	*cdptest.Client
	t    *testing.T
	page string // its session
}

// openViewer opens a tab, in whose documents a script runs first.
func openViewer(t *testing.T, script string) *viewer {
	t.Helper()
	v := &viewer{Client: cdptest.Dial(t, cdptest.Launch(t).URL()), t: t}
	v.page = openTab(v.Client, "about:blank")
	v.Call(v.page, "Page.enable", "{}", nil)
	source := map[string]any{"source": axe(t) + ";" + script}
	v.Call(v.page, "Page.addScriptToEvaluateOnNewDocument", params(t, source), nil)
	return v
}

func openTab(c *cdptest.Client, url string) (session string) {
	var target struct{ TargetID string }
	c.Call("", "Target.createTarget", fmt.Sprintf(`{"url":%q}`, url), &target)
	return c.Attach(target.TargetID)
}

// onlyTab attaches to the tab of a browser that has one.
func onlyTab(c *cdptest.Client) (session string) {
	var targets struct {
		Infos []struct{ TargetID string } `json:"targetInfos"`
	}
	c.Call("", "Target.getTargets", `{"filter":[{"type":"page"}]}`, &targets)
	return c.Attach(targets.Infos[0].TargetID)
}

// serveHTML serves the HTML that each path has.
func serveHTML(t *testing.T, html func(path string) string) (url string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, html(r.URL.Path))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func params(t *testing.T, members map[string]any) string {
	t.Helper()
	return string(must.Get(json.Marshal(members))(t))
}

func (v *viewer) open(link string) {
	v.t.Helper()
	v.Call(v.page, "Page.navigate", params(v.t, map[string]any{"url": link}), nil)
}

// view is the document of the live view.
const view = `document.querySelector("iframe").contentDocument`

// openLive opens the live view of the page of that title.
func (v *viewer) openLive(title string) {
	v.t.Helper()
	picture := `[...document.querySelectorAll("button.picture")].find((each) => each.ariaLabel === "Open ` + title + `")`
	v.await("the page", picture)
	v.evaluate(picture + ".click(); 0")
	v.await("the live view", view+`?.querySelector("#canvas")?.width > 100`)
}

func (v *viewer) evaluate(expression string) string {
	v.t.Helper()
	return v.Evaluate(v.page, expression)
}

// await waits until an expression is true in the page.
func (v *viewer) await(what, expression string) {
	v.t.Helper()
	v.awaitIn(v.page, what, expression)
}

func (v *viewer) awaitIn(session, what, expression string) {
	v.t.Helper()
	evaluated := params(v.t, map[string]any{"expression": "!!(" + expression + ")"})
	must.Await(v.t, what, func() bool {
		got := v.Try(session, "Runtime.evaluate", evaluated) // an error: there is no document yet
		return strings.Contains(string(got.Result), `"value":true`)
	})
}

func (v *viewer) press(key, text string, code int) {
	for _, kind := range []string{"keyDown", "keyUp"} {
		v.Call(v.page, "Input.dispatchKeyEvent", fmt.Sprintf(
			`{"type":%q,"key":%q,"code":%q,"text":%q,"windowsVirtualKeyCode":%d}`, kind, key, key, text, code), nil)
	}
}

func (v *viewer) tab() { v.press("Tab", "", 9) }

func (v *viewer) enter() { v.press("Enter", "\r", 13) }

// tabTo presses Tab until an element with this label has the focus.
func (v *viewer) tabTo(label string) {
	v.t.Helper()
	for range 40 {
		v.tab()
		focused := v.evaluate("document.activeElement.ariaLabel + ' ' + document.activeElement.textContent")
		if strings.Contains(focused, label) {
			return
		}
	}
	v.t.Fatalf("Tab does not reach %s", label)
}

// look sets the window's size, in CSS pixels, and the theme.
func (v *viewer) look(width, height int, theme string) {
	v.t.Helper()
	v.Call(v.page, "Emulation.setDeviceMetricsOverride",
		fmt.Sprintf(`{"width":%d,"height":%d,"deviceScaleFactor":1,"mobile":false}`, width, height), nil)
	v.Call(v.page, "Emulation.setEmulatedMedia",
		fmt.Sprintf(`{"features":[{"name":"prefers-color-scheme","value":%q}]}`, theme), nil)
	v.await("the width", fmt.Sprintf("innerWidth === %d", width))
}

// photograph keeps a picture of the window for a person to look at, if the task photographs wants it.
func (v *viewer) photograph(name string) {
	v.t.Helper()
	folder := os.Getenv("BROWSER_COORDINATOR_SHOW_PICTURES")
	if folder == "" {
		return
	}
	var picture struct{ Data string }
	v.Call(v.page, "Page.captureScreenshot", "{}", &picture)
	data := must.Get(base64.StdEncoding.DecodeString(picture.Data))(v.t)
	must.Do(v.t, os.MkdirAll(folder, 0o755))
	must.Do(v.t, os.WriteFile(filepath.Join(folder, name+".png"), data, 0o644))
}

// axeFinds: axe-core finds nothing, also in the frame.
func (v *viewer) axeFinds(where string) {
	v.t.Helper()
	v.evaluate(`axe.run(document, {resultTypes: ["violations"]}).then(({violations, passes}) =>
		window.found = violations.flatMap(({id, nodes}) =>
			nodes.map(({html, target}) => id + " " + target + " " + html)).join("; "),
		(e) => window.found = String(e)); 0`)
	v.await("axe-core ends", `window.found !== undefined`)
	if found := v.evaluate("window.found"); found != "" {
		v.t.Errorf("%s: %s", where, found)
	}
	v.evaluate("delete window.found; 0")
}

//go:embed layout_test.js
var layout string

// hasNoFlaws: nothing in sight is cut off, overlaps or makes the window scroll sideways.
func (v *viewer) hasNoFlaws(where string) {
	v.t.Helper()
	v.evaluate(layout)
	if flaws := v.evaluate("flaws().join(`\\n`)"); flaws != "" {
		v.t.Errorf("%s:\n%s", where, flaws)
	}
}

// reachesAll: the keyboard alone reaches each control, in the order of the page, and each shows that it has the focus.
func (v *viewer) reachesAll(where string) {
	v.t.Helper()
	v.evaluate(layout)
	most := v.evaluate("forget(); String(controls().length)")
	var n int
	must.Get(fmt.Sscan(most, &n))(v.t)
	missed := "all"
	for i := 0; i < 2*n+3 && missed != ""; i++ { // from where the focus is, once round and to the frame's end
		v.tab()
		if flaw := v.evaluate("focusFlaw()"); flaw != "" {
			v.t.Errorf("%s: %s", where, flaw)
		}
		missed = v.evaluate("unreached().join(`\\n`)")
	}
	if missed != "" {
		v.t.Errorf("%s: Tab does not reach\n%s", where, missed)
	}
}

// axe is axe-core's script.
func axe(t *testing.T) string {
	t.Helper()
	file := must.Get(os.Open("../page/audit/axe/axe.min.js.gz"))(t)
	defer file.Close()
	return string(must.Get(io.ReadAll(must.Get(gzip.NewReader(file))(t)))(t))
}
