package tools_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/cdpproxy/access"
	"browser-coordinator/coordinator/chrome"
	"browser-coordinator/coordinator/tools"
	"browser-coordinator/internal/cdptest"
	"browser-coordinator/internal/desktoptest"
	"browser-coordinator/internal/longtest"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/toolstest"
	"browser-coordinator/policy"
	"browser-coordinator/vscodeipc"
)

// unchangedPage has what the tools' examples look for, and counts what a page can notice.
const unchangedPage = `<!doctype html><title>Shop</title><link rel=stylesheet href=/app.css><style>
body { margin: 0; height: 3000px; background: linear-gradient(white, teal) }
@media (max-width: 500px) { body { background: red } }
</style><main><h1>Thank you</h1><button>Order</button><label>Coupon <input value=TEA10></label>
<ul aria-label=Basket><li>Tea</li><li>Coffee</li></ul></main><script>
localStorage.theme = sessionStorage.theme = "dark";
const counts = {};
for (const name of ["resize", "focus", "blur", "scroll", "scrollend", "pageshow", "pagehide", "beforeprint"])
	addEventListener(name, () => counts[name] = (counts[name] ?? 0) + 1);
document.addEventListener("visibilitychange", () => counts.visibility = (counts.visibility ?? 0) + 1);
for (const query of ["(max-width: 500px)", "(orientation: portrait)", "(prefers-color-scheme: dark)", "print",
		"(prefers-reduced-motion)", "(pointer: coarse)", "(min-resolution: 1.5dppx)"])
	matchMedia(query).addEventListener("change", () => counts[query] = (counts[query] ?? 0) + 1);
visualViewport.addEventListener("resize", () => counts.viewport = (counts.viewport ?? 0) + 1);
new MutationObserver(() => counts.changes = (counts.changes ?? 0) + 1).observe(document,
	{ subtree: true, childList: true, attributes: true, characterData: true });
const noticed = () => JSON.stringify([innerWidth, innerHeight, outerWidth, outerHeight, devicePixelRatio,
	visualViewport.width, visualViewport.height, visualViewport.scale, screen.width, screenX, screenY, scrollX, scrollY,
	document.visibilityState, document.hasFocus(), document.activeElement.tagName, navigator.userActivation.hasBeenActive,
	...["(max-width: 500px)", "(orientation: portrait)", "(prefers-color-scheme: dark)", "print", "(pointer: coarse)",
		"(min-resolution: 1.5dppx)"].map(q => matchMedia(q).matches), counts]);
</script>`

// unchanged is a page that others look at.
type unchanged struct {
	t        *testing.T
	screen   *desktoptest.Screen // nil: headless
	window   *toolstest.Window
	endpoint string
	user     *cdptest.Client
	session  string
	target   string
	requests atomic.Int32
	noticed  string
	pixels   []byte
}

// watchPage opens the page.
func watchPage(t *testing.T, headed bool) *unchanged {
	t.Helper()
	u := &unchanged{t: t}
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		u.requests.Add(1)
		if strings.HasSuffix(r.URL.Path, ".css") {
			w.Header().Set("Content-Type", "text/css")
			w.Header().Set("Cache-Control", "no-store")
			return
		}
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Set-Cookie", "sid=1")
		_, _ = io.WriteString(w, unchangedPage)
	})
	options := chrome.Options{
		Executable: must.Get(chrome.Find(chrome.FindOptions{}))(t), Headless: !headed, URL: url, DebuggingPort: new(0),
		Viewport: "900x600", Args: []string{"--disable-gpu", "--window-position=0,0"},
	}
	if headed {
		u.screen = desktoptest.Start(t)
		t.Setenv("DISPLAY", u.screen.Display())
	}
	browser := must.Get(chrome.Launch(t.Context(), options))(t)
	t.Cleanup(func() { must.Do(t, browser.Close(t.Context())) })
	u.window = toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), browser.URL())
	u.endpoint = serveEndpoint(t, browser.URL())
	u.user = cdptest.Dial(t, browser.URL())
	var targets struct {
		All []struct{ TargetID, Type string } `json:"targetInfos"`
	}
	u.user.Call("", "Target.getTargets", "", &targets)
	for _, each := range targets.All {
		if each.Type == "page" {
			u.target = each.TargetID
		}
	}
	u.session = u.user.Attach(u.target)
	u.awaitLoaded()
	return u
}

