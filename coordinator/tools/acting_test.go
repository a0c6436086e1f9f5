package tools_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"browser-coordinator/internal/toolstest"
)

const actionPage = `<!doctype html><title>Acts</title><style>body { height: 5000px; width: 5000px; margin: 0 }</style>
<button onclick="const i = document.createElement('input'); i.type = 'file';
  i.onchange = () => document.title = 'file ' + i.files[0].name; i.click()">Choose a file</button>
<p id=words>These words go</p>
<div id=zone style="width: 100px; height: 50px" ondragover="event.preventDefault()"
  ondrop="event.preventDefault();
    document.title = 'drop ' + (event.dataTransfer.files[0]?.name ?? event.dataTransfer.getData('text/plain'))"
  >Zone</div>
<div id=card draggable=true style="position: absolute; left: 20px; top: 300px; width: 80px; height: 40px"
  ondragstart="event.dataTransfer.setData('text/plain', 'the card')">Card</div>
<div id=list style="position: absolute; left: 200px; top: 400px; width: 150px; height: 100px"
  ondragover="event.preventDefault()"
  ondrop="event.preventDefault(); document.title = 'dropped ' + event.dataTransfer.getData('text/plain')">List</div>
<canvas id=pad style="position: absolute; left: 300px; top: 100px" width=200 height=100></canvas>
<script>
window.seen = [];
for (const kind of ['mousemove', 'mousedown', 'mouseup']) pad.addEventListener(kind, e => {
  const last = [e.type, e.offsetX, e.offsetY, e.button, e.buttons].join(' ');
  if (seen.at(-1) !== last) seen.push(last);
});
</script>`

// The actions of an agent beside clicking and typing, as the page sees them.
func TestActions(t *testing.T) {
	t.Parallel()
	url := toolstest.ServeHTML(t, actionPage)
	w := toolstest.OpenWindow(t)
	writeFiles(t, map[string]string{filepath.Join(w.Folder, "photo.png"): "png",
		filepath.Join(w.Folder, "../outside.png"): "png"})
	if err := os.Symlink("../outside.png", filepath.Join(w.Folder, "door.png")); err != nil {
		t.Fatal(err)
	}
	agent := w.Agent("vision")
	title := func(want string) {
		t.Helper()
		agent.ExpectValue("() => document.title", `"`+want+`"`)
	}
	// sees checks the mouse events that the page received since the last call.
	sees := func(want ...string) {
		t.Helper()
		agent.ExpectValue("() => seen.splice(0).join(', ')", fmt.Sprintf("%q", strings.Join(want, ", ")))
	}
	agent.Open(url + "/one")

	agent.Expect("browser_click", args{"target": "button"}, "browser_file_upload")
	agent.Must("browser_file_upload", args{"paths": []string{"photo.png"}})
	title("file photo.png")
	for _, name := range []string{"../outside.png", "door.png", "/etc/passwd"} {
		agent.Refused("browser_file_upload", args{"paths": []string{name}, "target": "button"}, "out of bounds")
		agent.Refused("browser_drop", args{"paths": []string{name}, "target": "#zone"}, "out of bounds")
	}
	agent.Must("browser_drop", args{"target": "#zone", "paths": []string{"photo.png"}})
	title("drop photo.png")
	agent.Must("browser_drop", args{"target": "#zone", "data": args{"text/plain": "words"}})
	title("drop words")
	agent.Must("browser_drag", args{"startTarget": "#card", "endTarget": "#list"})
	title("dropped the card")
	agent.Evaluate("() => { document.title = '' }")
	agent.Must("browser_mouse_drag_xy", args{"startX": 40, "startY": 320, "endX": 250, "endY": 450})
	title("dropped the card")

	agent.Must("browser_hover", args{"target": "#pad", "position": args{"x": 12, "y": 22}})
	sees("mousemove 12 22 0 0")
	agent.Must("browser_mouse_move_xy", args{"x": 310, "y": 120})
	sees("mousemove 10 20 0 0")
	agent.Must("browser_mouse_down", nil)
	agent.Must("browser_mouse_move_xy", args{"x": 350, "y": 150})
	sees("mousedown 10 20 0 1", "mousemove 50 50 0 1")
	agent.Must("browser_mouse_up", nil)
	sees("mouseup 50 50 0 0")
	agent.Must("browser_mouse_down", args{"button": "right"})
	agent.Must("browser_mouse_up", args{"button": "right"})
	sees("mousedown 50 50 2 2", "mouseup 50 50 2 0")
	agent.Must("browser_mouse_click_xy", args{"x": 310, "y": 120})
	for _, beyond := range []args{{"x": 40, "y": 9010}, {"x": 9040, "y": 10}} {
		agent.Refused("browser_mouse_click_xy", beyond, "is outside of the viewport, which has")
		agent.Refused("browser_mouse_drag_xy", args{"startX": 40, "startY": 320, "endX": beyond["x"], "endY": beyond["y"]},
			"is outside of the viewport, which has")
	}
	sees("mousemove 10 20 0 0", "mousedown 10 20 0 1", "mouseup 10 20 0 0")
	// A drag without drag and drop, as over a canvas or a slider.
	agent.Must("browser_mouse_drag_xy", args{"startX": 320, "startY": 110, "endX": 400, "endY": 180})
	agent.ExpectValue(`() => {
		const all = seen.splice(0);
		return [
			all.find(e => e.startsWith('mousedown')),
			all.some(e => /^mousemove .* 1$/.test(e)),
			all.at(-1),
		].join(', ');
	}`, `"mousedown 20 10 0 1, true, mouseup 100 80 0 0"`)
	agent.Must("browser_mouse_wheel", args{"deltaX": 150, "deltaY": 400})
	agent.Must("browser_wait_for", args{"expression": "scrollX === 150 && scrollY === 400"})

	agent.Expect("browser_wait_for", args{"text": "These words go"},
		"It was there already. With new: true, this waits for another.")
	agent.Refused("browser_wait_for", args{"text": "These words go", "new": true, "time": 0.2},
		`another occurrence of the text "These words go"`)
	agent.Refused("browser_wait_for", args{"textGone": "These words go", "time": 0.2})
	agent.Evaluate("() => { setTimeout(() => words.remove(), 300) }")
	agent.Must("browser_wait_for", args{"textGone": "These words go"})

	agent.Open(url + "/two")
	for _, step := range []struct{ action, path string }{{"back", "/one"}, {"forward", "/two"}, {"reload", "/two"}} {
		agent.Expect("browser_navigate", args{"action": step.action}, "URL: "+url+step.path)
	}
	agent.Refused("browser_navigate", args{"action": "back", "url": "x"})
	agent.Refused("browser_click", args{"target": "e1", "button": "thumb"}, "want one of left, right, middle")
}

