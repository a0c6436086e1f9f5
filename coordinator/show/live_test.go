package show

import (
	"strings"
	"sync/atomic"
	"testing"

	"browser-coordinator/internal/cdptest"
	"browser-coordinator/internal/must"
	"browser-coordinator/vscodeipc"
)

// openLive opens the live view of the shop, in a window with a browser with these pages of it.
func openLive(t *testing.T, w sceneWindow, paths ...string) (*viewer, *scene, *cdptest.Client) {
	t.Helper()
	s := start(t)
	scene := openScene(t)
	browser := scene.browser(paths...)
	agents := cdptest.Dial(t, browser)
	w.folder, w.kind = "shop", "vscode"
	w.state = vscodeipc.State{Browser: &vscodeipc.Browser{URL: browser, Product: "Chrome/156.0", Via: "launched"},
		Access: vscodeipc.Access{Mode: vscodeipc.AccessFull}}
	scene.open(w)
	v := openViewer(t, "")
	v.Call(v.page, "Page.bringToFront", "{}", nil)
	v.look(1280, 800, "light")
	v.open(s.Link())
	v.openLive("Tea Shop")
	return v, scene, agents
}

// TestAddressInLiveView: the user opens an address and goes back, by keyboard alone. What is shown is the browser's
// address, not what was typed, and no script is run.
func TestAddressInLiveView(t *testing.T) {
	v, scene, agents := openLive(t, sceneWindow{}, "/")
	const address = view + `.querySelector("#address")`
	host := strings.TrimPrefix(scene.shop, "http://")
	_, port, _ := strings.Cut(host, ":")
	shows := func(url string) { t.Helper(); v.await(url, address+`.value === "`+url+`"`) }
	enter := func(text string) {
		t.Helper()
		v.evaluate(address + ".focus(); 0")
		v.Call(v.page, "Input.insertText", params(t, map[string]any{"text": text}), nil) // in place of what is selected
		v.enter()
	}
	shows(scene.shop + "/")
	v.await("there is nothing before it", view+`.querySelector("#forward").ariaDisabled === "true"`)
	enter(host + "/checkout")
	shows(scene.shop + "/checkout")
	v.await("the page's title", view+`.querySelector("#pages").textContent.includes("Checkout")`)
	enter("а.localhost:" + port) // the first letter is Cyrillic
	shows("http://xn--80a.localhost:" + port + "/")
	// The address is shown before the page is open.
	v.await("its title", view+`.querySelector("#pages").textContent === "Tea Shop"`)
	v.evaluate(view + `.querySelector("#back").focus(); 0`)
	v.enter()
	shows(scene.shop + "/checkout")
	v.await("the focus stays", view+`.activeElement.id === "back"`)
	v.evaluate(view + `.querySelector("#forward").focus(); 0`)
	v.enter()
	shows("http://xn--80a.localhost:" + port + "/")
	v.await("the end", view+`.querySelector("#forward").ariaDisabled === "true"`)
	enter("javascript:document.title='owned'")
	const why = address + `.validationMessage.includes("such as localhost:3000")`
	v.await("why", why)
	v.axeFinds("a refused address")
	tab := onlyTab(agents)
	if title := agents.Evaluate(tab, "document.title"); title != "Tea Shop" {
		t.Errorf("a script ran: %s", title)
	}
	agents.Evaluate(tab, "document.title = `Late`; 0")
	v.await("the browser reports the page again", view+`.querySelector("#pages").textContent.includes("Late")`)
	if got := v.evaluate(why + ` + " " + ` + address + ".value"); got != "true javascript:document.title='owned'" {
		t.Errorf("the refused address: %s", got)
	}
	// The user has gone on before a late refusal, which the browser of this test never has.
	v.evaluate(view + `.querySelector("#zoom").focus(); 0`)
	v.evaluate(`document.querySelector("iframe").contentWindow.dispatchEvent(
		new MessageEvent("message", {data: {type: "refused", why: "Too late."}})); 0`)
	got := v.evaluate(view + `.activeElement.id + " " + ` + view + `.querySelector("#note").textContent`)
	if got != "zoom Too late." {
		t.Errorf("after a late refusal: %s", got)
	}
	shows("http://xn--80a.localhost:" + port + "/")
}

// TestFollowInLiveView: by keyboard the user has the live view follow the agent from tab to tab. It waits while the
// user draws.
func TestFollowInLiveView(t *testing.T) {
	var page atomic.Value // in which the agent acted last
	page.Store("none")
	v, _, agents := openLive(t, sceneWindow{list: func() vscodeipc.ListResult {
		return vscodeipc.ListResult{Clients: []vscodeipc.ConnectedClient{
			{ID: "a", Name: "Agent", Version: "1", Kind: "mcp", Since: 1, Page: page.Load().(string)},
		}, Last: []vscodeipc.Activity{}}
	}}, "/", "/checkout")
	var targets struct {
		Infos []struct{ TargetID, Type, URL string } `json:"targetInfos"`
	}
	agents.Call("", "Target.getTargets", "{}", &targets)
	tabs := map[string]string{}
	for _, info := range targets.Infos {
		tabs[info.URL[strings.LastIndex(info.URL, "/"):]] = info.TargetID
	}
	acts := func(path string) {
		t.Helper()
		page.Store(tabs[path])
		v.await("the agent is in "+path, `feed.windows[0].clients[0]?.page === "`+tabs[path]+`"`)
	}
	shows := func(path string) {
		t.Helper()
		v.await("the live view shows "+path, view+`.querySelector("#pages").value === "`+tabs[path]+`"`)
	}
	pressed := func(button string) string {
		t.Helper()
		return strings.Trim(v.evaluate(view+`.querySelector("`+button+`").ariaPressed`), `"`)
	}
	enter := func(button string) {
		t.Helper()
		v.evaluate(view + `.querySelector("` + button + `").focus(); 0`)
		v.enter()
	}
	shows("/")
	acts("/checkout")
	shows("/") // which the user has chosen
	if got := pressed("#follow"); got != "false" {
		t.Errorf("it follows: %s", got)
	}
	enter("#follow")
	shows("/checkout")
	v.axeFinds("it follows")
	acts("/")
	shows("/")
	enter("#draw")
	acts("/checkout")
	if got := pressed("#draw"); got != "true" {
		t.Errorf("drawing: %s", got)
	}
	shows("/")
	enter("#draw")
	shows("/checkout")
	v.evaluate(`{ const pages = ` + view + `.querySelector("#pages"); pages.value = "` + tabs["/"] + `";
		pages.dispatchEvent(new Event("change")); } 0`)
	shows("/")
	v.await("it no longer follows", view+`.querySelector("#follow").ariaPressed === "false"`)
}

