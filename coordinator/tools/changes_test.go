package tools_test

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"browser-coordinator/internal/must"
	"browser-coordinator/internal/toolstest"
)

const shopPage = `<!doctype html><title>Shop</title>
<style>#menu { display: none } #more:checked ~ #menu { display: block } .off { display: none }</style>
<main><h1>Cart <span id=count>0</span></h1><ul id=list></ul><p id=total>Total: € 0</p>
<button id=add onclick="add()">Add</button><button id=sort
  onclick="list.append(...[...list.children].reverse())">Reverse</button><button id=clear
  onclick="list.replaceChildren(); total.textContent = 'Total: € 0'">Clear</button>
<input type=checkbox id=more aria-label=More><div id=menu><a href=#a>Option A</a></div>
<input id=name aria-label=Name><button id=fill onclick="document.querySelector('#name').value = 'Ada'">Fill</button>
<button id=open onclick="dialog.showModal()">Open</button>
<dialog id=dialog aria-label=Sure><button id=no onclick="dialog.close()">No</button></dialog>
<button id=toast onclick="show('Saved 7')">Toast</button><button id=later
  onclick="setTimeout(show, 30, 'Later 8')">Later</button>
<button id=modal onclick="document.body.classList.toggle('modal-open'); panel.classList.toggle('off')">Panel</button>
<section id=panel class=off aria-label=Panel><p>Inside</p></section>
<iframe id=frame srcdoc="<button onclick='this.nextSibling.textContent = 7'>Inner</button><p>0</p>"></iframe>
<div id=host></div><button id=quiet>Quiet</button></main>
<script>
for (let i = 0; i < 60; i++) document.body.insertAdjacentHTML('beforeend', '<p>Filler ' + i + '</p><hr>')
let n = 0
function add() {
  n++
  count.textContent = n
  total.firstChild.nodeValue = 'Total: € ' + n * 10
  list.insertAdjacentHTML('beforeend', '<li>Tea ' + n + ' <button>Remove ' + n + '</button></li>')
}
function show(text) {
  const t = document.createElement('div')
  t.setAttribute('role', 'status')
  t.textContent = text
  document.body.append(t)
  setTimeout(() => { t.remove(); document.title = text }, 60)
}
host.attachShadow({mode: 'open'}).innerHTML = '<button id=in>In shadow</button><p>old</p>'
host.shadowRoot.querySelector('button').onclick = () => host.shadowRoot.querySelector('p').textContent = 'new'
</script>`