const formPage = `<!doctype html><title>Form</title>
<label>Name <input id=name></label>
<label>News <input type=checkbox id=news></label>
<label>Colour <select id=colour><option>red<option>blue</select></label>
<button onclick="document.title = confirm('Really?') ? 'yes' : 'no'">Ask</button>
<button id=load onclick="fetch('/api/item?n=7', {method: 'POST', body: 'seven'}).then((r) => r.text())
  .then((t) => setTimeout(() => document.body.append(t), 50))">Load</button>`

func TestEmulateFetchAndWait(t *testing.T) {
	t.Parallel()
	sent := make(chan string, 100)
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api":
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"cookie":"`+r.Header.Get("Cookie")+`","method":"`+r.Method+`"}`)
		case "/image":
			w.Header().Set("Content-Type", "image/png")
			w.Write([]byte{0x89, 'P', 'N', 'G', 0xff, 0})
		case "/seen":
			sent <- r.UserAgent() + " " + r.Header.Get("Accept-Language")
		default:
			w.Header().Set("Set-Cookie", "a=b")
			io.WriteString(w, `<!doctype html><title>T</title><script>setTimeout(() => window.ready = true, 100)</script>`)
		}
	})
	agent := toolstest.OpenWindow(t).Agent()
	agent.Open(url)
	agent.Must("browser_wait_for", args{"expression": "window.ready", "networkIdle": true})
	agent.Expect("browser_fetch", args{"url": "/api", "method": "POST", "body": "x"}, "200 OK (application/json,",
		`{"cookie":"a=b","method":"POST"}`)
	agent.Expect("browser_fetch", args{"url": "/image", "filename": "i.png"}, "i.png")
	if data, err := os.ReadFile(agent.Saved("i.png")); err != nil || string(data) != "\x89PNG\xff\x00" {
		t.Errorf("the file holds %q, %v", data, err)
	}

	emulate := func(a args) {
		t.Helper()
		agent.Must("browser_emulate", a)
	}
	// A message of the console about a failed request may follow the value.
	const connected = "() => fetch('/').then(() => navigator.onLine + ' fetched', () => navigator.onLine + ' failed')"
	emulate(args{"network": "offline"})
	agent.Expect("browser_evaluate", args{"function": connected}, `"false failed"`)
	emulate(args{"network": "fast 4g"}) // its latency is 165 ms
	agent.Expect("browser_evaluate", args{"function": "() => { const began = performance.now(); return " +
		"fetch('/?slow').then(() => performance.now() - began >= 150) }"}, "true")
	emulate(args{"network": "none"})
	agent.Expect("browser_evaluate", args{"function": connected}, `"true fetched"`)
	// The same work takes longer on a slower processor. The test measures it, since a page
	// cannot query the speed. On a busy machine the first measurement may be slow too.
	work := func(cpu int) (ms float64) {
		emulate(args{"cpu": cpu})
		if _, err := fmt.Sscan(agent.Evaluate("() => { let best = 1e9; for (let n = 0; n < 5; n++) { const began = "+
			"performance.now(); for (let i = 0, x = 0; i < 2e6; i++) x = Math.sqrt(x + i); best = Math.min(best, "+
			"performance.now() - began) } return best }"), &ms); err != nil {
			t.Fatal(err)
		}
		return ms
	}
	for try := 0; ; try++ {
		if fast, slow := work(1), work(10); slow >= 2*fast {
			break
		} else if try == 5 {
			t.Errorf("ten times slower, the work takes %v ms instead of %v ms", slow, fast)
			break
		}
	}
	emulate(args{"cpu": 1, "userAgent": "Agent/1", "locale": "de-DE", "timezone": "Asia/Tokyo", "media": "print"})
	agent.ExpectValue("() => [navigator.userAgent, navigator.language, (1.5).toLocaleString(), "+
		"Intl.DateTimeFormat().resolvedOptions().timeZone, matchMedia('print').matches].join(' ')",
		`"Agent/1 de-DE 1,5 Asia/Tokyo true"`)
	agent.ExpectValue("() => fetch('/seen').then(() => 1)", "1")
	if got := <-sent; !strings.HasPrefix(got, "Agent/1 de-DE") {
		t.Errorf("the server sees %s", got)
	}
	emulate(args{"media": "screen"})
	agent.ExpectValue("() => matchMedia('print').matches", "false")
	emulate(args{"reset": true})
	agent.ExpectValue("() => navigator.userAgent.includes('Agent/1') || Intl.DateTimeFormat().resolvedOptions().timeZone "+
		"=== 'Asia/Tokyo'", "false")
	emulate(args{"viewport": "390x844x3,mobile", "colorScheme": "dark", "geolocation": "52.5, 13.4"})
	agent.ExpectValue(`() => [innerWidth, devicePixelRatio, matchMedia("(prefers-color-scheme: dark)").matches].join()`,
		`"980,3,true"`)
	for _, bad := range []args{{}, {"viewport": "wide"}, {"viewport": "390x844x"}, {"geolocation": "here"},
		{"media": "tv"}, {"colorScheme": "pink"}} {
		agent.Refused("browser_emulate", bad)
	}
}

func TestTestingTools(t *testing.T) {
	t.Parallel()
	agent := openPage(t, toolstest.SamplePage, "testing")
	target := toolstest.Ref(t, agent.Must("browser_verify_element_visible",
		args{"role": "textbox", "accessibleName": "Name"}), "textbox", "Name")
	expectAll(t, agent, []toolCall{
		{"browser_type", args{"target": target, "text": "Ada"}, nil},
		{"browser_verify_value", args{"type": "textbox", "element": "Name", "target": target, "value": "Ada"},
			[]string{"Yes."}},
		{"browser_verify_text_visible", args{"text": "greet"}, nil},
		{"browser_verify_list_visible", args{"element": "page", "target": "body", "items": []string{"Name", "Greet"}},
			nil},
		{"browser_generate_locator", args{"target": "button"}, []string{"getByRole('button', { name: 'Greet' })"}},
	})
	refuseAll(t, agent, []toolCall{
		{"browser_verify_element_visible", args{"role": "link", "accessibleName": "Greet"},
			[]string{`no link "Greet" is shown`}},
		{"browser_verify_text_visible", args{"text": "absent"}, []string{`the text "absent" is not shown`}},
		{"browser_verify_list_visible", args{"target": "body", "items": []string{"Greet", "absent"}},
			[]string{`body does not show ["absent"]`}},
		{"browser_verify_value", args{"type": "textbox", "target": target, "value": "Bob"},
			[]string{`holds "Ada", not "Bob"`}},
		{"browser_verify_value", args{"type": "number", "target": target, "value": "Bob"},
			[]string{"want one of textbox"}},
	})
}

const stuckPage = `<!doctype html><title>Stuck</title><button id=save>Save</button>
<button id=ask onclick="confirm('Really?')">Ask</button><button id=stop onclick="stop()">Stop</button>
<script>function stop() { debugger; }</script>`

// The error names what blocks a page and the next step, and that step helps.
func TestStuckPages(t *testing.T) {
	t.Parallel()
	hangs := make(chan struct{}, 1)
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hangs" {
			hangs <- struct{}{}
			return
		}
		io.WriteString(w, stuckPage)
	})
	browser := toolstest.Browser(t)
	agent := toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), browser.URL()).Agent()
	agent.Open(url)
	user := toolstest.Sit(t, browser.URL())

	// A stale ref.
	save := agent.Ref("button", "Save")
	agent.Evaluate(`() => document.querySelector('#save')
		.replaceWith(Object.assign(document.createElement('button'), { textContent: 'Save' }))`)
	agent.Refused("browser_click", args{"target": save},
		`ref `+save+` (button "Save") is stale, its element was removed`,
		" looks the same now; use it if that is meant, or take a new snapshot")
	agent.Open(url)
	agent.Evaluate("() => document.querySelector('#save').remove()")
	agent.Refused("browser_click", args{"target": save},
		"is stale, its document was replaced: take a new snapshot and use its refs")

	// A dialog.
	agent.Expect("browser_click", args{"target": "#ask"}, "Really?")
	agent.Refused("browser_snapshot", nil,
		`a JavaScript confirm dialog is open ("Really?"): accept or dismiss it first, with browser_handle_dialog`)
	agent.Must("browser_handle_dialog", args{"accept": true})
	agent.Must("browser_snapshot", nil)

	// A breakpoint of the user.
	user.Do("Debugger.enable", nil)
	agent.Expect("browser_click", args{"target": "#stop"}, "The page is paused in the debugger, in stop at "+url+"/:3:")
	agent.Refused("browser_click", args{"target": "#ask"}, "the page is paused in the debugger (stop at "+url+"/:3:",
		"continue it there first")
	user.Do("Debugger.resume", nil)
	user.Do("Debugger.disable", nil)
	agent.Must("browser_snapshot", nil)

	// A script that waits for a request, and would never end.
	agent.Evaluate(`() => {
		setTimeout(() => { const r = new XMLHttpRequest(); r.open("GET", "/hangs", false); r.send(); for (;;); });
	}`)
	<-hangs
	agent.Refused("browser_snapshot", nil,
		"a script of it probably waits for a synchronous request, "+url+"/hangs, which has no response yet",
		"or navigate the tab elsewhere")
	agent.Open(url)
	agent.Must("browser_snapshot", nil)

	// A crash. The client that requests it gets no response.
	if _, err := user.Start(t.Context(), "Page.crash", nil); err != nil {
		t.Fatal(err)
	}
	agent.Refused("browser_evaluate", args{"function": "() => new Promise(() => {})"},
		"the page crashed: navigate or reload to revive it")
	agent.Refused("browser_snapshot", nil, "the page crashed: navigate or reload to revive it")
	agent.Open(url)
	agent.Must("browser_snapshot", nil)
}

// A drag that the page refuses is not answered like one that it has accepted.
func TestDragThatIsRefused(t *testing.T) {
	t.Parallel()
	url := toolstest.ServeHTML(t, `<!doctype html><style>div{height:40px}</style>
