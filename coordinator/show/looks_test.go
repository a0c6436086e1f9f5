package show

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"browser-coordinator/coordinator/registry"
	"browser-coordinator/coordinator/status"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/window"
	"browser-coordinator/internal/cdptest"
	"browser-coordinator/internal/must"
	"browser-coordinator/policy"
	"browser-coordinator/vscodeipc"
)

// scene is what a user has on a busy day.
type scene struct {
	*testing.T
	shop string // its server's address
}

// shopPages are the pages of the scene's shop, by their paths.
var shopPages = map[string]string{
	"/": `<title>Tea Shop</title><h1>Tea Shop</h1><p>Fresh leaves, sent on the day they are packed.</p>
		<div class=grid><figure></figure><figure></figure><figure></figure><figure></figure></div>
		<button>To the basket</button>`,
	"/checkout": `<title>Checkout · Tea Shop</title><h1>Checkout</h1><label>Name <input value="Ada Lovelace"></label>
		<label>Coupon <input value="TEA10"></label><button>Buy for 23.40 €</button>
		<script>console.error("POST /api/order failed: 500"); setTimeout(() => { throw new TypeError(
		"Cannot read properties of undefined (reading 'total') at src/order.ts:12") })</script>`,
	"/account/settings": `
		<title>Settings for notifications, addresses, payment and everything else that an account has</title>
		<h1>Settings</h1><p>Signed in as ada@shop.test</p>
		<label>Language <select><option>English</select></label>`,
}

func openScene(t *testing.T) *scene {
	return &scene{t, serveHTML(t, func(path string) string {
		return `<!doctype html><html lang=en><meta charset=utf-8><style>body{font:17px system-ui,sans-serif;margin:0;
			padding:3em 4em;background:linear-gradient(160deg,#f3f8f1,#d8ead2);color:#21391c;min-height:80vh}h1{font-size:2.4em}
			label{display:block;margin:1em 0}button{font:inherit;padding:.6em 1.4em;border:0;border-radius:6px;
			background:#2f7d32;color:#fff}.grid{display:grid;grid-template-columns:repeat(4,1fr);gap:1em;margin:1em 0}
			figure{margin:0;height:9em;border-radius:8px;background:#7fb069}</style>` + shopPages[path]
	})}
}

// browser is a browser with these pages of the shop.
func (s *scene) browser(paths ...string) string {
	s.Helper()
	b := cdptest.Launch(s)
	c := cdptest.Dial(s, b.URL())
	var targets struct {
		Infos []struct{ TargetID, Type string } `json:"targetInfos"`
	}
	c.Call("", "Target.getTargets", "{}", &targets)
	for _, path := range paths {
		openTab(c, s.shop+path)
	}
	for _, info := range targets.Infos {
		if info.Type == "page" { // the empty one
			c.Call("", "Target.closeTarget", fmt.Sprintf(`{"targetId":%q}`, info.TargetID), nil)
		}
	}
	return b.URL()
}

// sceneWindow is a window of the scene.
type sceneWindow struct {
	folder, kind string
	state        vscodeipc.State
	clients      []vscodeipc.ConnectedClient
	list         func() vscodeipc.ListResult // in place of clients and last; nil: those
	last         []vscodeipc.Activity
	questions    []vscodeipc.PendingQuestion
	asks         func() []vscodeipc.PendingQuestion // in place of questions; nil: those
}