// An action's answer has what changed in the page, with refs, and nothing else.
func TestActionsShowChanges(t *testing.T) {
	t.Parallel()
	agent := openPage(t, shopPage)
	inner := toolstest.Ref(t, agent.Must("browser_snapshot", nil), "button", "Inner")
	refs := regexp.MustCompile(` \[ref=e\d+\]`)
	for _, c := range []struct {
		what, tool string
		args       args
		want       string
	}{
		{"nothing", "browser_click", args{"target": "#quiet"}, ""},
		{"an item", "browser_click", args{"target": "#add"}, `  - main:
-   - heading "Cart 0" [level=1]
-   - Total: € 0
+   - heading "Cart 1" [level=1]
+   - list:
+     - Tea 1 | button "Remove 1" #
+   - Total: € 10`},
		{"one more", "browser_click", args{"target": "#add"}, `  - main:
-   - heading "Cart 1" [level=1]
+   - heading "Cart 2" [level=1]
    - list:
      - Tea 1 | button "Remove 1" #
+     - Tea 2 | button "Remove 2" #
-   - Total: € 10
+   - Total: € 20`},
		{"the order", "browser_click", args{"target": "#sort"}, `  - main:
    - list:
+     - Tea 2 | button "Remove 2" #
      - Tea 1 | button "Remove 1" #
-     - Tea 2 | button "Remove 2" #`},
		{"styles alone", "browser_click", args{"target": "#more"}, `  - main:
-   - checkbox "More" #
+   - checkbox "More" [checked] #
+   - link "Option A" # [url=#a]`},
		{"back", "browser_click", args{"target": "#more"}, `  - main:
-   - checkbox "More" [checked] #
-   - link "Option A" # [url=#a]
+   - checkbox "More" #`},
		{"a value", "browser_click", args{"target": "#fill"}, `  - main:
-   - textbox "Name" #
+   - textbox "Name" #: Ada`},
		{"typing", "browser_type", args{"target": "#name", "text": "Bea"}, `  - main:
-   - textbox "Name" #: Ada
+   - textbox "Name" #: Bea`},
		{"a dialog", "browser_click", args{"target": "#open"}, `  - main:
+   - dialog "Sure" [modal]:
+     - button "No" #`},
		{"its end", "browser_click", args{"target": "#no"}, `  - main:
-   - dialog "Sure" [modal]:
-     - button "No" #`},
		{"a panel", "browser_click", args{"target": "#modal"}, `  - main:
+   - region "Panel": Inside`},
		{"its end", "browser_click", args{"target": "#modal"}, `  - main:
-   - region "Panel": Inside`},
		{"a shadow root", "browser_click", args{"target": "#host button"}, `  - main:
-   - old
+   - new`},
		{"a frame", "browser_click", args{"target": "INNER"}, `  - iframe about:srcdoc:
-   - 0
+   - 7`},
		{"all items", "browser_click", args{"target": "#clear"}, `  - main:
-   4 lines removed: Tea 2 | button "Remove 2"; Tea 1 | button "Remove 1"; Total: € 20
+   - Total: € 0`},
		{"none wanted", "browser_click", args{"target": "#add", "changes": "none"}, ""},
	} {
		if c.args["target"] == "INNER" {
			c.args["target"] = inner
		}
		text := agent.Must(c.tool, c.args)
		_, got, _ := strings.Cut(text, "Changes:")
		if got = strings.Trim(refs.ReplaceAllString(got, " #"), "\n"); got != c.want {
			t.Errorf("%s: %s\nwant:\n%s", c.what, text, c.want)
		}
	}
	ref := toolstest.Ref(t, agent.Must("browser_click", args{"target": "#add"}), "button", "Remove 4")
	agent.Expect("browser_click", args{"target": ref}, `button "Remove 4"`)
}

// The first action in a document of which the agent has seen the beginning shows what it
// changed. In a huge one that the agent has not looked at, the answer admits that it is not
// known.
func TestChangesAfterABeginning(t *testing.T) {
	t.Parallel()
	for items, want := range map[int]string{1000: "- - 0\n+ - 1",
		6000: "What has changed is not known: take a snapshot."} {
		agent := toolstest.OpenWindow(t).Agent()
		agent.Expect("browser_navigate", args{"url": toolstest.ServeHTML(t,
			fmt.Sprintf(`<!doctype html><button onclick="count.textContent = 1">Add</button><p id=count>0</p>
<script>for (let i = 0; i < %d; i++) document.body.insertAdjacentHTML('beforeend', '<p>Item ' + i)</script>`, items))},
			"… and more: browser_snapshot.")
		agent.Expect("browser_click", args{"target": "button"}, want)
		agent.Must("browser_snapshot", args{"depth": 1})
	}
}

// What an action has changed whose answer did not show it is not what has happened since then. The
// next answer has it, and says so.
func TestChangesThatAreLeftToTheNextAnswer(t *testing.T) {
	t.Parallel()
	const later = "Since the last answer that showed the page:"
	agent := openPage(t, shopPage)
	agent.Must("browser_snapshot", nil)
	agent.Must("browser_click", args{"target": "#add", "changes": "none"})
	agent.Must("browser_find", args{"text": "Cart"})
	agent.Must("browser_click", args{"target": "#add", "changes": "none"})
	text := agent.Expect("browser_click", args{"target": "#fill"}, later, `Cart 2`, `: Ada`)
	before, ownChanges, found := strings.Cut(text, `Clicked button "Fill".`)
	if !found || strings.Contains(ownChanges, "Cart") || !strings.Contains(before, "Cart 2") ||
		strings.Contains(text, "Since the answer to your last action") {
		t.Errorf("%s", text)
	}
	if text := agent.Must("browser_click", args{"target": "#add"}); strings.Contains(text, "Since") {
		t.Errorf("the page was shown: %s", text)
	}
	agent.Must("browser_click", args{"target": "#add", "changes": "none"})
	agent.Must("browser_snapshot", nil)
	agent.Must("browser_evaluate", args{"function": "() => { setTimeout(() => { total.textContent = 'Sum' }) }"})
	if text := agent.Must("browser_click", args{"target": "#quiet"}); strings.Contains(text, later) {
		t.Errorf("a snapshot has shown the page: %s", text)
	}
}

