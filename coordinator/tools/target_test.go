package tools_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"browser-coordinator/internal/cdptest"
	"browser-coordinator/internal/toolstest"
	"browser-coordinator/vscodeipc"
)

const orderPage = `<!doctype html><title>Shop</title>
<form onsubmit="return false">
<input aria-label=Coupon><input id=bare><select aria-label=Size><option>Small<option>Large</select>
<label><input type=checkbox id=news> News</label>
<button onclick="document.title = 'Ordered'">Order</button></form>
<button id=icon aria-label="Delete all"><svg width=20 height=20><path d="M0 0h20v20z"/></svg></button>
<div id=card style="width: 100px"><button style="width: 100%">Buy</button></div>
<button id=fake>OK” on “Bank
<!-- -->"allowed"&#x202e;</button>
<div id=tile style="cursor: pointer">Tile one</div>
<span id=own role="doc-allowed">Close</span>
<form id=clobbered style="padding: 9px"><input type=hidden name=id><input type=hidden name=dataset></form>
<input type=file aria-label=Receipt>
<p id=from draggable=true>Item</p><div id=to role=list aria-label=Basket>here</div>`

// The question names what the page has. The agent's own words are apart from it, and only
// there if they differ.
func TestQuestionNamesWhatThePageHas(t *testing.T) {
	t.Parallel()
	browser := toolstest.Browser(t)
	user := toolstest.Sit(t, browser.URL())
	user.Browse(toolstest.ServeHTML(t, orderPage))
	w := toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), browser.URL())
	w.Allow(vscodeipc.AccessAsk)
	if err := os.WriteFile(filepath.Join(w.Folder, "a.pdf"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.Handle(vscodeipc.CommandPermissionAsk, func(vscodeipc.Call) (any, error) {
		return vscodeipc.AskResult{Decision: "refuse", Reason: "human"}, nil
	})
	agent := w.Agent()
	agent.Await("[access: ask]")
	const banner = "Close the cookie banner"
	for i, c := range []struct {
		tool          string
		args          args
		detail, claim string
	}{
		// its first call
		{"browser_click", args{"target": "form button", "element": banner}, `Click button "Order"`, banner},
		{"browser_click", args{"target": "form button", "element": "the Order button"}, `Click button "Order"`, ""},
		{"browser_click", args{"target": "#icon svg", "button": "right", "modifiers": []string{"Shift"}},
			`Right-click button "Delete all" with “Shift”`, ""},
		{"browser_click", args{"target": "#card", "doubleClick": true}, `Double-click button "Buy"`, ""},
		{"browser_click", args{"target": "#tile", "position": args{"x": 5, "y": 6.5}},
			`Click element "Tile one" at 5, 6.5`, ""},
		{"browser_click", args{"target": "#fake"}, "Click button \"OK' on 'Bank 'allowed'\u202e\"", ""},
		{"browser_click", args{"target": "#tile"}, `Click element "Tile one"`, ""},
		{"browser_click", args{"target": "label"}, `Click checkbox "News"`, ""},
		{"browser_click", args{"target": "#none", "element": banner}, "Click an element that matches `#none`", banner},
		{"browser_click", args{"target": "#own"}, `Click element "Close"`, ""},
		{"browser_hover", args{"target": "form button"}, `Move the mouse over button "Order"`, ""},
		{"browser_type", args{"target": "form input", "text": "x"},
			"Type “x” into an element that matches `form input`", ""},
		{"browser_type", args{"target": "[aria-label=Coupon]", "text": "TEA10", "submit": true},
			`Type “TEA10” into textbox "Coupon" and press Enter`, ""},
		{"browser_type", args{"target": "#bare", "text": strings.Repeat("long ", 50), "element": "notes"}, "Type “" +
			strings.Repeat("long ", 7) + "long…” into textbox without a name (id \"bare\")", "notes"},
		{"browser_press_key", args{"key": "Enter"}, `Press “Enter” in textbox "Coupon"`, ""},
		{"browser_select_option", args{"target": "select", "values": []string{"Large"}},
			`Select “Large” in combobox "Size"`, ""},
		{"browser_fill_form", args{"fields": []args{
			{"target": "[aria-label=Coupon]", "type": "textbox", "value": "TEA10", "name": "Coupon"},
			{"target": "#news", "type": "checkbox", "value": "true", "element": "Accept cookies"},
		}}, `Set 2 fields: textbox "Coupon" to “TEA10”, checkbox "News" to “true”`, "Accept cookies"},
		{"browser_drag", args{"startTarget": "#from", "startElement": "Item", "endTarget": "#to",
			"endElement": "the bin"}, `Drag paragraph "Item" onto list "Basket"`, "the bin"},
		{"browser_file_upload", args{"target": "[type=file]", "paths": []string{"a.pdf"}},
			`Put the file “a.pdf” into button "Receipt"`, ""},
		{"browser_drop", args{"target": "#to", "data": args{"text/plain": "hello"}}, `Drop “hello” onto list "Basket"`,
			""},
		{"browser_take_screenshot", args{"target": "#to", "element": banner}, `Take a picture of list "Basket"`,
			banner},
		{"browser_evaluate", args{"function": "(e) => e.remove()", "target": "#to"},
			`Run a script on list "Basket": (e) => e.remove()`, ""},
		{"browser_evaluate", args{"function": "() => 1", "element": banner}, "Evaluate: () => 1", ""},
		{"browser_navigate", args{"url": "http://127.0.0.1/"}, "Navigate: http://127.0.0.1/", ""},
		{"debug_breakpoints", args{"action": "set", "path": "src/cart.ts", "line": 28},
			"Set a breakpoint at “src/cart.ts:28”", ""},
		{"debug_breakpoints", args{"action": "set", "path": "src/cart.ts", "line": 28, "condition": "n > 1"},
			"Set a breakpoint at “src/cart.ts:28” with the condition “n > 1”", ""},
		{"debug_breakpoints", args{"action": "set", "path": "a.ts", "line": 1, "logMessage": "{n}"},
			"Log “{n}” at “a.ts:1”", ""},
		{"debug_breakpoints", args{"action": "remove", "path": "a.ts"}, "Remove the breakpoints in “a.ts”", ""},
	} {
		if c.tool == "browser_press_key" {
			user.Evaluate("document.querySelector('[aria-label=Coupon]').focus()")
		}
		agent.Refused(c.tool, c.args, "did not allow")
		var asked vscodeipc.AskArg
		if calls := w.Calls(vscodeipc.CommandPermissionAsk); len(calls) != i+1 ||
			json.Unmarshal(calls[i].Arg, &asked) != nil {
			t.Fatalf("%s: %d questions instead of %d", c.tool, len(calls), i+1)
		}
		if asked.Detail != c.detail || asked.Claim != c.claim || asked.Page == nil &&
			!strings.HasPrefix(c.tool, "debug_") {
			t.Errorf("%s %v:\n%q, claimed %q on %v\n%q, claimed %q is wanted", c.tool, c.args, asked.Detail,
				asked.Claim, asked.Page, c.detail, c.claim)
		}
	}
	toolstest.Called(w, vscodeipc.CommandClientReport, func(r vscodeipc.ReportArg) bool {
		return slices.ContainsFunc(r.Entries, func(e vscodeipc.Activity) bool {
			return e.Act == "browser_click" && e.Target == `button "Order"` &&
				e.Outcome == `refused: the access mode is "ask", and the user did not allow it`
		})
	})

	// The user is not asked about a ref of an element that has gone.
	ref := agent.Ref("button", "Order")
	user.Evaluate("document.querySelector('form').remove()")
	before := len(w.Calls(vscodeipc.CommandPermissionAsk))
	agent.Refused("browser_click", args{"target": ref}, "is stale")
	if after := len(w.Calls(vscodeipc.CommandPermissionAsk)); after != before {
		t.Errorf("%d questions about an element that has gone", after-before)
	}
}

// A question has the elements that the action is on, as a view of the page can find them.
func TestQuestionHasItsElements(t *testing.T) {
	t.Parallel()
	browser := toolstest.Browser(t)
	toolstest.Sit(t, browser.URL()).Browse(toolstest.ServeHTML(t, orderPage))
	w := toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), browser.URL())
	w.Allow(vscodeipc.AccessAsk)
	w.Handle(vscodeipc.CommandPermissionAsk, func(vscodeipc.Call) (any, error) {
		return vscodeipc.AskResult{Decision: "refuse", Reason: "human"}, nil
	})
	agent := w.Agent()
	agent.Await("[access: ask]")
	agent.Refused("browser_drag", args{"startTarget": "#from", "endTarget": "#to"}, "did not allow")
	asked := toolstest.Called[vscodeipc.AskArg](w, vscodeipc.CommandPermissionAsk, nil)
	if len(asked.Nodes) != 2 {
		t.Fatalf("the elements are %+v", asked.Nodes)
	}
	user := cdptest.Dial(t, browser.URL())
	page := user.Attach(asked.Nodes[0].Target)
	var tree struct {
		FrameTree struct{ Frame struct{ LoaderID string } }
	}
	user.Call(page, "Page.getFrameTree", "{}", &tree)
	for i, id := range []string{"from", "to"} {
		n := asked.Nodes[i]
		var described struct{ Node struct{ Attributes []string } }
		user.Call(page, "DOM.describeNode", fmt.Sprintf(`{"backendNodeId":%d}`, n.ID), &described)
		if !slices.Contains(described.Node.Attributes, id) || n.Document != tree.FrameTree.Frame.LoaderID {
			t.Errorf("%s is %+v, with %v", id, n, described.Node.Attributes)
		}
	}
}