func (s *scene) open(w sceneWindow) *vscodeipc.Server {
	s.Helper()
	folder := filepath.Join(s.TempDir(), w.folder)
	must.Do(s, os.Mkdir(folder, 0o755))
	folder = must.Get(vscodeipc.Canonical(folder))(s)
	server := must.Get(vscodeipc.Serve(s.Context(), vscodeipc.ServerOptions{
		Workspace: folder, Folders: []string{folder}, Server: vscodeipc.ServerInfo{Name: "test", Kind: w.kind},
		Commands: map[string]vscodeipc.Handler{
			vscodeipc.CommandClientList: func(context.Context, vscodeipc.Call) (any, error) {
				if w.list != nil {
					return w.list(), nil
				}
				return vscodeipc.ListResult{Clients: w.clients, Last: w.last}, nil
			},
			vscodeipc.CommandPermissionList: func(context.Context, vscodeipc.Call) (any, error) {
				if w.asks != nil {
					return vscodeipc.QuestionsResult{Questions: w.asks()}, nil
				}
				return vscodeipc.QuestionsResult{Questions: w.questions}, nil
			},
			vscodeipc.CommandPermissionAnswer: func(context.Context, vscodeipc.Call) (any, error) { return struct{}{}, nil },
			vscodeipc.CommandAccessChange:     func(context.Context, vscodeipc.Call) (any, error) { return struct{}{}, nil },
			vscodeipc.CommandNoteGive:         func(context.Context, vscodeipc.Call) (any, error) { return struct{}{}, nil },
		},
	}))(s)
	s.Cleanup(func() { server.Close(context.Background()) })
	must.Do(s, server.SetState(w.state))
	return server
}

// fill opens windows of all kinds, and an agent with its own browser.
func (s *scene) fill() {
	s.Helper()
	now := time.Now().UnixMilli()
	claude := vscodeipc.ConnectedClient{ID: "c", Name: "Claude Code", Version: "2.1.0", Kind: "mcp", Since: now}
	action := func(act, detail string) vscodeipc.AskArg {
		return vscodeipc.AskArg{Client: vscodeipc.ClientInfo{ID: claude.ID, Name: claude.Name, Version: claude.Version},
			Act: act, Detail: detail, Category: "input",
			Page: &vscodeipc.PageName{Title: "Checkout · Tea Shop", URL: s.shop + "/checkout"}}
	}
	shown := func(url string) *vscodeipc.Browser {
		return &vscodeipc.Browser{URL: url, Product: "Chrome/156.0.8078.79", Via: "launched"}
	}
	s.open(sceneWindow{
		folder: "tea-shop", kind: "vscode",
		state: vscodeipc.State{Browser: shown(s.browser("/", "/checkout", "/account/settings")),
			Access: vscodeipc.Access{Mode: vscodeipc.AccessAsk, Stopped: []string{"Cursor"}}},
		clients: []vscodeipc.ConnectedClient{claude,
			{ID: "p", Name: "Playwright", Version: "1.65.1", Kind: "cdp", Since: now}},
		last: []vscodeipc.Activity{
			{Client: "c", Time: now - 4_000, Act: "browser_type", Target: "“TEA10” into “Coupon”", OK: true,
				Outcome: "done", URL: s.shop + "/checkout"},
			{Client: "p", Time: now - 190_000, Act: "Page.navigate", OK: true, Outcome: "done"}},
		questions: []vscodeipc.PendingQuestion{{ID: "q", Client: action("", "").Client,
			Choices: []string{"once", "category", "session", "refuse"},
			Actions: []vscodeipc.PendingAction{
				{Number: 1, Action: action("browser_click", `Click button "Buy for 23.40 €"`)},
				{Number: 2, Action: action("browser_type",
					`Type “Analytical Engine Street 1, London” into textbox "Address"`)}}}},
	})
	s.open(sceneWindow{
		folder: strings.Repeat("a-folder-with-a-long-name-", 4), kind: "terminal",
		state: vscodeipc.State{Browser: shown(s.browser("/")), Access: vscodeipc.Access{Mode: vscodeipc.AccessView}},
		clients: []vscodeipc.ConnectedClient{{ID: "l", Name: "An agent whose name needs more room than there is in a row",
			Version: "2026.11.27-nightly", Kind: "mcp", Since: now}},
		last: []vscodeipc.Activity{{Client: "l", Time: now - 3_700_000, Act: "browser_navigate", OK: true, Outcome: "done",
			Target: "http://localhost:5173/" + strings.Repeat("path/", 40)}},
		questions: []vscodeipc.PendingQuestion{{ID: "r", Client: action("", "").Client, Choices: []string{"refuse"},
			Actions: []vscodeipc.PendingAction{{Number: 1, Action: vscodeipc.AskArg{
				Client: action("", "").Client, Act: vscodeipc.CommandRecordShow, Detail: "Show me how you order tea"}}}}},
	})
	s.open(sceneWindow{folder: "api", kind: "vscode",
		state: vscodeipc.State{Access: vscodeipc.Access{Mode: vscodeipc.AccessFull}}})
	alone := agent.Unlisted{
		Client: registry.Client{
			ConnectedClient: vscodeipc.ConnectedClient{ID: "x", Name: "Codex", Version: "1.4.2", Kind: "mcp", Since: now},
			Last:            &vscodeipc.Activity{Client: "x", Time: now - 61_000, Act: "browser_snapshot", OK: true}},
		Folder: "/home/ada/docs", Browser: shown(s.browser("/account/settings")), User: window.NewAlone(nil, ""), // gets no note
		Access: policy.State{Mode: policy.ModeFull},
	}
	s.Cleanup(status.ServeAgents(slog.New(slog.DiscardHandler),
		func(context.Context) []agent.Unlisted { return []agent.Unlisted{alone} }))
}