// What was shown and has gone is in the next answer, once.
func TestToastsAreNotMissed(t *testing.T) {
	t.Parallel()
	agent := openPage(t, shopPage)
	agent.Expect("browser_click", args{"target": "#toast"}, "Saved 7") // in the diff, or gone again
	agent.Must("browser_click", args{"target": "#later", "changes": "none"})
	agent.Expect("browser_wait_for", args{"expression": "document.title == 'Later 8'"}, "Later 8")
	if text := agent.Must("browser_click", args{"target": "#quiet"}); strings.Contains(text, "Later") {
		t.Errorf("shown again: %s", text)
	}
}

// The answer to a navigation has the beginning of the page, so that the agent can go on.
func TestNavigationsShowThePage(t *testing.T) {
	t.Parallel()
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			io.WriteString(w, `<!doctype html><title>Small</title><h1>Hello</h1><a href=/big>Big</a>`)
		default:
			io.WriteString(w, `<!doctype html><title>Big</title><nav>`+strings.Repeat(`<a href=/x>Elsewhere</a> `,
				300)+`</nav><main><h1>News</h1>`+strings.Repeat(`<p>Some words</p><button>More</button>`,
				300)+`</main>`)
		}
	})
	agent := toolstest.OpenWindow(t).Agent()
	text := agent.Must("browser_navigate", args{"url": url})
	if !strings.Contains(text, `- heading "Hello" [level=1]`) || strings.Contains(text, "browser_snapshot") {
		t.Errorf("a small page: %s", text)
	}
	text = agent.Must("browser_click", args{"target": toolstest.Ref(t, text, "link", "Big")})
	if len(text) > 1700 || !strings.Contains(text, `- heading "News" [level=1]`) ||
		strings.Contains(text, "Elsewhere") || !strings.HasSuffix(text, "… and more: browser_snapshot.") {
		t.Errorf("a big page: %s", text)
	}
}

// What changes in a fixed wait, or by a script, is in that answer: later it would look like
// the work of another action.
func TestChangesOfAWaitAndOfAScript(t *testing.T) {
	t.Parallel()
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `<!doctype html>
<button onclick="setTimeout(() => stock.textContent = 'Stock: 0', 600)">Reserve</button><p id=stock>Stock: 6</p>
<button id=save onclick="setTimeout(() => toast.innerHTML = 'Saved with 2 errors', 600);
  setTimeout(() => toast.innerHTML = '', 900)">Save</button><div id=toast role=status></div>
<button onclick="stock.textContent = 'Hi ' + prompt('Your name?', 'Bob')">Ask</button>`)
	})
	agent := toolstest.OpenWindow(t).Agent()
	agent.Open(url)
	agent.Must("browser_click", args{"target": "text=Reserve"})
	agent.Expect("browser_wait_for", args{"time": 2}, "Waited 2s.", "- - Stock: 6", "+ - Stock: 0")
	agent.Must("browser_click", args{"target": "text=Save"})
	agent.Expect("browser_wait_for", args{"time": 2}, "Saved with 2 errors")
	agent.Expect("browser_evaluate", args{"function": "() => { stock.textContent = 'Stock: 9'; return 5 }"}, "5",
		"+ - Stock: 9")
	if text := agent.Must("browser_evaluate", args{"function": "() => 5"}); text != "5" {
		t.Errorf("nothing has changed: %s", text)
	}
	// Who only accepts a prompt leaves what is in it.
	agent.Expect("browser_click", args{"target": "text=Ask"}, `"Your name?" (with "Bob" in it)`)
	agent.Expect("browser_handle_dialog", args{"accept": true}, "Hi Bob")
	agent.Must("browser_click", args{"target": "text=Ask"})
	agent.Expect("browser_handle_dialog", args{"accept": true, "promptText": ""}, "- - Hi Bob")
}

