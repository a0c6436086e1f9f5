package tools_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"browser-coordinator/internal/must"
	"browser-coordinator/internal/toolstest"
	"browser-coordinator/vscodeipc"
)

// shownShop has what a user does in a shop, and its own account of it.
const shownShop = `<!doctype html><title>Shop</title>
<form action="/thanks"><label>Name <input name=customer id=name></label>
<label>Password <input id=password type=password></label>
<label><input id=news type=checkbox name=news> News</label>
<label>Size <select id=size name=size><option>small<option value=l>large</select></label>
<label>Notes <textarea id=notes name=notes></textarea></label>
<label>Search <input id=search onkeydown="if (event.key === 'ArrowDown') log.textContent += ' down'"></label>
<button type=button id=ask onclick="log.textContent += ' ' + confirm('Sure?')">Ask</button>
<button type=button id=twice ondblclick="log.textContent += ' twice'">Twice</button>
<button type=button class=same onclick="log.textContent += ' first'">Same</button>
<button type=button class=same id=same onclick="log.textContent += ' second'">Same</button>
<button id=order>Order</button></form><p id=log></p>
<iframe id=pay srcdoc="<button id=inner onclick=&quot;parent.log.textContent += ' paid'&quot;>Ask</button>"></iframe>`

func serveShop(t *testing.T) string {
	t.Helper()
	return toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.URL.Path == "/thanks" {
			io.WriteString(w, "<!doctype html><title>Thanks</title><h1>Thank you</h1><input id=more aria-label=More>")
			return
		}
		io.WriteString(w, shownShop)
	})
}

// record has the user of a window agree, and act while that is recorded, and returns the answer.
func record(t *testing.T, w *toolstest.Window, agent *toolstest.Agent, arguments args, act func()) string {
	t.Helper()
	w.Handle(vscodeipc.CommandPermissionAsk, func(vscodeipc.Call) (any, error) {
		return vscodeipc.AskResult{Decision: "allow"}, nil
	})
	w.Handle(vscodeipc.CommandRecordShow, func(vscodeipc.Call) (any, error) {
		act()
		return vscodeipc.RecordShowResult{Outcome: "ended"}, nil
	})
	return agent.Must("browser_record_user", arguments)
}

// stepsOf are the steps of an answer.
func stepsOf(t *testing.T, answer string) (steps []args) {
	t.Helper()
	text := regexp.MustCompile(`(?s)(\[\{.*?\}\])`).FindStringSubmatch(answer)
	if text == nil {
		t.Fatalf("no steps: %s", answer)
	}
	if err := json.Unmarshal([]byte(text[1]), &steps); err != nil {
		t.Fatalf("%v: %s", err, text[1])
	}
	return steps
}