// widths are those of a phone, half a screen and a screen, in CSS pixels.
var widths = []int{360, 800, 1280}

// inEachLook photographs the page in two themes at three widths, and has axe-core and the layout checked.
func inEachLook(v *viewer, name string) {
	v.t.Helper()
	for _, theme := range []string{"light", "dark"} {
		for _, width := range widths {
			v.look(width, 800, theme)
			where := fmt.Sprintf("%s-%s-%d", name, theme, width)
			v.hasNoFlaws(where)
			v.axeFinds(where)
			if tall := v.evaluate(`String(Math.max(800, Math.min(4000,
				document.querySelector("#all").scrollHeight + document.querySelector("#top").offsetHeight)))`); tall != "800" {
				var height int
				must.Get(fmt.Sscan(tall, &height))(v.t)
				v.look(width, height, theme)
				v.await("all pictures", filmed)
			}
			v.photograph(where)
		}
	}
}

// covered: a question has the focus, and is over the live view.
const covered = `(() => {
	const question = document.querySelector(".question:not(.recording)"), {x, y} = question.getBoundingClientRect();
	return document.activeElement === question && document.elementFromPoint(x + 5, y + 5) === question &&
		document.querySelector("iframe").checkVisibility() && !document.querySelector("#all .page")?.checkVisibility();
})()`

// filmed: each page that has a browser has a picture.
const filmed = `[...document.querySelectorAll("#all .page canvas")]
	.every((canvas) => !canvas.checkVisibility() || canvas.width > 0)`