// Changes that are cut end after a whole item, and no later line looks as if it followed.
func TestChangesAreCutAtItems(t *testing.T) {
	t.Parallel()
	agent := toolstest.OpenWindow(t).Agent()
	url := toolstest.ServeHTML(t, `<!doctype html><button onclick="load()">Load</button><main id=feed></main><script>
function load() {
  for (let i = 1; i < 60; i++)
    feed.insertAdjacentHTML('beforeend', '<article aria-label=News' + i + '><p>Breaking ' + i + '</p>' +
      '<h2>' + 'Headline '.repeat(i % 7 + 3) + i + '</h2><p>x</p></article>')
}</script>`)
	text := ""
	// a busy machine may be too slow to compare
	for tries := 0; tries == 0 || tries < 10 && strings.Contains(text, "Much of the page"); tries++ {
		agent.Open(url)
		agent.Must("browser_snapshot", nil)
		text = agent.Must("browser_click", args{"target": "text=Load"})
	}
	const end = `- heading "[^"]*" \[level=2\]\n\+ +- x\n… cut here, \d+ more lines: browser_snapshot\.$`
	if !regexp.MustCompile(end).MatchString(text) ||
		strings.Count(text, "Breaking") != strings.Count(text, "heading") {
		t.Error(text)
	}
}

// A toast that is shown again between two answers is as new as the first one.
func TestToastThatIsShownAgain(t *testing.T) {
	t.Parallel()
	agent := openPage(t, `<!doctype html><button>Save</button><div id=s role=status></div><script>
let timer
document.querySelector("button").onclick = () => {
  s.textContent = "Profile saved"
  clearTimeout(timer)
  timer = setTimeout(() => { s.textContent = ""; document.title = "empty" }, 700)
  document.title = ""
}
</script>`)
	agent.Expect("browser_click", args{"target": "button"}, "+ - status: Profile saved")
	agent.Must("browser_evaluate", args{"function": `new Promise((done) => {
		const look = () => document.title ? done() : setTimeout(look, 20);
		look();
	})`})
	for range 2 {
		agent.Expect("browser_click", args{"target": "button"}, "Profile saved")
		must.Await(t, "the end of the toast", func() bool {
			return strings.Contains(agent.Must("browser_find", args{"text": "Profile"}), "Nothing")
		})
	}
}

// A wait for a toast says that it was there before, or that it has gone again.
func TestWaitForAToastThatHasGone(t *testing.T) {
	t.Parallel()
	agent := openPage(t, `<!doctype html><title>Shop</title><button id=now>Save</button>
<button id=later>Later</button><div id=s role=status></div><script>
function toast(text) { s.textContent = text; setTimeout(() => { s.textContent = "" }) }
now.onclick = () => { toast("Profile saved"); document.title = "Saved" }
later.onclick = () => setTimeout(toast, 300, "Once more")</script>`)
	const passed = "It was shown since your last answer, and is gone now."
	agent.Must("browser_click", args{"target": "#now", "changes": "none"})
	agent.Expect("browser_wait_for", args{"text": "Profile saved"}, `Shown for a while: "Profile saved"`,
		`The page's title is now "Saved".`, passed)
	agent.Expect("browser_steps", args{"steps": []args{{"action": "click", "target": "#now"},
		{"action": "wait", "text": "Profile saved"}}}, "2. "+passed, `Shown for a while: "Profile saved"`)
	agent.Refused("browser_wait_for", args{"text": "Profile saved", "time": 0.5}, "timed out") // an answer has had it
	agent.Must("browser_evaluate", args{"function": `() => {
		const options = "<option>Land of long names</option>".repeat(120) + "<option>Zimbabwe</select>";
		document.body.insertAdjacentHTML("beforeend", "<select>" + options);
	}`})
	if text := agent.Must("browser_wait_for", args{"text": "Zimbabwe"}); strings.Contains(text, "But now") {
		t.Error(text)
	}
	must.Await(t, "a wait that sees the toast before it goes", func() bool {
		agent.Must("browser_click", args{"target": "#later", "changes": "none"})
		text, _ := agent.Call("browser_wait_for", args{"text": "Once more", "time": 1})
		return strings.Contains(text, "It is there.") &&
			strings.Contains(text, `But now the text "Once more" is not shown.`)
	})
}