// What the user allows is an action on the element of the question, and on no other.
func TestConsentIsForTheElement(t *testing.T) {
	t.Parallel()
	w, agent, user := sample(t)
	agent.Must("browser_snapshot", nil)
	w.Allow(vscodeipc.AccessAsk)
	agent.Await("[access: ask]")
	meanwhile := ""
	w.Handle(vscodeipc.CommandPermissionAsk, func(vscodeipc.Call) (any, error) {
		user.Evaluate(meanwhile)
		return vscodeipc.AskResult{Decision: "allow"}, nil
	})
	meanwhile = "document.querySelector('button').textContent = 'Order'"
	agent.Refused("browser_click", args{"target": "button"}, `the user was asked about button "Greet"`,
		`button "Order" there now`, "call again")
	if title := user.Evaluate("document.title"); title != `"Sample"` {
		t.Errorf("the button was clicked: the title is %s", title)
	}
	// A number counts something, or the time; the user knows that it changes.
	user.Evaluate("document.querySelector('button').textContent = 'Order (9 s)'")
	meanwhile = "document.querySelector('button').textContent = 'Order (8 s)'"
	agent.Expect("browser_click", args{"target": "button"}, `Clicked button "Order (8 s)".`)
	// What was not there at the question is what the page has there now.
	meanwhile = "document.querySelector('button').id = 'later'"
	agent.Expect("browser_click", args{"target": "#later"}, `Clicked button "Order (8 s)".`)
}

