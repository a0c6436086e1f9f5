package tools_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"browser-coordinator/internal/toolstest"
)

// Forms, dialogs that block, tabs that belong to the developer, and requests.
func TestFormsDialogsAndTabs(t *testing.T) {
	t.Parallel()
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/item" {
			w.WriteHeader(http.StatusCreated)
			io.WriteString(w, "the seventh item")
			return
		}
		io.WriteString(w, formPage)
	})
	agent := toolstest.OpenWindow(t).Agent()
	agent.Open(url)
	agent.Must("browser_fill_form", args{"fields": []args{
		{"target": "#name", "type": "textbox", "value": "Grace"},
		{"target": "#news", "type": "checkbox", "value": "false"},
	}})
	agent.Must("browser_fill_form", args{"fields": []args{ // each by what it is
		{"target": "#name", "value": "Ada"}, {"target": "#news", "value": true}, {"target": "#colour", "value": "blue"},
	}})
	const values = `() => {
		const [name, news, colour] = ["name", "news", "colour"].map((id) => document.getElementById(id));
		return [name.value, news.checked, colour.value].join(" ");
	}`
	agent.ExpectValue(values, `"Ada true blue"`)
	agent.Must("browser_fill_form", args{"fields": []args{ // whatever the agent calls it
		{"target": "#name", "type": "text", "value": "Eve"}, {"target": "#news", "type": "Switch", "value": "false"},
		{"target": "#colour", "type": "listbox", "value": "red"},
	}})
	agent.ExpectValue(values, `"Eve false red"`)

	// A dialog ends the click with its text, and blocks until it is answered.
	agent.Expect("browser_click", args{"target": agent.Ref("button", "Ask")}, `"Really?"`)
	agent.Refused("browser_evaluate", args{"function": "() => 1"}, "dialog")
	agent.Must("browser_handle_dialog", args{"accept": true})
	agent.ExpectValue("() => document.title", `"yes"`)

	agent.Must("browser_click", args{"target": "#load"})
	agent.Expect("browser_wait_for", args{"text": "the seventh item", "time": 30}, "- the seventh item")
	list := agent.Expect("browser_network_requests", args{"filter": "/api/"}, ". POST "+url+"/api/item?n=7 => 201")
	index, _, _ := strings.Cut(list, ".")
	agent.Expect("browser_network_request", args{"index": number(t, index)}, "seven", "the seventh item")
	if body := agent.Must("browser_network_request",
		args{"index": number(t, index), "part": "response-body"}); body != "the seventh item" {
		t.Errorf("body: %q", body)
	}
	agent.Must("browser_emulate", args{"viewport": "640x480"})
	agent.ExpectValue("() => [innerWidth, innerHeight].join()", `"640,480"`)

	// The agent cannot close the developer's tab. It can close its own.
	agent.Refused("browser_tabs", args{"action": "close"}, "developer's")
	agent.Must("browser_tabs", args{"action": "new", "url": url})
	if list := agent.Must("browser_tabs", args{"action": "list"}); strings.Count(list, "\n") != 1 {
		t.Errorf("not two tabs:\n%s", list)
	}
	agent.Must("browser_tabs", args{"action": "close"})
	if list := agent.Expect("browser_tabs", args{"action": "list"}, "(current)"); strings.Count(list, "\n") != 0 {
		t.Errorf("the tab is not closed:\n%s", list)
	}
}