// A wait for what came and went since the last answer is over at once, whatever showed it. Another
// occurrence is another one, and what the agent has known is not news.
func TestWaitForWhatCameAndWent(t *testing.T) {
	t.Parallel()
	const passed = "It was shown since your last answer, and is gone now."
	w := toolstest.OpenWindow(t)
	agent := w.Agent()
	agent.Open(toolstest.ServeHTML(t, `<!doctype html><title>Shop</title><main><p>Stock: 5</p><p id=plain>Ready</p></main>
<div id=s role=status></div><div id=d role=dialog aria-label="Keep it?" hidden><p>Nothing is lost</p><button>Yes</button></div>
<iframe srcdoc="<p id=f role=alert></p>"></iframe><div id=host></div><script>
host.attachShadow({ mode: "open" }).innerHTML = "<p></p>"
const rest = () => new Promise((done) => setTimeout(done, 20))
const flash = async (e, text, then = "") => { e.textContent = text; await rest(); e.textContent = then; await rest() }
</script>`))
	agent.Must("browser_snapshot", nil)
	user := toolstest.Sit(t, w.Browser())
	for _, c := range []struct{ script, text string }{
		{`flash(s, "Saved as draft.txt")`, "saved  AS"},
		{`flash(plain, "Copied to the clipboard", "Ready")`, "to the clipboard"},
		{`flash(host.shadowRoot.firstChild, "In a shadow")`, "in a shadow"},
		{`flash(frames[0].f, "In a frame")`, "in a frame"},
		{`(async () => { d.hidden = false; await rest(); d.hidden = true })()`, "nothing is lost"},
		{`(async () => { for (let i = 1; i < 8; i++) await flash(s, "Part " + i + " of 7") })()`, "part 2 of 7"},
		{`(async () => { plain.insertAdjacentHTML("afterend", "<p>Gone with it"); await rest();
		  plain.nextSibling.remove() })()`, "gone with it"},
	} {
		user.Evaluate(c.script)
		agent.Expect("browser_wait_for", args{"text": c.text}, passed)
		user.Evaluate(c.script)
		agent.Expect("browser_steps", args{"steps": []args{{"action": "expect", "text": c.text}}}, passed)
	}
	for _, script := range []string{"", "flash(plain, 'Ready', 'Busy')"} { // no answer is without it
		user.Evaluate(script)
		agent.Refused("browser_wait_for", args{"text": "saved as", "time": 0.3}, "timed out")
	}
	agent.Refused("browser_wait_for", args{"text": "Ready", "time": 0.3}, "timed out")
	user.Evaluate("flash(s, 'Saved again')")
	agent.Refused("browser_wait_for", args{"text": "Saved again", "new": true, "time": 0.3}, "Saved again")
}