func (u *unchanged) awaitLoaded() {
	u.t.Helper()
	for u.user.Evaluate(u.session, "document.title + document.readyState") != "Shopcomplete" {
		continue
	}
}

type oneBrowser struct{ browser *cdpproxy.Browser }

func (o oneBrowser) Browser() (*cdpproxy.Browser, <-chan struct{}) { return o.browser, nil }

type mayDoAll struct{ policy.User }

func (mayDoAll) Access() (policy.State, <-chan struct{}) {
	return policy.State{Mode: policy.ModeFull}, nil
}

// serveEndpoint serves a browser as a window's endpoint does.
func serveEndpoint(t *testing.T, url string) string {
	t.Helper()
	rule := access.NewRule(mayDoAll{}, nil)
	ln := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	p := cdpproxy.New(oneBrowser{&cdpproxy.Browser{Generation: 1, Name: "test", URL: url}},
		&cdpproxy.Options{Token: "token", Rule: rule})
	ended := make(chan error)
	go func() { ended <- p.Serve(ln) }()
	t.Cleanup(func() {
		must.Do(t, p.Shutdown(t.Context()))
		must.Do(t, <-ended)
		must.Do(t, rule.Close())
	})
	return "ws://" + ln.Addr().String() + "/token/devtools/browser/x"
}

// remember notes what the page and its user see.
func (u *unchanged) remember() {
	u.t.Helper()
	u.noticed = u.user.Evaluate(u.session, "noticed()")
	if u.screen != nil {
		u.pixels = u.screen.AwaitRest()
	}
}

// compare fails if that has changed.
func (u *unchanged) compare(after string) {
	u.t.Helper()
	if now := u.user.Evaluate(u.session, "noticed()"); now != u.noticed {
		u.t.Errorf("after %s the page notices\n%s, before\n%s", after, now, u.noticed)
		u.remember()
	}
	if u.screen != nil && !u.screen.AwaitPixels(u.pixels) {
		file := u.t.ArtifactDir() + "/" + strings.ReplaceAll(after, " ", "-") + ".png"
		u.screen.Photograph(file)
		u.t.Errorf("after %s the screen shows something else: %s", after, file)
		u.remember()
	}
}

// looking are the calls of every tool that reads or shows, by their definitions. A recording is
// stopped at once, and what is shown is hidden.
func looking(t *testing.T) (steps [][]toolCall) {
	t.Helper()
	ends := map[string]string{
		"browser_start_video": "browser_stop_video", "browser_highlight": "browser_hide_highlight",
		"performance_start_trace": "performance_stop_trace", "performance_start_profile": "performance_stop_profile",
		"performance_start_coverage": "performance_stop_coverage",
	}
	// Where the example does more than to look.
	instead := map[string]args{
		"browser_page_tool": {}, "debug_breakpoints": {"action": "list"}, "present_review": {"markdown": "# Cart"},
		"browser_take_screenshot": {"marks": true},
	}
	ending := map[string]bool{}
	for _, end := range ends {
		ending[end] = true
	}
	for _, tool := range tools.All() {
		if tool.Effect != tools.Reads && tool.Effect != tools.Shows && tool.ReadOnly == "" || ending[tool.Name] {
			continue
		}
		a, other := instead[tool.Name]
		if !other {
			must.Do(t, json.Unmarshal([]byte(tool.Example), &a))
		}
		step := []toolCall{{tool.Name, a, nil}}
		if end := ends[tool.Name]; end != "" {
			step = append(step, toolCall{end, nil, nil})
		}
		steps = append(steps, step)
	}
	steps = append(steps,
		[]toolCall{{"browser_take_screenshot", nil, nil}},
		[]toolCall{{"browser_take_screenshot", args{"clip": "10,10,100,100", "scale": "device"}, nil}})
	return steps
}

// unanswered are tools whose peer answers nothing here: the window's user, its debugger, a video
// that is not recorded.
var unanswered = map[string]bool{
	"pick_element": true, "browser_record_user": true, "debug_state": true, "debug_breakpoints": true,
	"present_review": true, "reveal_source": true, "browser_storyboard": true, "browser_export": true,
}

// run makes the calls of a step.
func (u *unchanged) run(agent *toolstest.Agent, step []toolCall) {
	for _, call := range step {
		if _, err := agent.Call(call.tool, call.args); err != nil && !unanswered[call.tool] {
			u.t.Errorf("%s %v: %v", call.tool, call.args, err)
		}
	}
}

// drawn waits until the page has drawn two frames.
const drawn = "new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))"

