package tools_test

import (
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/internal/toolstest"
)

// Arguments as other servers and models write them; what cannot be meant is refused with
// the names that there are.
func TestForgivingArguments(t *testing.T) {
	t.Parallel()
	agent := openPage(t, `<!doctype html><input id=i onkeydown="document.title = event.key"><select id=s
  ><option>Tea<option>Coffee</select><button onclick="document.title = 'clicked'">Go</button>`)
	agent.Must("browser_type", args{"selector": "#i", "value": "Ann", "timeout": 5000})
	agent.Must("browser_press_key", args{"key": "return", "element": "the field"})
	agent.ExpectValue("() => document.title + i.value", `"EnterAnn"`)
	agent.Must("browser_select_option", args{"ref": "#s", "value": "Coffee"})
	agent.Must("browser_click", args{"selector": "button", "doubleClick": "false"})
	agent.ExpectValue("() => document.title + s.value", `"clickedCoffee"`)
	agent.Expect("browser_evaluate", args{"function": "undefined"}, "undefined")
	agent.Refused("browser_click", args{"tarrget": "button"}, `browser_click has no parameter "tarrget"; give target`)
	agent.Refused("browser_click", nil, "browser_click needs target")
	_, err := agent.CallTool(t.Context(), &mcp.CallToolParams{Name: "click"})
	if err == nil || !strings.Contains(err.Error(), `there is no tool "click"; there is browser_click`) {
		t.Error(err)
	}
}

// Calls that another server's tool would take, or that the list of tools suggests.
func TestCallsOfOtherHabits(t *testing.T) {
	t.Parallel()
	url := toolstest.ServeHTML(t, `<!doctype html>
<form onsubmit="event.preventDefault(); out.textContent = 'Results for ' + q.value"><input id=q></form>
<input id=other><output id=out></output><p id=text>No focus</p>
<select id=colour><option>Red<option>Green</select><label><input type=radio id=large name=size>Large</label><input
  type=checkbox id=news><button
  onclick="setTimeout(() => { late.hidden = false; late.textContent = 'Ready' }, 300)">Go</button><b
  id=late hidden></b>`)
	agent := toolstest.OpenWindow(t).Agent()
	agent.Open(url)
	agent.Must("browser_type", args{"target": "#q", "text": "oat"})
	agent.Must("browser_evaluate", args{"function": "() => other.focus()"})
	agent.Expect("browser_press_key", args{"target": "#q", "key": "Enter"}, "Results for oat")
	agent.Refused("browser_press_key", args{"target": "#text", "key": "Enter"}, "takes no focus")

	agent.Must("browser_steps", args{"steps": []args{{"action": "fill", "target": "#q", "text": "rye"},
		{"action": "press", "target": "#q", "key": "Enter"},
		{"action": "expect", "target": "#out", "text": "results for rye"},
		{"action": "select", "target": "#colour", "text": "Green"}, {"action": "click", "target": "button"},
		{"action": "wait", "target": "#late", "text": "Ready"}}})
	agent.ExpectValue("() => [out.textContent, colour.value, late.textContent].join()", `"Results for rye,Green,Ready"`)
	agent.Must("browser_wait_for", args{"target": "button", "text": "go", "time": 1})
	agent.Must("browser_wait_for", args{"target": "#q", "text": "rye", "time": 1})
	agent.Refused("browser_wait_for", args{"target": "#colour", "text": "Red", "time": 0.3}, "Red")
	agent.Refused("browser_wait_for", args{"target": "#out", "text": "Ready", "time": 0.3},
		`waiting for the element "#out" and the text "Ready"`)
	agent.Refused("browser_wait_for", args{"target": "#none", "time": 0.3}, `#none`)

	agent.Must("browser_select_option", args{"target": "#colour", "values": "red"})
	agent.Must("browser_fill_form", args{"fields": []args{{"target": "#large", "value": "True"},
		{"target": "#news", "value": true}}})
	agent.ExpectValue("() => [colour.value, large.checked, news.checked].join()", `"Red,true,true"`)
	agent.Must("browser_fill_form", args{"fields": []args{{"target": "#news", "type": "checkbox",
		"value": "false"}}})
	agent.ExpectValue("() => news.checked", `false`)

	agent.Evaluate("() => { history.pushState(0, '', '/orders/7?x=1') }")
	for _, part := range []string{"**/orders/*", "*/orders/**?x=1", "orders/7"} {
		agent.Must("browser_wait_for", args{"url": part, "time": 1})
	}
	agent.Refused("browser_wait_for", args{"url": "**/orders", "time": 0.3}, `**/orders`)
}