// What a page shows between two answers is not the next action's: it comes first, as what
// happened since the last answer, also in the answer of a tool that only reads.
func TestWhatHappensBetweenTwoAnswers(t *testing.T) {
	t.Parallel()
	hold, shown := make(chan struct{}), make(chan struct{}, 1)
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/hold":
			select {
			case <-hold:
			case <-r.Context().Done():
			}
		case "/shown":
			shown <- struct{}{}
		case "/frame":
			io.WriteString(w, `<!doctype html><button id=in onclick="say.textContent = 'Inner done'">Inner</button>
<p id=say>Inner</p>`)
		default:
			io.WriteString(w, `<!doctype html><title>Shop</title><button id=one>One</button><button id=two
  onclick="own.textContent = 'Two is done'">Two</button><input id=field aria-label=Field>
<p id=own>Two</p><p id=news>No news</p><div id=s role=status></div><iframe src=/frame></iframe><script>
one.onclick = async () => {
  await fetch("/hold")
  s.textContent = "One is saved"
  await new Promise((done) => setTimeout(done))
  s.textContent = ""
  news.textContent = news.textContent == "News" ? "Old news" : "News"
  await new Promise((done) => setTimeout(done))
  fetch("/shown")
}
field.onkeydown = () => own.textContent = "Key"
</script>`)
		}
	})
	agent := toolstest.OpenWindow(t).Agent()
	agent.Open(url)
	agent.Must("browser_snapshot", nil)
	const lead, toast = "Since the answer to your last action:", `Shown for a while: "One is saved"`
	for _, c := range []struct {
		tool  string
		given args
		own   string // the first line of the action's own; empty: it does not act
		lines bool   // it has the changed lines
	}{
		{"browser_click", args{"target": "#two"}, `Clicked button "Two".`, true},
		{"browser_click", args{"target": "#in"}, `Clicked button "Inner".`, true},
		{"browser_type", args{"target": "#field", "text": "x"}, `Typed`, true},
		{"browser_press_key", args{"key": "a"}, `Pressed`, true},
		{"browser_steps", args{"steps": []args{{"action": "click", "target": "#two"},
			{"action": "click", "target": "#in"}}}, `Clicked button "Two".`, true},
		{"browser_evaluate", args{"function": "() => { own.textContent = 'Script' }"}, `Since the script began:`, true},
		{"browser_snapshot", nil, "", false},
		{"browser_find", args{"text": "Inner"}, "", false},
	} {
		agent.Must("browser_click", args{"target": "#one"})
		hold <- struct{}{}
		<-shown
		text := agent.Must(c.tool, c.given)
		since, ownChanges := text, ""
		if c.own != "" {
			index := strings.Index(text, c.own)
			if index < 0 {
				t.Errorf("%s: no %s: %s", c.tool, c.own, text)
				continue
			}
			since, ownChanges = text[:index], text[index:]
		}
		if !strings.Contains(since, lead) || !strings.Contains(since, toast) ||
			c.lines != strings.Contains(since, "ews\n") && c.own != "" {
			t.Errorf("%s: since the last answer:\n%s\nthe action's own:\n%s", c.tool, since, ownChanges)
		}
		if strings.Contains(ownChanges, "is saved") || strings.Contains(ownChanges, "ews") {
			t.Errorf("%s: not the action's own: %s", c.tool, ownChanges)
		}
		if text := agent.Must("browser_find", args{"text": "Inner"}); strings.Contains(text, lead) {
			t.Errorf("%s: again: %s", c.tool, text)
		}
	}

	// A script that changes nothing.
	agent.Must("browser_click", args{"target": "#one"})
	hold <- struct{}{}
	<-shown
	text := agent.Must("browser_evaluate", args{"function": "() => 1"})
	if !strings.Contains(text, toast) || strings.Contains(text, "Since the script began") {
		t.Errorf("after a script that changes nothing: %s", text)
	}
}

// betweenTools has arguments for each tool that may change the page. The others change nothing that
// is shown, and their answers show nothing.
var betweenTools = map[string]args{
	"browser_click":          {"target": "#two"},
	"browser_type":           {"target": "#field", "text": "x"},
	"browser_press_key":      {"key": "a"},
	"browser_hover":          {"target": "#two"},
	"browser_select_option":  {"target": "select", "values": []string{"b"}},
	"browser_fill_form":      {"fields": []args{{"target": "#field", "value": "y"}}},
	"browser_drag":           {"startTarget": "#two", "endTarget": "#own"},
	"browser_drop":           {"target": "#field", "data": args{"text/plain": "x"}},
	"browser_file_upload":    {"target": "#file", "paths": []string{}},
	"browser_evaluate":       {"function": "() => 1"},
	"browser_wait_for":       {"text": "Two"},
	"browser_navigate":       {"url": "/#part"},
	"browser_emulate":        {"colorScheme": "dark"},
	"browser_steps":          {"steps": []args{{"action": "click", "target": "#two"}}},
	"browser_fetch":          {"url": "/shop"},
	"browser_mouse_move_xy":  {"x": 5, "y": 5},
	"browser_mouse_click_xy": {"x": 5, "y": 5},
	"browser_mouse_drag_xy":  {"startX": 5, "startY": 5, "endX": 9, "endY": 9},
	"browser_mouse_down":     {},
	"browser_mouse_up":       {},
	"browser_mouse_wheel":    {"deltaY": 5},
	"browser_cookie_set":     {"name": "x", "value": "y"},
	"browser_cookie_clear":   {},

	"browser_localstorage_set":  {"key": "x", "value": "y"},
	"browser_network_state_set": {"state": "online"},
}