// clip is of a picture that changes the page for its time.
const clip = `{"clip":{"x":10,"y":10,"width":60,"height":40,"scale":1}}`

// Nothing that only looks or tells changes what the page or its user sees: no tool that reads or
// shows, alone or beside another agent's, no picture of a client, with the live view open and
// closed, nor one whose party ends in the middle.
func TestLookingChangesNothing(t *testing.T) {
	for name, headed := range map[string]bool{"headed": true, "headless": false} {
		t.Run(name, func(t *testing.T) { testUnchanged(t, headed) })
	}
}

func testUnchanged(t *testing.T, headed bool) {
	u := watchPage(t, headed)
	u.window.Allow(vscodeipc.AccessView)
	first, second := u.window.Agent(tools.CapNames()...), u.window.Agent(tools.CapNames()...)
	for _, agent := range []*toolstest.Agent{first, second} {
		agent.Must("browser_snapshot", nil)
	}
	u.remember()
	steps := looking(t)
	every, everyViewed := longtest.Form(t, 4, 1), longtest.Form(t, 8, 1)
	for n, step := range steps {
		if n%every == 0 {
			u.run(first, step)
			u.compare(step[0].tool)
		}
	}
	u.pictures(first, "")
	for n := range 4 {
		leaving := u.window.Agent(tools.CapNames()...)
		leaving.Must("browser_snapshot", nil)
		var calling sync.WaitGroup
		calling.Go(func() {
			name := []string{"browser_take_screenshot", "browser_inspect"}[n%2]
			_, _ = leaving.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args{"target": "main"}})
		})
		must.Do(t, leaving.Close())
		calling.Wait()
		u.compare(fmt.Sprint("an agent that ends in the middle, round ", n))
	}
	viewer := cdptest.Dial(t, u.endpoint)
	view := viewer.Attach(u.target)
	viewer.Call(view, "Page.startScreencast", `{"format":"jpeg","quality":50,"maxWidth":400,"maxHeight":300}`, nil)
	viewer.Event(view, "Page.screencastFrame", "data")
	u.pictures(first, " with the live view open")
	for n, step := range steps {
		if n%everyViewed == 0 {
			u.run(first, step)
			u.compare(step[0].tool + " with the live view open")
		}
	}
	viewer.Leave()
	u.compare("the end of the live view")
	longtest.Require(t) // from here on
	for n, step := range steps {
		other := steps[(n+1)%len(steps)]
		if len(step)+len(other) > 2 {
			continue // a recording is one agent's at a time
		}
		var both sync.WaitGroup
		both.Go(func() { u.run(second, other) })
		u.run(first, step)
		both.Wait()
		u.compare(step[0].tool + " beside " + other[0].tool)
	}
}

// pictures are those of two clients and an agent at once, and of a client that leaves meanwhile. One
// beyond the viewport is left out: the page notices that while it lasts.
func (u *unchanged) pictures(agent *toolstest.Agent, during string) {
	u.t.Helper()
	one, another := cdptest.Dial(u.t, u.endpoint), cdptest.Dial(u.t, u.endpoint)
	sessions := []string{one.Attach(u.target), another.Attach(u.target)}
	for range 5 {
		a := one.Start(sessions[0], "Page.captureScreenshot", clip)
		b := another.Start(sessions[1], "Page.captureScreenshot", clip)
		u.run(agent, []toolCall{{"browser_take_screenshot", nil, nil}})
		one.Answer(a)
		another.Answer(b)
	}
	another.Start(sessions[1], "Page.captureScreenshot", clip)
	another.Leave()
	one.Call(sessions[0], "Page.captureScreenshot", clip, nil)
	one.Leave()
	u.compare("pictures of clients" + during)
}