<div id=card draggable=true>Card</div>
<div id=lane ondragover="event.preventDefault()">Lane</div>
<div id=closed>Closed</div>`)
	agent := toolstest.OpenWindow(t).Start(options{}, "vision")
	agent.Open(url)
	const refused = "The page did not accept a drop there"
	if text := agent.Must("browser_drag", args{"startTarget": "#card", "endTarget": "#lane"}); strings.Contains(text,
		refused) {
		t.Error(text)
	}
	agent.Expect("browser_drag", args{"startTarget": "#card", "endTarget": "#closed"}, refused)
	agent.Expect("browser_mouse_drag_xy", args{"startX": 20, "startY": 20, "endX": 20, "endY": 120}, refused)
}

// A test repeats what moved the mouse, and not what only looked for a locator.
func TestExportOfHover(t *testing.T) {
	t.Parallel()
	url := toolstest.ServeHTML(t, "<!doctype html><button>Products</button><button>Flash</button><input "+
		"aria-label=Note value=one><div id=rich contenteditable aria-label=Text>one</div>")
	agent := toolstest.OpenWindow(t).Start(options{}, "testing")
	agent.Open(url)
	agent.Must("browser_hover", args{"target": "text=Products"})
	agent.Must("browser_generate_locator", args{"target": "text=Flash"})
	agent.Must("browser_type", args{"target": "input", "text": " two", "slowly": true})
	agent.Must("browser_click", args{"target": "#rich"})
	agent.Must("browser_type", args{"target": "#rich", "text": "!", "slowly": true}) // the click has placed the caret
	text := agent.Must("browser_export", nil)
	if strings.Count(text, ".press('ControlOrMeta+End');\n") != 1 {
		t.Errorf("the text is not typed at the end: %s", text)
	}
	if !strings.Contains(text, "name: 'Products' }).hover()") || strings.Contains(text, "Flash") ||
		strings.Contains(text, "not part of the test") {
		t.Error(text)
	}
}

// An exported test has no password, however it was typed, and wherever the page shows it.
func TestExportOfPasswords(t *testing.T) {
	t.Parallel()
	url := toolstest.ServeHTML(t, `<!doctype html><input id=user aria-label=User>