// A toast that comes and goes between two calls is credited to no tool that is called then, and
// the answer to that call or to the next action says that it was before.
func TestToastBetweenIsNotTheActions(t *testing.T) {
	t.Parallel()
	hold, shown := make(chan struct{}), make(chan struct{}, 1)
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/hold":
			select {
			case <-hold:
			case <-r.Context().Done():
			}
		case "/shown":
			shown <- struct{}{}
		case "/":
			io.WriteString(w, `<!doctype html><title>Shop</title><button id=one>One</button><button id=two>Two</button><input
  id=field aria-label=Field ondragover="event.preventDefault()">
<input id=file type=file><select aria-label=Kind><option>a<option>b</select>
<p id=own>Own</p><p id=news>No news</p><div id=s role=status></div><script>
let n = 0
one.onclick = async () => {
  await fetch("/hold")
  s.textContent = "One is saved " + ++n
  await new Promise((done) => setTimeout(done))
  s.textContent = ""
  news.textContent = "News " + n
  await new Promise((done) => setTimeout(done))
  fetch("/shown")
}
</script>`)
		}
	})
	agent := toolstest.OpenWindow(t).Agent("vision", "storage", "network")
	agent.Open(url)
	agent.Must("browser_snapshot", nil)
	before := regexp.MustCompile(`Since the last answer that showed the page:\W*` +
		`Shown for a while: "One is saved \d+"\W*Changes:(\W.*\n)*\+ +- News`)
	for _, tool := range agent.ToolNames() {
		arguments, acts := betweenTools[tool]
		if !acts {
			continue
		}
		if tool == "browser_navigate" {
			arguments = args{"url": url + "/#part"}
		}
		agent.Must("browser_click", args{"target": "#one", "changes": "none"})
		hold <- struct{}{}
		<-shown
		text := agent.Must(tool, arguments)
		if !strings.Contains(text, "is saved") { // the tool has not looked
			text += agent.Must("browser_click", args{"target": "#two"})
		}
		if !before.MatchString(text) || strings.Count(text, "is saved") != 1 || strings.Count(text, "+ - News") != 1 {
			t.Errorf("%s: what was before is the action's own: %s", tool, text)
		}
	}
}