// The error of an action that failed midway has its effects until then.
func TestActionThatFailsMidway(t *testing.T) {
	t.Parallel()
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/check" {
			w.WriteHeader(http.StatusConflict)
			return
		}
		io.WriteString(w, `<!doctype html><title>Form</title>
<label>Name <input id=name oninput="hint.textContent = 'Hello ' + value; fetch('/check')"></label><p id=hint></p>
<label>When <select id=when><option>now</select></label><label>Stuck <input id=stuck type=checkbox
  onclick="event.preventDefault(); fetch('/check')"></label>`)
	})
	agent := toolstest.OpenWindow(t).Agent()
	agent.Open(url)
	form := func(name string) args {
		return args{"fields": []args{{"target": "#name", "value": name}, {"target": "#when", "value": "soon"},
			{"target": "#stuck", "value": "true"}}}
	}
	agent.Refused("browser_fill_form", form("Ada"), "field 2 of 3 (#when)", `filled before it: textbox "Name"`,
		"Changes:", "Hello Ada", " failed: GET /check → 409")
	agent.Refused("browser_steps", args{"steps": []args{{"action": "check", "target": "#stuck"},
		{"action": "click", "target": "#name"}}}, "1. check “#stuck” failed: ", " failed: GET /check → 409",
		"Not done: 2")
	_, err := agent.Call("browser_click", args{"target": "e99"})
	if err == nil || strings.Contains(err.Error(), "Changes") {
		t.Errorf("an action that has not begun: %v", err)
	}
}

// The answer to a form says which fields the page has changed again.
func TestFormThatThePageChanges(t *testing.T) {
	t.Parallel()
	agent := openPage(t, `<!doctype html><label>Region <input id=region></label>
<label>News <input type=checkbox id=news></label>
<label>Country <select id=country onchange="region.value = ''; news.checked = false"
  ><option>-<option>Peru</select></label><select id=tags multiple><option>red<option>green<option>blue</select>`)
	agent.Expect("browser_fill_form", args{"fields": []args{{"target": "#region", "value": "Cusco"},
		{"target": "#news", "value": "true"}, {"target": "#country", "value": "Peru"},
		{"target": "#tags", "value": []string{"red", "blue"}}}},
		"#region is empty again: the page has changed it after it was filled.", "#news is unchecked again")
	agent.ExpectValue("() => [...tags.selectedOptions].map(o => o.value).join()", `"red,blue"`)
	agent.Refused("browser_fill_form", args{"fields": []args{{"target": "#region", "value": []string{"a", "b"}}}},
		"takes one value, not a list")
}

// What a field holds is that of the field which the page has drawn in place of the typed one,
// and after it has formatted it. Slow typing goes to the end, also of a field with the focus.
func TestFieldThatIsDrawnAnew(t *testing.T) {
	t.Parallel()
	agent := openPage(t, `<!doctype html><div id=r></div>
<input id=phone oninput="setTimeout(() => this.value = this.value.slice(0, 4))"><input id=code value=AB>
<script>
let open = false;
function draw(v) {
  const had = document.activeElement?.id === 'q';
  r.innerHTML = '';
  const i = document.createElement('input');
  i.id = 'q';
  i.value = v;
  i.onfocus = () => { if (!open) { open = true; draw(i.value) } };
  i.oninput = () => draw(i.value);
  r.append(i);
  if (had) i.focus();
}
draw('');
code.focus();
code.setSelectionRange(0, 0);
</script>`)
	if text := agent.Must("browser_type", args{"target": "#q", "text": "rome"}); strings.Contains(text,
		"not what was typed") {
		t.Error(text)
	}
	agent.ExpectValue("() => q.value", `"rome"`)
	agent.Expect("browser_type", args{"target": "#phone", "text": "12345"}, `#phone holds "1234", not what was typed`)
	agent.Must("browser_evaluate", args{"function": "() => { code.focus(); code.setSelectionRange(0, 0) }"})
	agent.Must("browser_type", args{"target": "#code", "text": "CD", "slowly": true})
	agent.ExpectValue("() => code.value", `"ABCD"`)
}