// An answer names the element that was acted on, and reports a new name of a ref's.
func TestAnswerNamesTheElement(t *testing.T) {
	t.Parallel()
	w := toolstest.OpenWindow(t)
	agent := w.Agent()
	agent.Open(toolstest.ServeHTML(t, orderPage))
	order, tile := agent.Ref("button", "Order"), refOf(t, agent, "Tile one")
	expectAll(t, agent, []toolCall{
		{"browser_click", args{"target": order, "element": "Close the cookie banner"},
			[]string{"Clicked button \"Order\"."}},
		{"browser_click", args{"target": "#card"}, []string{"Clicked button \"Buy\"."}},
		{"browser_click", args{"target": tile}, []string{"Clicked generic \"Tile one\"."}},
		{"browser_type", args{"target": "#bare", "text": "x"}, []string{"Typed into textbox [id=bare]."}},
		{"browser_press_key", args{"key": "Tab"}, []string{"Pressed Tab in textbox [id=bare]."}},
		{"browser_select_option", args{"target": "select", "values": []string{"Large"}},
			[]string{"Selected Large in combobox \"Size\"."}},
		{"browser_hover", args{"target": "form button"}, []string{"Hovering over button \"Order\"."}},
		{"browser_drag", args{"startTarget": "#from", "endTarget": "#to"},
			[]string{"Dragged paragraph \"Item\" onto list \"Basket\"."}},
		{"browser_fill_form", args{"fields": []args{
			{"target": "#bare", "type": "textbox", "value": "x"},
			{"target": "#news", "type": "checkbox", "value": "true"},
		}}, []string{"Filled 2 fields: textbox [id=bare], checkbox \"News\"."}},
		{"browser_click", args{"target": "#clobbered"}, []string{"Clicked form [id=clobbered]."}},
		{"browser_click", args{"target": "[type=file]"}, nil},
		{"browser_file_upload", args{"paths": []string{}}, []string{"Put 0 files into button \"Receipt\"."}},
	})
	for target, name := range map[string]string{"browser_click": `button "Order"`,
		"browser_drag":      `paragraph "Item" onto list "Basket"`,
		"browser_press_key": `Tab in textbox without a name (id "bare")`} {
		toolstest.Called(w, vscodeipc.CommandClientReport, func(r vscodeipc.ReportArg) bool {
			return slices.ContainsFunc(r.Entries, func(e vscodeipc.Activity) bool {
				return e.Act == target && e.Target == name
			})
		})
	}

	// The page gives the same elements other names, as lists do that reuse their rows.
	agent.Evaluate("() => addEventListener('click', () => { document.querySelector('form button').textContent = " +
		"'Pay'; document.querySelector('#tile').textContent = 'Tile two' }, { once: true })")
	agent.Must("browser_click", args{"target": "#card", "changes": "none"})
	agent.Expect("browser_click", args{"target": order, "changes": "none"}, `Clicked button "Pay".`,
		`The last snapshot had `+order+` as button "Order": the page has changed it since.`)
	agent.Expect("browser_click", args{"target": tile}, `- - generic [ref=`+tile+`]: Tile one`,
		`Clicked generic "Tile two".`)
	agent.Must("browser_snapshot", nil)
	if text := agent.Expect("browser_click", args{"target": order}, `Clicked button "Pay".`); strings.Contains(text,
		"The last snapshot") {
		t.Errorf("the agent has seen the new name: %s", text)
	}
}