// What a page shows because an action scrolls to its target is the action's own; what it has shown
// before that is not.
func TestChangesOfScrollingToTheTarget(t *testing.T) {
	t.Parallel()
	const page = `<!doctype html><title>Shop</title><p id=news>No news</p><p id=rows>Rows 0</p>
<div style="height: 3000px"></div>
<button id=far>Far</button><input id=field aria-label=Field>%s<script>
onscroll = () => { rows.textContent = "Rows " + Math.round(scrollY > 0) }
</script>`
	inner := toolstest.ServeHTML(t, `<!doctype html><button>Inner</button>`)
	frame := "<iframe src=" + strings.Replace(inner, "127.0.0.1", "localhost", 1) + "></iframe>"
	for _, c := range []struct {
		what, page, tool string
		given            args
	}{
		{"a click", "", "browser_click", args{"target": "#far"}},
		{"a field", "", "browser_type", args{"target": "#field", "text": "x"}},
		{"with a frame", frame, "browser_click", args{"target": "#far"}},
		{"a field, with a frame", frame, "browser_type", args{"target": "#field", "text": "x"}},
		{"in a frame of another process", frame, "browser_click", args{"target": "text=Inner"}},
	} {
		for _, late := range []bool{false, true} {
			agent := openPage(t, fmt.Sprintf(page, c.page))
			agent.Must("browser_snapshot", nil)
			if late {
				agent.Must("browser_evaluate",
					args{"function": "() => { setTimeout(() => { news.textContent = 'Late' }, 50) }"})
				must.Await(t, "the news", func() bool {
					return !strings.Contains(agent.Must("browser_find", args{"text": "Late"}), "Nothing")
				})
			}
			text := agent.Must(c.tool, c.given)
			ownChanges := text[max(0, strings.Index(text, "Clicked"), strings.Index(text, "Typed")):]
			if since := text[:len(text)-len(ownChanges)]; late != strings.Contains(since, "+ - Late") ||
				strings.Contains(since, "Rows") || !strings.Contains(ownChanges, "+ - Rows 1") ||
				strings.Contains(ownChanges, "Late") {
				t.Errorf("%s, late news %v: %s", c.what, late, text)
			}
		}
	}
}

// A dialog or an alert that opens is never cut off behind the rows that have changed as well.
func TestDialogBeforeManyRows(t *testing.T) {
	t.Parallel()
	agent := openPage(t, `<!doctype html><button id=go>Go</button><ul id=list></ul><div id=box></div><script>
go.onclick = () => {
  for (let i = 0; i < 50; i++)
    list.insertAdjacentHTML("beforeend",
      "<li>A row with some words in it, number " + i + " <button>Open row " + i + "</button></li>")
  const rules = [1, 2, 3, 4, 5, 6].map((n) => "<p>Rule " + n + "</p>").join("")
  box.innerHTML = '<div role=dialog aria-label=Sure><h2>Remove all rows?</h2><p>They cannot be restored.</p>' +
    '<label>Reason <input></label>' + rules +
    '<div role=group aria-label=Choice><button>Yes</button><button>No</button></div></div>' +
    '<p role=alert>Be careful</p>'
}</script>`)
	text := agent.Must("browser_click", args{"target": "#go"})
	_, changes, _ := strings.Cut(text, "Changes:")
	changes = regexp.MustCompile(` \[ref=e\d+\]`).ReplaceAllString(changes, " #")
	const want = `+ - dialog "Sure":
+   - heading "Remove all rows?" [level=2]
+   - They cannot be restored.
+   - textbox "Reason" #
+   - Rule 1
+   - Rule 2
+   - Rule 3
+   - Rule 4
+   - Rule 5
+   - Rule 6
+   - group "Choice":
+     - button "Yes" #
+     - button "No" #
+ - alert: Be careful
`
	if !strings.HasPrefix(strings.TrimPrefix(changes, "\n"), want) || !strings.Contains(changes, "cut here, ") ||
		!strings.Contains(changes, "number 3") {
		t.Errorf("%s", text)
	}
}

// A diff that cannot be one says why it is a whole snapshot.
func TestDiffThatIsAWholeSnapshot(t *testing.T) {
	t.Parallel()
	url := toolstest.ServeHTML(t, `<!doctype html><title>Shop</title><h1>Cart</h1>
<button onclick="document.body.innerHTML = '<h2>Other</h2>'">Other</button>`)
	agent := toolstest.OpenWindow(t).Agent()
	agent.Open(url)
	diff := func(reason string) {
		t.Helper()
		agent.Expect("browser_snapshot", args{"diff": true}, "The whole snapshot, since "+reason, "- heading")
	}
	diff("there is no snapshot before it")
	agent.Must("browser_navigate", args{"url": url + "/next"})
	diff("the page has another document")
	agent.Expect("browser_snapshot", args{"diff": true}, "Nothing has changed")
	agent.Must("browser_snapshot", args{"filter": "interactive"})
	diff("the last snapshot had other options")
	agent.Must("browser_click", args{"target": "button"})
	diff("the changes are longer")
}
