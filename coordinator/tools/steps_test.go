package tools_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"browser-coordinator/internal/toolstest"
	"browser-coordinator/vscodeipc"
)

const stepsPage = `<!doctype html><title>Shop</title>
<label>Coupon <input id=coupon></label> <label><input type=checkbox id=news> News</label>
<select aria-label=Size><option>Small<option>Large</select>
<button onclick="setTimeout(() => said.textContent =
  ['Thank you', coupon.value, news.checked, document.querySelector('select').value].join(' '), 100)">Order</button>
<button id=ask onclick="alert('Sure?')">Ask</button> <button id=gone onclick="this.remove()">Remove</button>
<button id=soon onclick="setTimeout(() => ask.textContent = confirm('Late?'), 700)">Soon</button>
<button id=away onclick="location = location.href.replace('127.0.0.1', 'localhost')">Away</button>
<p id=said></p>`

// Several steps in one call do what the single tools do, until something unexpected.
func TestSteps(t *testing.T) {
	t.Parallel()
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, strings.Replace(stepsPage, "Shop<", "Shop at "+strings.Split(r.Host, ":")[0]+"<", 1))
	})
	w := toolstest.OpenWindow(t)
	agent := w.Agent()
	steps := func(all ...args) args { return args{"steps": all} }
	navigate := args{"action": "navigate", "url": url}

	text := agent.Expect("browser_steps", steps(navigate,
		args{"action": "type", "ref": `textbox "Coupon"`, "value": "TEA10", "element": "the coupon"},
		args{"action": "check", "selector": "#news"},
		args{"action": "select", "target": "select", "values": "Large"},
		args{"action": "press_key", "key": "Tab"},
		args{"action": "click", "target": `button "Order"`},
		args{"action": "expect", "text": "thank you"},
	),
		"1. Page: Shop at 127.0.0.1\n", "\n2. Typed into textbox \"Coupon\".\n", "\n3. Checked checkbox \"News\".\n",
		"\n4. Selected Large in combobox \"Size\".\n", "\n5. Pressed Tab", "\n6. Clicked button \"Order\".",
		"7. It is there.", "Thank you TEA10 true Large")
	if strings.Contains(text, "Not done") {
		t.Errorf("all steps were done:\n%s", text)
	}
	for _, act := range []string{"browser_navigate", "browser_type", "browser_fill_form", "browser_select_option",
		"browser_press_key", "browser_click", "browser_wait_for"} {
		toolstest.Called(w, vscodeipc.CommandClientReport, func(r vscodeipc.ReportArg) bool {
			return slices.ContainsFunc(r.Entries, func(e vscodeipc.Activity) bool { return e.Act == act && e.OK })
		})
	}

	click := func(target string) args { return args{"action": "click", "target": target} }
	uncheck := args{"action": "uncheck", "target": "#news"}
	agent.Expect("browser_steps", steps(click("#ask"), uncheck), "1. Clicked button \"Ask\".", "Sure?",
		"Stopped: the dialog must be answered first, with browser_handle_dialog.", "Not done: 2 uncheck “#news”.")
	agent.Must("browser_handle_dialog", args{"accept": true})
	agent.Expect("browser_steps", steps(uncheck, click("#ask")), "2. Clicked", "Sure?") // the last may open one
	agent.Must("browser_handle_dialog", args{"accept": true})

	for _, c := range []struct {
		steps []any
		want  []string
	}{
		{[]any{"click e1"}, []string{`steps 1: want an object, not "click e1"`,
			`For example: {"steps": [{"action": "click", `}},
		{[]any{uncheck, args{"action": "click"}},
			[]string{"step 2: browser_click needs target", `For example: {"action": "click", "target": `}},
		{[]any{args{"action": "check"}}, []string{"step 1: fields 1 needs target",
			`For example: {"action": "check", "target": `}},
	} {
		agent.Refused("browser_steps", args{"steps": c.steps}, c.want...)
	}

	answer := args{"action": "dialog", "accept": true}
	agent.Expect("browser_steps", steps(click("#ask"), answer, uncheck), "Sure?", "2. Accepted the dialog.",
		"3. Unchecked checkbox \"News\".")
	// it opens after the answer to the click
	agent.Expect("browser_steps", steps(click("#soon"), answer, args{"action": "expect", "text": "true", "time": 5}),
		"2. Accepted the dialog.", "3. It is there.")
	agent.Refused("browser_steps", steps(args{"action": "dialog", "accept": true, "time": 0.1}, uncheck),
		"1. dialog failed: there is no dialog to answer", "Not done: 2 uncheck “#news”.")
	agent.Refused("browser_handle_dialog", args{"accept": true}, "there is no dialog to answer")

	gone := agent.Ref("button", "Remove")
	agent.Refused("browser_steps", steps(click(gone), click(gone), uncheck), "1. Clicked button \"Remove\".",
		"2. click “"+gone+"” failed:", "is stale", "Not done: 3 uncheck “#news”.")
	agent.Refused("browser_steps", steps(args{"action": "expect", "text": "Never", "time": 0.2}, uncheck),
		`1. expect “Never” failed: `, "Not done: 2 uncheck")

	// Another origin is a surprise, unless a step expects it.
	agent.Expect("browser_steps", steps(click("#away"), uncheck), "Stopped: the page has gone to http://localhost:",
		"Not done: 2")
	agent.Expect("browser_steps", steps(navigate, click("#away"), args{"action": "wait", "url": "localhost"},
		click("#news")), `4. Clicked checkbox "News".`)

	// Another part of the same page is none, whatever the page's address.
	const plain = `data:text/html,<a href="%23below">Below</a> <button>Next</button>`
	agent.Expect("browser_steps", steps(args{"action": "navigate", "url": plain}, click("a"), click("button")),
		`3. Clicked button "Next".`)
	agent.Must("browser_navigate", args{"url": strings.Replace(url, "127.0.0.1", "localhost", 1)})

	// A mistake in one of the steps is reported before anything is done.
	for _, bad := range []args{{"action": "klick"}, {"action": "click", "x": 1}, {"action": "click"}} {
		agent.Refused("browser_steps", steps(navigate, bad), "step 2: ", "Nothing was done")
	}
	agent.ExpectValue("() => location.hostname", `"localhost"`)

	// Each step needs the user's permission by itself.
	w.Allow(vscodeipc.AccessView)
	agent.Await("[access: view]")
	agent.Refused("browser_steps", steps(args{"action": "wait", "text": "News"}, click("#news"), uncheck),
		"1. It is there.", "2. click “#news” failed: ", `"view"`, "Not done: 3")
}