func TestRecordUser(t *testing.T) {
	t.Parallel()
	url := serveShop(t)
	w := toolstest.OpenWindow(t)
	agent := w.Start(options{Secrets: loadSecrets(t, "COUPON=quartz-lamp\n")}, "testing")
	agent.Open(url)
	user := toolstest.Sit(t, w.Browser())
	var before string
	state := "JSON.stringify([...document.querySelectorAll('input, select, textarea')].map((e) => e.type === 'checkbox' " +
		"? e.checked : e.type === 'password' ? '' : e.value)) + log.textContent"
	answer := record(t, w, agent, args{"message": "Order tea"}, func() {
		user.Click("#name")
		user.Type("Ada")
		user.Click("#password")
		user.Type("hunter22")
		user.Click("label:has(#news)")
		user.Click("#notes")
		user.Type("quartz-lamp")
		user.Click("#search")
		user.Press("ArrowDown")
		user.Click("#same")
		user.ClickTwice("#twice")
		user.AnswerDialog(true, func() { user.StartClick("#ask") })
		user.ClickIn("#pay", "#inner")
		agent.Refused("browser_click", args{"target": "#order"}, "being recorded")
		agent.Refused("browser_evaluate", args{"function": "() => order.click()"}, "being recorded")
		agent.Refused("browser_evaluate", args{"function": "(e) => e.click()", "target": "#order"}, "being recorded")
		before = user.Evaluate(state)
		user.Click("#order")
		user.Await("document.title === 'Thanks'")
		user.Click("#more")
		user.Type("x")
	})
	asked := toolstest.Called[vscodeipc.AskArg](w, vscodeipc.CommandPermissionAsk, nil)
	if asked.Act != "browser_record_user" || asked.Page == nil || asked.Page.Title != "Shop" ||
		asked.Detail != "Record what you do in this tab, for 2m0s at most: “Order tea”" {
		t.Errorf("the user is asked %+v", asked)
	}
	if strings.Contains(answer, "hunter22") || strings.Contains(answer, "quartz-lamp") {
		t.Errorf("the answer has a secret: %s", answer)
	}
	steps := stepsOf(t, answer)
	const want = `{"action":"navigate","url":"/"}
{"action":"click","target":"textbox \"Name\""}
{"action":"type","target":"textbox \"Name\"","text":"Ada"}
{"action":"click","target":"textbox \"Password\""}
{"action":"type","target":"textbox \"Password\"","text":"TYPED_PASSWORD"}
{"action":"check","target":"checkbox \"News\""}
{"action":"click","target":"textbox \"Notes\""}
{"action":"type","target":"textbox \"Notes\"","text":"COUPON"}
{"action":"click","target":"textbox \"Search\""}
{"action":"press","key":"ArrowDown","target":"textbox \"Search\""}
{"action":"click","target":"button \"Same\" >> nth=1"}
{"action":"click","doubleClick":true,"target":"button \"Twice\""}
{"action":"click","target":"button \"Ask\""}
{"accept":true,"action":"dialog"}
{"action":"click","target":"locator('#pay').contentFrame() >> button \"Ask\""}
{"action":"click","target":"button \"Order\""}
{"action":"expect","url":"/thanks"}
{"action":"click","target":"textbox \"More\""}
{"action":"type","target":"textbox \"More\"","text":"x"}
`
	if got := linesOf(t, steps, url); got != want {
		t.Fatalf("the steps are\n%s", got)
	}
	// The agent can repeat them.
	const order = 15
	agent.Must("browser_steps", args{"steps": steps[:order]})
	if after := user.Evaluate(state); after != before {
		t.Errorf("after the steps the page has %s, not %s", after, before)
	}
	agent.Must("browser_steps", args{"steps": steps[order:]})
	if got := user.Evaluate("document.title + more.value"); got != `"Thanksx"` {
		t.Errorf("at the end the page has %s", got)
	}
	for _, line := range []string{
		"test('what the user did', async", "name: 'Password' }).fill(process.env.TYPED_PASSWORD!);",
		"name: 'Notes' }).fill(process.env.COUPON!);", "name: 'News' }).setChecked(true);",
		"getByRole('button', { name: 'Same', exact: true }).nth(1).click();", "await (await dialog1).accept();",
		"page.locator('#pay').contentFrame().getByRole('button', { name: 'Ask' }).click();",
	} {
		if !strings.Contains(answer, line) {
			t.Errorf("%q is missing: %s", line, answer)
		}
	}
	test := answer[strings.Index(answer, "import {"):]
	if parsed := toolstest.ParseTest(t, test); len(parsed.Errors) > 0 {
		t.Errorf("TypeScript: %q", parsed.Errors)
	}
	toolstest.RunTest(t, test, "COUPON=quartz-lamp", "TYPED_PASSWORD=hunter22")
}

// linesOf are steps as JSON, one a line, with paths for the addresses of a site.
func linesOf(t *testing.T, steps []args, site string) (lines string) {
	t.Helper()
	for _, s := range steps {
		var b strings.Builder
		encoder := json.NewEncoder(&b)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(s); err != nil {
			t.Fatal(err)
		}
		lines += strings.ReplaceAll(b.String(), site, "")
	}
	return lines
}