<input id=pw type=password aria-label=Password>
<input id=shown autocomplete="current-password" aria-label=Again>
<label>Once more <input id=third type=password></label><button onclick="confirm('Use ' + pw.value + '?')">Ask</button>`)
	agent := toolstest.OpenWindow(t).Start(options{Secrets: loadSecrets(t, "PASSWORD=quartz-lamp\n")}, "testing")
	agent.Open(url)
	agent.Must("browser_type", args{"target": "#user", "text": "ada"})
	agent.Must("browser_type", args{"target": "#pw", "text": "hunter22"})
	agent.Must("browser_press_key", args{"target": "#pw", "key": "Z"})
	agent.Must("browser_fill_form", args{"fields": []args{{"target": "#shown", "value": "hunter22"},
		{"target": "#third", "value": "opal'lamp"}}})
	agent.Must("browser_type", args{"target": "#third", "text": "PASSWORD"})
	agent.Must("browser_click", args{"target": "button"})
	agent.Must("browser_handle_dialog", args{"accept": true})
	for _, key := range []string{"Shift+q", "Digit7", "KeyV", "Numpad5", "Enter"} {
		agent.Must("browser_press_key", args{"target": "#pw", "key": key})
	}
	text := agent.Must("browser_export", nil)
	for _, want := range []string{
		"// Set in the environment: PASSWORD, TYPED_PASSWORD, TYPED_PASSWORD2, TYPED_PASSWORD3, TYPED_PASSWORD4, " +
			"TYPED_PASSWORD5, TYPED_PASSWORD6, TYPED_PASSWORD7\n", "press(process.env.TYPED_PASSWORD7!)",
		"press('Enter')", "name: 'User' }).fill('ada')",
		"name: 'Password' }).fill(process.env.TYPED_PASSWORD!)",
		"name: 'Password' }).press(process.env.TYPED_PASSWORD2!)",
		"name: 'Again' }).fill(process.env.TYPED_PASSWORD!)",
		"name: 'Once more' }).fill(process.env.TYPED_PASSWORD3!)", "fill(process.env.PASSWORD!)",
		"toBe('Use ' + process.env.TYPED_PASSWORD! + 'Z?')",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(text, "hunter22") || strings.Contains(text, "lamp") || strings.Count(text, "press('") != 1 ||
		t.Failed() {
		t.Error(text)
	}
}