// TestLooks: whatever is shown, nothing is cut off or overlaps, axe-core finds nothing, and the keyboard alone reaches
// everything. The task photographs keeps the pictures.
func TestLooks(t *testing.T) {
	s := start(t)
	v := openViewer(t, "")
	v.Call(v.page, "Page.bringToFront", "{}", nil)
	v.open("http://" + s.host + "/")
	v.await("the page asks for a link", `document.body?.innerText.includes("needs a link")`)
	inEachLook(v, "no-link")
	v.open(s.Link())
	v.await("there is nothing", `document.body?.innerText.includes("No window is open")`)
	inEachLook(v, "empty")

	scene := openScene(t)
	scene.fill()
	v.look(1280, 4_000, "light")
	v.await("all windows", `document.querySelectorAll("#windows > section").length === 4`)
	v.await("all pages", `document.querySelectorAll(".page").length === 5 && `+filmed)
	v.await("the console's errors", `document.querySelector(".errors summary:not(:empty)") && document.querySelector(
		".question button:enabled")`)
	inEachLook(v, "all")
	for _, width := range widths {
		v.look(width, 800, "light")
		v.reachesAll(fmt.Sprintf("all-%d", width))
	}

	v.look(1280, 4_000, "light")
	v.openLive("Checkout · Tea Shop")
	inEachLook(v, "live")
	for _, width := range widths {
		v.look(width, 800, "light")
		v.reachesAll(fmt.Sprintf("live-%d", width))
	}
	if errors := v.evaluate(`[...document.querySelectorAll(".errors:not([hidden]) summary")]
		.map((each) => each.textContent).join("")`); errors != "2 errors" {
		t.Errorf("the console has %s", errors)
	}
	v.evaluate(view + `.querySelector("#input").click(); 0`)
	inEachLook(v, "live-input")
	v.look(360, 800, "light")
	v.evaluate(`document.querySelector("#asked").click(); 0`)
	v.await("the question, over the live view", covered)
	v.photograph("live-question")
	s.Close()
	v.await("the end", `document.querySelector("#lost").textContent.includes("has ended")`)
	inEachLook(v, "ended")
}

// TestStates: colours show where the eye should go: amber for what waits for the user, red for what failed, and a
// pulse for what acts, unless the user wants no motion. While the user drives a bar has what waits for that, in the
// overview and in the live view. What was done long ago is no news.
func TestStates(t *testing.T) {
	now := time.Now().UnixMilli()
	agentOf := func(id string, running ...vscodeipc.RunningCall) vscodeipc.ConnectedClient {
		return vscodeipc.ConnectedClient{ID: id, Name: id, Version: "1", Kind: "mcp", Since: now, Running: running}
	}
	click := vscodeipc.RunningCall{Time: now, Act: "browser_click", Target: `button "Buy"`, Script: "typed()"}
	asks := vscodeipc.ClientInfo{ID: "asks", Name: "asks", Version: "1"}
	w := sceneWindow{folder: "shop", kind: "vscode",
		clients: []vscodeipc.ConnectedClient{agentOf("acts", click), agentOf("failed"), agentOf("idle"), agentOf("asks")},
		last: []vscodeipc.Activity{
			{Client: "failed", Time: now, Act: "browser_click", Target: "#b", Outcome: "refused: the user did not allow it"},
			{Client: "idle", Time: now - 3_700_000, Act: "browser_snapshot", OK: true}},
		questions: []vscodeipc.PendingQuestion{{ID: "q", Client: asks, Choices: []string{"once", "refuse"},
			Actions: []vscodeipc.PendingAction{{Number: 1, Action: vscodeipc.AskArg{Client: asks, Act: "browser_click"}}}}}}
	s, scene := start(t), openScene(t)
	browser := scene.browser("/")
	w.state = vscodeipc.State{Browser: &vscodeipc.Browser{URL: browser, Product: "Chrome/156.0", Via: "launched"},
		Access: vscodeipc.Access{Mode: vscodeipc.AccessAsk}}
	server := scene.open(w)
	v := openViewer(t, "")
	v.look(1280, 800, "light")
	v.open(s.Link())
	const row = `document.querySelector(".clients .%s")`
	await := func(state, text string) {
		t.Helper()
		v.await(state, fmt.Sprintf(row, state)+`?.textContent.includes("`+text+`")`)
	}
	await("acts", `Click button \"Buy\"`)
	await("failed", "refused: the user did not allow it")
	await("idle", "Idle")
	await("waits", "Waits for your answer")
	style := func(state, name, pseudo string) string {
		return v.evaluate(fmt.Sprintf("getComputedStyle("+row+", %q).%s", state, pseudo, name))
	}
	colours := map[string]bool{}
	for _, state := range []string{"acts", "failed", "idle", "waits"} {
		colours[style(state, "backgroundColor", "::before")] = true
	}
	if len(colours) != 4 {
		t.Errorf("the states have the colours %v", colours)
	}
	if got := style("acts", "animationName", "::before"); got != "pulse" {
		t.Errorf("what acts has the animation %s", got)
	}
	v.Call(v.page, "Emulation.setEmulatedMedia",
		`{"features":[{"name":"prefers-reduced-motion","value":"reduce"}]}`, nil)
	if got := style("acts", "animationName", "::before"); got != "none" {
		t.Errorf("without motion what acts has the animation %s", got)
	}
	w.state.Access.TakenOver = true
	must.Do(t, server.SetState(w.state))
	const bar = `document.querySelector("section > .driving:not([hidden])")`
	v.await("the bar", bar+`?.textContent.includes("You drive") && `+bar+`.textContent.includes('acts waits: click button "Buy"')`)
	v.photograph("states")
	v.openLive("Tea Shop")
	v.await("the bar of the live view", view+`.querySelector("#driving:not([hidden])")?.textContent.includes(
		'acts waits: click button "Buy"') && !`+bar+`.checkVisibility()`)
	if shown := v.evaluate("document.documentElement.outerHTML"); strings.Contains(shown, "typed()") {
		t.Error("the page has a script")
	}
}