// keyboardShop is for a user without a mouse, but for dragging. A frame is of another origin.
const keyboardShop = `<!doctype html><title>Keys</title>
<form action="/found"><input id=q name=q aria-label=Query></form>
<input type=checkbox id=gift aria-label=Gift><select id=size aria-label=Size><option>small<option>large</select>
<input type=radio name=cup id=mug aria-label=Mug checked><input type=radio name=cup id=glass aria-label=Glass>
<input type=file id=photo hidden><button id=choose onclick="photo.click()">Choose</button>
<div id=rich contenteditable aria-label=Text role=textbox></div>
<p id=shown tabindex=0 onkeydown="this.textContent = event.key">Keys</p>
<div id=card draggable=true aria-label=Card role=img style="width:60px;height:40px;background:red"></div>
<div id=lane role=group aria-label=Lane style="width:90px;height:60px;background:tan"
  ondragover="event.preventDefault()">Lane</div>
<iframe id=other src="FRAME"></iframe>`

// Keys, files, a drag, a frame in another process, and the browser's own navigations.
func TestRecordUserEverywhere(t *testing.T) {
	t.Parallel()
	var site string
	site = toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		switch r.URL.Path {
		case "/frame":
			io.WriteString(w, "<!doctype html><body style='margin:0'><button>Pay</button>")
		case "/":
			io.WriteString(w, strings.Replace(keyboardShop, "FRAME",
				strings.Replace(site, "127.0.0.1", "localhost", 1)+"/frame", 1))
		default:
			io.WriteString(w, "<!doctype html><title>Other</title><h1>Other</h1>")
		}
	})
	w := toolstest.OpenWindow(t)
	agent := w.Agent("testing")
	agent.Open(site)
	user := toolstest.Sit(t, w.Browser())
	answer := record(t, w, agent, args{"filename": "everywhere"}, func() {
		user.Evaluate("gift.focus()")
		user.Press("Space")
		user.Evaluate("size.focus()")
		user.Type("l")
		user.Evaluate("mug.focus()")
		user.Press("ArrowDown")
		user.Evaluate("shown.focus()")
		user.Type("k")
		user.Press("Escape")
		user.ChooseFile("#photo", "photo.txt")
		user.Click("#rich")
		user.Type("Hi")
		user.Drag("#card", "#lane")
		user.Click("#other")
		user.Evaluate("q.focus()")
		user.Type("te")
		user.Press("Backspace")
		user.Press("Enter")
		user.Await("document.title === 'Other'")
		user.Browse(site + "/typed?x=1")
		user.Evaluate("location.href = '/script'")
		user.Await("location.pathname === '/script'")
		user.Evaluate("history.back()")
		user.Await("location.pathname === '/typed'")
	})
	const want = `{"action":"navigate","url":"/"}
{"action":"check","target":"checkbox \"Gift\""}
{"action":"select","target":"combobox \"Size\"","values":["large"]}
{"action":"check","target":"radio \"Glass\""}
{"action":"press","key":"k","target":"#shown"}
{"action":"press","key":"Escape","target":"#shown"}
{"action":"upload","paths":["photo.txt"],"target":"#photo"}
{"action":"click","target":"textbox \"Text\""}
{"action":"type","target":"textbox \"Text\"","text":"Hi"}
{"action":"drag","target":"img \"Card\"","to":"group \"Lane\""}
{"action":"click","target":"locator('#other').contentFrame() >> button \"Pay\""}
{"action":"type","target":"textbox \"Query\"","text":"t"}
{"action":"press","key":"Enter","target":"textbox \"Query\""}
{"action":"expect","url":"/found"}
{"action":"navigate","url":"/typed?x=1"}
`
	if got := linesOf(t, stepsOf(t, answer), site); got != want {
		t.Errorf("the steps are\n%s\n%s", got, answer)
	}
	if !strings.Contains(answer, "Not a step: the tab has gone to "+site+"/typed?x=1 by its history or a reload") {
		t.Error(answer)
	}
	saved := regexp.MustCompile(`Saved the same as a test to (.*)\.`).FindStringSubmatch(answer)
	if saved == nil {
		t.Fatalf("no file: %s", answer)
	}
	if test := must.Get(os.ReadFile(saved[1]))(t); !strings.Contains(string(test), "test('what the user did', async") {
		t.Errorf("%s has %s", saved[1], test)
	}
}