// refOf is the ref in the line of a snapshot that has the text.
func refOf(t *testing.T, agent *toolstest.Agent, text string) string {
	t.Helper()
	for line := range strings.Lines(agent.Must("browser_snapshot", nil)) {
		if _, ref, ok := strings.Cut(line, "[ref="); ok && strings.Contains(line, text) {
			ref, _, _ = strings.Cut(ref, "]")
			return ref
		}
	}
	t.Fatalf("no ref of %s", text)
	return ""
}

// Without a target, text goes to the caret of what has the focus, in steps too.
func TestTypeWithoutATarget(t *testing.T) {
	t.Parallel()
	agent := openPage(t, `<!doctype html><title>Chat</title><input id=to aria-label=To>
<input type=password id=key aria-label=Key>
<button onclick="document.querySelector('#to').focus()">Write</button>`, "testing")
	agent.Refused("browser_type", args{"text": "Ada"}, "nothing has the focus: give a target, or click a field first")
	agent.Expect("browser_steps", args{"steps": []args{
		{"action": "click", "target": "button"},
		{"action": "type", "text": "Ada"},
		{"action": "press", "key": "Tab"},
		{"action": "type", "text": "open sesame"},
	}}, `Typed into textbox "To"`, `Typed into textbox "Key"`)
	agent.ExpectValue(`() => [...document.querySelectorAll("input")].map(e => e.value).join()`, `"Ada,open sesame"`)
	source := agent.Must("browser_export", nil)
	if !strings.Contains(source, ".keyboard.insertText('Ada')") || strings.Contains(source, "sesame") {
		t.Error(source)
	}
}