// Two agents' and a client's pictures at once in a window that its user sees, of the full page and of a part. The
// page may notice its other size meanwhile, and nothing later.
func TestPicturesOfAWindowThatIsSeen(t *testing.T) {
	u := watchPage(t, true)
	first, second := u.window.Agent(tools.CapNames()...), u.window.Agent(tools.CapNames()...)
	forget := func() { // what is noticed meanwhile
		u.user.Evaluate(u.session, drawn+`.then(() => ["resize", "viewport", "(max-width: 500px)",
			"(orientation: portrait)"].forEach(name => delete counts[name]))`)
	}
	client := cdptest.Dial(t, u.endpoint)
	session := client.Attach(u.target)
	u.user.Evaluate(u.session, "scrollTo(0, 500)")
	forget()
	u.remember()
	full := args{"fullPage": true}
	first.Must("browser_take_screenshot", full) // the page is this agent's then
	forget()
	u.compare("a full page")
	for round, other := range []args{{"clip": "0,0,60,40"}, {"clip": "0,0,60,40", "type": "webp"}, {}, {"marks": true}} {
		for range longtest.Form(t, 2, 10) {
			picture := client.Start(session, "Page.captureScreenshot", clip)
			var both sync.WaitGroup
			both.Go(func() { u.run(second, []toolCall{{"browser_take_screenshot", other, nil}}) })
			u.run(first, []toolCall{{"browser_take_screenshot", full, nil}})
			both.Wait()
			client.Answer(picture)
			forget()
			u.compare(fmt.Sprint("pictures at once, round ", round))
		}
	}
}

// What a page can notice of the commands by which this program reads: specs/security.md has the
// same list.
func TestWhatAPageNotices(t *testing.T) {
	u := watchPage(t, false)
	at := u.user.Evaluate(u.session, "location.href")
	for n, row := range []struct {
		method, params string
		before         []string
		notices        bool
	}{
		{"Runtime.evaluate", `{"expression":"document.title","userGesture":false}`, nil, false},
		{"Runtime.enable", "", nil, false},
		{"DOM.getDocument", `{"depth":-1,"pierce":true}`, []string{"DOM.enable"}, false},
		{"DOM.getOuterHTML", `{"nodeId":1,"includeShadowDOM":true}`, []string{"DOM.enable", "DOM.getDocument"}, false},
		{"DOM.describeNode", `{"nodeId":1,"depth":-1,"pierce":true}`, []string{"DOM.enable", "DOM.getDocument"}, false},
		{"DOMSnapshot.captureSnapshot", `{"computedStyles":["color"]}`, nil, false},
		{"DOM.getNodeForLocation", `{"x":10,"y":10}`, []string{"DOM.enable"}, false},
		{"CSS.enable", "", []string{"DOM.enable"}, true}, // the server gets requests
		{"Page.getResourceContent", fmt.Sprintf(`{"frameId":%q,"url":%q}`, u.target, u.user.Evaluate(u.session,
			"document.querySelector('link').href")), []string{"Page.enable"}, true},
		{"Accessibility.getFullAXTree", "", []string{"Accessibility.enable"}, false},
		{"Page.captureScreenshot", "", nil, false},
		{"Page.captureScreenshot", clip, nil, false},
		{"Page.captureScreenshot", `{"captureBeyondViewport":true}`, nil, true},
		{"Page.startScreencast", `{"maxWidth":100,"maxHeight":100}`, nil, false},
		{"Page.getLayoutMetrics", "", nil, false},
		{"Page.getFrameTree", "", []string{"Page.enable"}, false},
		{"Debugger.enable", "", nil, false},
		{"Emulation.setDeviceMetricsOverride", `{"width":400,"height":300,"deviceScaleFactor":2,"mobile":false}`, nil, true},
		{"Emulation.setEmulatedMedia", `{"features":[{"name":"prefers-color-scheme","value":"dark"}]}`, nil, true},
	} {
		// Of each document the browser requests the style sheets again once.
		u.user.Call(u.session, "Page.navigate", fmt.Sprintf(`{"url":"%s?%d"}`, at, n), nil)
		u.awaitLoaded()
		// The console of a program may read this one.
		u.user.Evaluate(u.session, `trap = new Error(); Object.defineProperty(trap, "stack",
			{ get() { counts.getter = (counts.getter ?? 0) + 1; return "x" } }); 1`)
		c := cdptest.Dial(t, u.endpoint)
		session := c.Attach(u.target)
		for _, method := range row.before {
			c.Call(session, method, "", nil)
		}
		c.Evaluate(session, drawn)
		before, requests := u.user.Evaluate(u.session, "noticed()"), u.requests.Load()
		c.Try(session, row.method, row.params)
		u.user.Evaluate(u.session, "console.log(trap); "+drawn)
		after := u.user.Evaluate(u.session, "noticed()")
		if notices := after != before || u.requests.Load() != requests; notices != row.notices {
			t.Errorf("%s %s: the page notices: %v, want %v\n%s\n%s", row.method, row.params, notices,
				row.notices, before, after)
		}
		c.Leave()
		u.user.Evaluate(u.session, drawn)
	}
}