// hostileShown makes as many events as it can, in the time of each of the user's.
const hostileShown = `<!doctype html><title>Hostile</title><form onsubmit="return false"><input name=parentNode hidden>
<input name=getRootNode hidden><img name=querySelectorAll hidden><button id=buy type=button>Buy</button><input
  id=q aria-label=Query>
<input id=trap aria-label=Trap><input id=secret aria-label=Secret><label id=lure for=box>Lure</label><input
  type=checkbox id=box>
<button id=odd type=button aria-label="'); await fetch('http://evil.test'); (' &quot;&#10;x">Odd</button>
<button id=hang type=button onclick="navigator.sendBeacon('/hang'); for (;;);">Hang</button></form><script>
const buyButton = buy, names = () => Object.getOwnPropertyNames(window).length, first = names();
let seen = 0;
function inject() {
	seen = Math.max(seen, names());
	const focused = document.activeElement;
	buyButton.click(); lure.click(); box.click();
	trap.focus();
	document.execCommand("insertText", false, "injected");
	trap.dispatchEvent(new InputEvent("input", { bubbles: true }));
	trap.dispatchEvent(new KeyboardEvent("keydown", { key: "F1", bubbles: true }));
	focused?.focus();
}
for (const kind of ["pointerdown", "mousedown", "pointerup", "mouseup", "click", "keydown", "keyup"])
	addEventListener(kind, (e) => { if (e.isTrusted && e.target.id !== "hang") inject(); }, true);
addEventListener("input", (e) => { if (e.target === secret) secret.value = "COUPON"; }, true);
</script>`

// A page adds nothing to what the user does, learns of no secret by it, and cannot hold it up.
func TestRecordUserOnHostilePage(t *testing.T) {
	t.Parallel()
	hangs := make(chan struct{}, 1)
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hang" {
			hangs <- struct{}{}
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, hostileShown)
	})
	w := toolstest.OpenWindow(t)
	agent := w.Start(options{Secrets: loadSecrets(t, "COUPON=quartz-lamp\n")}, "testing")
	agent.Open(url)
	user := toolstest.Sit(t, w.Browser())
	answer := record(t, w, agent, nil, func() {
		user.Click("#buy")
		user.Click("#q")
		user.Type("tea")
		user.Click("#secret")
		user.Type("x")
		user.Click("#odd")
		if got := user.Evaluate("seen > first"); got != "false" {
			t.Error("the page sees that it is recorded")
		}
		user.StartClick("#hang")
		<-hangs
	})
	user.Do("Runtime.terminateExecution", nil)
	const want = `{"action":"navigate","url":"/"}
{"action":"click","target":"button \"Buy\""}
{"action":"click","target":"textbox \"Query\""}
{"action":"type","target":"textbox \"Query\"","text":"tea"}
{"action":"click","target":"textbox \"Secret\""}
{"action":"click","target":"button \"'); await fetch('http://evil.test'); (' \\\" x\""}
{"action":"click","target":"button \"Hang\""}
`
	if got := linesOf(t, stepsOf(t, answer), url); got != want {
		t.Errorf("the steps are\n%s\n%s", got, answer)
	}
	if !strings.Contains(answer, `Not a step: typing in textbox "Secret": it is the name of a secret`) {
		t.Errorf("the page can have a secret typed: %s", answer)
	}
	parsed := toolstest.ParseTest(t, answer[strings.Index(answer, "import {"):])
	if len(parsed.Errors) > 0 || strings.Contains(parsed.Shape, "fetch") {
		t.Errorf("the page has put code into the test: %q %s", parsed.Errors, parsed.Shape)
	}
}