// TestSharp: at every width a picture has each pixel of the screen that it is shown with, in the overview and in the
// live view, and takes most of the room there.
func TestSharp(t *testing.T) {
	v, _, agents := openLive(t, sceneWindow{}, "/")
	agents.Call(onlyTab(agents), "Emulation.setDeviceMetricsOverride",
		`{"width":2000,"height":1250,"deviceScaleFactor":1,"mobile":false}`, nil)
	const canvas = view + `.querySelector("#canvas")`
	for _, width := range []int{420, 800, 1280, 1920} {
		v.look(width, 1000, "light")
		v.await(fmt.Sprint("a sharp picture at ", width), canvas+`.width === Math.round(`+canvas+
			`.getBoundingClientRect().width) && (({clientWidth, clientHeight}) => `+canvas+`.width > clientWidth - 12 || `+
			canvas+`.height > clientHeight - 12)(`+view+`.querySelector("#screen"))`)
	}
	v.evaluate(`document.querySelector("#back").click(); 0`)
	for width, least := range map[int]int{420: 380, 800: 730, 1280: 860, 1920: 1100} {
		v.look(width, 1000, "light")
		v.await(fmt.Sprint("a sharp picture in the overview at ", width), fmt.Sprintf(`(({width, clientWidth}) =>
			width === clientWidth && width >= %d)(document.querySelector(".page canvas"))`, least))
	}
}

// TestDialogInLiveView: a dialog of the page is shown as text, and the keyboard answers it.
func TestDialogInLiveView(t *testing.T) {
	v, _, agents := openLive(t, sceneWindow{}, "/")
	tab := onlyTab(agents)
	text, _ := json.Marshal(hostile)
	agents.Evaluate(tab, fmt.Sprintf("setTimeout(() => { answer = confirm(%s + 'long '.repeat(200)) }); 0", text))
	v.await("the dialog", view+`.querySelector("#message").textContent.includes("<img src=x")`)
	v.await("its buttons", view+`.querySelector("#accept:enabled")`)
	if n := v.evaluate("String(" + view + `.querySelectorAll("main img, main script").length)`); n != "0" ||
		strings.Contains(v.evaluate("document.title + "+view+".title"), "owned") {
		t.Errorf("%s elements of hostile texts", n)
	}
	inEachLook(v, "live-dialog")
	v.reachesAll("the dialog")
	v.evaluate(view + `.querySelector("#accept").focus(); 0`)
	v.enter()
	must.Await(t, "the answer", func() bool { return agents.Evaluate(tab, "String(window.answer)") == "true" })
	v.await("the dialog is gone", view+`.querySelector("#dialog").hidden`)
}