// TestDeviceInLiveView: by keyboard the user gives the page the size of a phone, turns it, and gives it that of its
// window again. The size goes with the live view, and is no longer shown once another client has set one.
func TestDeviceInLiveView(t *testing.T) {
	v, _, agents := openLive(t, sceneWindow{}, "/")
	tab := onlyTab(agents)
	const size = `(({width, height, scale}) => [width, height].map((length) => Math.round(length * scale)))(
		visualViewport).join() + " " + (navigator.maxTouchPoints > 0)`
	window := agents.Evaluate(tab, size)
	has := func(what, want string) {
		t.Helper()
		must.Await(t, what, func() bool { return agents.Evaluate(tab, size) == want })
	}
	focus := func(control string) {
		t.Helper()
		v.evaluate(view + `.querySelector("` + control + `").focus(); 0`)
	}
	shows := func(device, isRotateOff string) {
		t.Helper()
		v.await("the device "+device, view+`.querySelector("#device").value === "`+device+`" && `+view+
			`.querySelector("#rotate").ariaDisabled === "`+isRotateOff+`"`)
	}
	shows("", "true")
	focus("#device")
	v.press("ArrowDown", "", 40)
	has("the phone's size", "390,844 true")
	shows("phone", "false")
	v.axeFinds("a phone")
	focus("#rotate")
	v.enter()
	has("the phone's size, turned", "844,390 true")
	shows("phone", "false")
	focus("#device")
	v.press("ArrowUp", "", 38)
	has("its window's size", window)
	shows("", "true")
	v.press("ArrowDown", "", 40)
	has("the phone's size again", "390,844 true")
	agents.Call(tab, "Emulation.setDeviceMetricsOverride",
		`{"width":700,"height":500,"deviceScaleFactor":1,"mobile":false}`, nil)
	shows("", "true")
	v.press("ArrowDown", "", 40)
	has("the phone's size, which another client replaced", "390,844 true")
	v.evaluate(`document.querySelector("iframe").remove(); 0`)
	has("its window's size without the live view", window)
}

// TestTargetInLiveView: what an agent asks to act on has a frame in the live view, until the question is answered.
func TestTargetInLiveView(t *testing.T) {
	var asked atomic.Pointer[vscodeipc.AnnotatedNode]
	v, _, agents := openLive(t, sceneWindow{asks: func() []vscodeipc.PendingQuestion {
		node := asked.Load()
		if node == nil {
			return []vscodeipc.PendingQuestion{}
		}
		client := vscodeipc.ClientInfo{ID: "a", Name: "Agent", Version: "1"}
		return []vscodeipc.PendingQuestion{{ID: "q", Client: client, Choices: []string{"once", "refuse"},
			Actions: []vscodeipc.PendingAction{{Number: 1, Action: vscodeipc.AskArg{Client: client, Act: "browser_click",
				Detail: `Click button "To the basket"`, Nodes: []vscodeipc.AnnotatedNode{*node}}}}}}
	}}, "/")
	target := strings.Trim(v.evaluate(view+`.querySelector("#pages").value`), `"`)
	page := agents.Attach(target)
	var tree struct {
		FrameTree struct{ Frame struct{ LoaderID string } }
	}
	agents.Call(page, "Page.getFrameTree", "{}", &tree)
	var button struct{ Result struct{ ObjectID string } }
	agents.Call(page, "Runtime.evaluate", `{"expression":"document.querySelector('button')"}`, &button)
	var described struct{ Node struct{ BackendNodeID int64 } }
	agents.Call(page, "DOM.describeNode", `{"objectId":"`+button.Result.ObjectID+`"}`, &described)
	asked.Store(&vscodeipc.AnnotatedNode{Target: target, Document: tree.FrameTree.Frame.LoaderID,
		ID: described.Node.BackendNodeID})

	const framed = view + `.querySelector(".target")`
	v.await("the frame", framed)
	box := agents.Evaluate(page, `JSON.stringify((({x, y, width, height}) =>
		[x / innerWidth, y / innerHeight, width / innerWidth, height / innerHeight])(
		document.querySelector("button").getBoundingClientRect()))`)
	v.await("the frame is round the button", `(() => {
		const {x, y, width, height} = `+framed+`.getBoundingClientRect();
		const of = `+view+`.querySelector("#canvas").getBoundingClientRect();
		const parts = [(x - of.x) / of.width, (y - of.y) / of.height, width / of.width, height / of.height];
		return parts.every((part, i) => Math.abs(part - `+strings.Trim(box, `"`)+`[i]) < 0.01);
	})()`)
	v.axeFinds("a target")
	v.photograph("show-target")
	asked.Store(nil)
	v.await("the question is answered", "!"+framed)
}