// Without a user's consent nothing is recorded, in whichever mode.
func TestRecordUserNeedsConsent(t *testing.T) {
	t.Parallel()
	w := toolstest.OpenWindow(t)
	agent := w.Agent("testing")
	agent.Open(serveShop(t))
	w.Handle(vscodeipc.CommandPermissionAsk, func(vscodeipc.Call) (any, error) {
		return vscodeipc.AskResult{Decision: "refuse", Reason: "human"}, nil
	})
	agent.Refused("browser_record_user", args{"timeout": 1e300}, "the user did not allow it")
	asked := toolstest.Called[vscodeipc.AskArg](w, vscodeipc.CommandPermissionAsk, nil)
	if asked.Detail != "Record what you do in this tab, for 5m0s at most" {
		t.Errorf("the user is asked %q", asked.Detail)
	}
	agent.Refused("browser_record_user", args{"end": true}, "nothing that the user does in this tab is being recorded")
	if shown := w.Calls(vscodeipc.CommandRecordShow); len(shown) > 0 {
		t.Errorf("the window shows a recording: %v", shown)
	}
	alone, _ := alone(t, "", "testing")
	alone.Refused("browser_record_user", nil, "nobody can act in this page")
}

// A recording that the user does not see ends, and none begins in a window that cannot show it.
func TestRecordUserUnseen(t *testing.T) {
	t.Parallel()
	w := toolstest.OpenWindow(t)
	agent := w.Agent("testing")
	agent.Open(serveShop(t))
	user := toolstest.Sit(t, w.Browser())
	w.Handle(vscodeipc.CommandPermissionAsk, func(vscodeipc.Call) (any, error) {
		return vscodeipc.AskResult{Decision: "allow"}, nil
	})
	w.Handle(vscodeipc.CommandRecordShow, func(vscodeipc.Call) (any, error) {
		user.Click("#name")
		return nil, errors.New("the window reloads")
	})
	agent.Expect("browser_record_user", nil, "no longer shows the user that it goes on", "the window reloads",
		`"target":"textbox \"Name\""`)

	old := toolstest.OpenWindowAt(t, toolstest.Folder(t, "old"), toolstest.Browser(t).URL(), vscodeipc.CommandRecordShow)
	agent = old.Agent("testing")
	agent.Open(serveShop(t))
	agent.Refused("browser_record_user", nil, "cannot show its user that a recording is under way")
	if asked := old.Calls(vscodeipc.CommandPermissionAsk); len(asked) > 0 {
		t.Errorf("the user is asked %s", asked[0].Arg)
	}
}

// A debug session that restarts while the user is asked ends the call, and other calls go on.
func TestRecordUserInABrowserThatEnds(t *testing.T) {
	t.Parallel()
	url := serveShop(t)
	browser := toolstest.OwnBrowser(t, "")
	w := toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), browser.URL())
	agent := w.Agent("testing")
	agent.Open(url)
	w.Handle(vscodeipc.CommandPermissionAsk, func(vscodeipc.Call) (any, error) {
		if err := browser.Close(t.Context()); err != nil {
			t.Error(err)
		}
		w.Show(toolstest.Browser(t).URL(), vscodeipc.AccessFull)
		for range 2 { // the agent ends the connection to the first browser before it works in the next
			agent.Must("browser_tabs", args{"action": "list"})
		}
		return vscodeipc.AskResult{Decision: "allow"}, nil
	})
	ended := make(chan error, 1)
	go func() {
		_, err := agent.Call("browser_record_user", args{"timeout": 60})
		ended <- err
	}()
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "browser") {
			t.Errorf("the recording: %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the call does not return")
	}
	agent.Open(url)
}