// Enter in a form whose default button is disabled does nothing, and the answer says so.
func TestEnterAtDisabledButton(t *testing.T) {
	t.Parallel()
	agent := openPage(t, `<!doctype html><title>Shop</title><button disabled>Other</button>
<form id=code onsubmit="event.preventDefault(); send.disabled = true"><input name=code><button
  type=button disabled>Clear</button><button id=send>Redeem</button></form>
<form id=mail><input name=parentNode><button disabled>Sub&#10;scribe</button><button>Later</button></form>
<form id=none><input name=q></form>`)
	const disabled = "default button"
	text := agent.Expect("browser_type", args{"target": "#mail input", "text": "a", "submit": true},
		`Typed and pressed Enter in textbox`, `default button, button "Sub scribe", was disabled`)
	if strings.Contains(text, "Later") {
		t.Error(text)
	}
	for _, call := range []args{
		{"target": "#code input", "text": "TEA10", "submit": true}, // the page disables it itself
		{"target": "#mail input", "text": "b"},
		{"target": "#none input", "text": "c", "submit": true},
	} {
		if text := agent.Must("browser_type", call); strings.Contains(text, disabled) || !strings.Contains(text, "Typed ") {
			t.Errorf("%v: %s", call, text)
		}
	}
}

// A test repeats how options of a list of the page's own were chosen.
func TestExportOfLists(t *testing.T) {
	t.Parallel()
	url := toolstest.ServeHTML(t, `<!doctype html><title>Lists</title>
<button id=size role=combobox aria-label=Size aria-expanded=false aria-controls=sizes>Choose</button>
<ul id=sizes role=listbox hidden><li role=option>Large<li role=option>Extra large</ul>
<ul role=listbox aria-label=Tags aria-multiselectable=true id=tags><li role=option>red<li role=option>green</ul>
<input role=combobox aria-label=City aria-expanded=false aria-controls=cities id=city>
<ul id=cities role=listbox hidden><li role=option>Lima</ul>
<script>
const show = (e, list, shown) => { list.hidden = !shown; e.ariaExpanded = String(shown) };
size.onclick = () => show(size, sizes, sizes.hidden);
for (const o of sizes.children) o.onclick = () => { size.textContent = o.textContent; show(size, sizes, false) };
for (const o of tags.children) o.onclick = () => { o.ariaSelected = String(o.ariaSelected !== "true") };
city.oninput = () => show(city, cities, city.value === "Lima");
cities.onclick = () => { document.title = "Lima"; show(city, cities, false) };
</script>`)
	agent := toolstest.OpenWindow(t).Start(options{}, "testing")
	agent.Open(url)
	agent.Must("browser_fill_form", args{"fields": []args{{"target": "#size", "value": "large"},
		{"target": "#tags", "value": []string{"red", "green"}}, {"target": "#city", "value": "Lima"}}})
	agent.Must("browser_select_option", args{"target": "#size", "values": []string{"Extra large"}})
	agent.ExpectValue("() => [size.textContent, document.title, [...tags.children].map((o) => o.ariaSelected)].join()",
		`"Extra large,Lima,true,true"`)
	toolstest.RunTest(t, agent.Must("browser_export", nil))
}

// A download opens no document: it is no navigation in the list of requests, and a test waits for it.
func TestNavigationToADownload(t *testing.T) {
	t.Parallel()
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/file":
			w.Header().Set("Content-Disposition", "attachment; filename=report.csv")
			io.WriteString(w, "a,b")
		case "/none":
			w.WriteHeader(http.StatusNoContent)
		default:
			io.WriteString(w, `<!doctype html><title>Files</title><a href="/file">file</a><a href="/none">none</a>`)
		}
	})
	agent := toolstest.OpenWindow(t).Start(options{}, "testing")
	agent.Open(url + "/page")
	agent.Expect("browser_navigate", args{"url": url + "/file"}, "A download began")
	agent.Must("browser_click", args{"target": "text=file"})
	agent.Must("browser_click", args{"target": "text=none"})
	list := agent.Expect("browser_network_requests", args{"static": true}, "/page => 200", "/file", "/none")
	if strings.Contains(list, "Navigated to") || strings.Contains(list, "before") {
		t.Error(list)
	}
	agent.Open(url + "/next")
	list = agent.Must("browser_network_requests", args{"static": true})
	if strings.Contains(list, "/page") || !strings.Contains(list, "/next => 200") {
		t.Error(list)
	}
	toolstest.RunTest(t, agent.Must("browser_export", nil))
}
