package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/policy"
)

func TestFit(t *testing.T) {
	for _, test := range []struct{ tool, given, want string }{
		{"browser_click", `{"target":"e1"}`, `{"target":"e1"}`},
		{"browser_click", `{"ref":"e1","timeout":5000}`, `{"target":"e1"}`},
		{"browser_click", `{"selector":"#a","doubleClick":"true","modifiers":"Shift"}`,
			`{"doubleClick":true,"modifiers":["Shift"],"target":"#a"}`},
		{"browser_hover", `{"element":"Menu","ref":"e1"}`, `{"target":"e1"}`},
		{"browser_type", `{"ref":"e1","value":"Tea"}`, `{"target":"e1","text":"Tea"}`},
		{"browser_select_option", `{"target":"e1","value":"Tea"}`, `{"target":"e1","values":["Tea"]}`},
		{"browser_drag", `{"startRef":"e1","endRef":"e2"}`, `{"endTarget":"e2","startTarget":"e1"}`},
		{"browser_tabs", `{"action":"select","index":"2"}`, `{"action":"select","index":2}`},
		{"browser_fill_form", `{"fields":[{"ref":"e1","type":"textbox","value":"a"}]}`,
			`{"fields":[{"target":"e1","type":"textbox","value":"a"}]}`},
		{"browser_fill_form", `{"fields":[{"target":"e1","value":["a"]}]}`, `{"fields":[{"target":"e1","value":"a"}]}`},
		{"browser_fill_form", `{"fields":[{"target":"e1","value":["a",2]}]}`,
			`{"fields":[{"target":"e1","value":["a","2"]}]}`},
		{"browser_fill_form", `{"fields":[{"target":"e1","value":[]}]}`, `{"fields":[{"target":"e1","value":[]}]}`},
		{"browser_fill_form", `{"fields":[{"target":"e1","values":["a","b"]}]}`,
			`{"fields":[{"target":"e1","value":["a","b"]}]}`},
		{"browser_fill_form", `{"fields":["e1"]}`, `fields 1: want an object, not "e1"`},
		{"browser_select_option", `{"target":"e1","values":[1,true]}`, `{"target":"e1","values":["1","true"]}`},
		{"browser_fetch", `{"url":"/","body":{"a":[1]}}`, `{"body":"{\"a\":[1]}","url":"/"}`},
		{"browser_fetch", `{"url":"/","body":[]}`, `{"body":"[]","url":"/"}`},
		{"browser_press_key", `{"key":"Enter","ref":"e1"}`, `{"key":"Enter","target":"e1"}`},
		{"browser_wait_for", `{"selector":"#a"}`, `{"target":"#a"}`},
		{"browser_click", `{"target":["e1","e2"]}`, `target: want a string (ref or selector), not ["e1","e2"]`},
		{"browser_click", `{"target":["e1"],"button":null}`, `{"target":"e1"}`},
		{"browser_click", `{"target":"e1","button":"x. Yes"}`, `button "x. Yes": want one of left, right, middle`},
		{"browser_click", `{"target":"e1","doubleClick":"yes"}`, `doubleClick: want a boolean, not "yes"`},
		{"browser_drag", `{"from":"e1","to":"e2"}`, `browser_drag has no parameter "from": ` +
			`it has endPosition, endTarget, offset, startPosition, startTarget, tab, window`},
		{"browser_tabs", `{"action":"select","index":"NaN"}`, `index: want an integer, not "NaN"`},
		{"browser_tabs", `{"index":1}`, `browser_tabs needs action (list, new, close, select or request)`},
		{"browser_wait_for", `{"text":"Tea","timeout":5000}`,
			`browser_wait_for has no parameter "timeout"; give time, in seconds`},
		{"browser_emulate", `{"viewport":{"wide":true}}`,
			`viewport: want a string (390x844, with scale 390x844x3, with touch 390x844,mobile), not {"wide":true}`},
		{"browser_steps", `{"steps":[{"action":"click","x":1}]}`, `{"steps":[{"action":"click","x":1}]}`},
		{"browser_steps", `{"steps":[{"x":1}]}`, `steps 1 needs action (` + stepActions() + `)`},
		{"window_list", ``, `{}`},
		{"browser_click", `{"target":"e1","ref":"e1"}`, `{"target":"e1"}`},
		{"browser_click", `{"target":"e1","ref":"e2"}`,
			`browser_click: ref and target mean the same here, and have different values: give one`},
		{"browser_click", `{"selector":"#a","ref":"e2"}`,
			`browser_click: ref and selector mean the same here, and have different values: give one`},
		{"browser_fill_form", `{"fields":[{"target":"e1","ref":"e1","value":"a"}]}`,
			`{"fields":[{"target":"e1","value":"a"}]}`},
		{"browser_hover", `{"ref":"e1","position":{"x":1,"y":2}}`, `{"position":{"x":1,"y":2},"target":"e1"}`},
		{"browser_click", `{"tarrget":"e1"}`, `browser_click has no parameter "tarrget"; give target. ` +
			`It has button, changes, doubleClick, modifiers, position, tab, target, window`},
		{"browser_click", `{}`, `browser_click needs target (ref or selector)`},
		{"window_list", `{"foo":1}`, `window_list has no parameter "foo": it has none`},
		{"browser_click", `"e1"`, `the arguments of browser_click are not an object: "e1"`},
	} {
		got, _, err := Named(test.tool).Fit(json.RawMessage(test.given))
		if err != nil {
			got = []byte(err.Error())
		}
		if string(got) != test.want {
			t.Errorf("%s %s:\n%s\nwant:\n%s", test.tool, test.given, got, test.want)
		}
	}
}

// stepActions is what agents know of the actions of browser_steps.
func stepActions() string {
	return Named("browser_steps").Parameters.Member("steps").Items.Member("action").Description
}

// A tool that does not exist is refused with the one that does the same, or is nearest.
func TestUnknownTools(t *testing.T) {
	session := connect(t)
	for name, want := range map[string]string{
		"click": "; there is browser_click", "browser_clik": "; there is browser_click",
		"window_lst": "; there is window_list",
		"snapshot":   "; there is browser_snapshot", "take_snapshot": "; there is browser_snapshot",
		"browser_closed": "", "browser_bark": "", "browser_zoom": "", "make_coffee": "",
		"browser_resize":        "; there is browser_emulate with viewport WIDTHxHEIGHT",
		"browser_close":         "; there is browser_tabs with action close",
		"browser_navigate_back": "; there is browser_navigate with action back",
		"browser_screenshot":    "; there is browser_take_screenshot",
		"browser_pdf_save":      " here: the user can add it with --caps pdf",
		"browser_export":        " here: the user can add it with --caps testing",
	} {
		_, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name})
		if want := fmt.Sprintf("there is no tool %q%s", name, want); err == nil ||
			!strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// The tools agree with each other: names of Playwright's tools and of steps have one meaning, and
// each tool has what the reference needs.
func TestDefinitions(t *testing.T) {
	seen := map[string]string{}
	unique := func(tool *Tool, name string) {
		if other := seen[name]; other != "" {
			t.Errorf("%s and %s both are %s", other, tool.Name, name)
		}
		seen[name] = tool.Name
	}
	for _, tool := range All() {
		unique(tool, tool.Name)
		for name := range tool.Replaces {
			unique(tool, name)
		}
		for _, a := range tool.Steps {
			for _, name := range append(a.Aliases, a.Name) {
				unique(tool, "the step "+name)
			}
		}
		if _, _, err := tool.Fit(json.RawMessage(tool.Example)); err != nil {
			t.Errorf("the example of %s: %v", tool.Name, err)
		}
		if tool.Title == "" || tool.Description == "" || tool.Effect == 0 {
			t.Errorf("%s lacks a title, a description or an effect", tool.Name)
		}
		if tool.Set != "" && !slices.Contains(CapNames(), tool.Set) {
			t.Errorf("%s is in the set %s", tool.Name, tool.Set)
		}
	}
}

// The class and the category of a call follow from the tool and its arguments.
func TestOperations(t *testing.T) {
	for _, c := range []struct {
		tool, arguments string
		class           policy.Class
		category        string
	}{
		{"browser_wait_for", `{"text":"Saved"}`, policy.ReadOnly, ""},
		{"browser_wait_for", `{"text":"Saved","expression":"f()"}`, policy.Mutating, policy.Script},
		{"browser_take_screenshot", `{}`, policy.ReadOnly, ""},
		{"browser_take_screenshot", `{"target":"e5"}`, policy.Mutating, ""},
		{"browser_take_screenshot", `{"fullPage":true}`, policy.Mutating, ""},
		{"browser_tabs", `{"action":"list"}`, policy.ReadOnly, ""},
		{"browser_tabs", `{"action":"close"}`, policy.Mutating, ""},
		{"debug_breakpoints", `{"action":"list"}`, policy.ReadOnly, ""},
		{"debug_breakpoints", `{"action":"set"}`, policy.Mutating, policy.Debugger},
		{"performance_start_trace", `{"reload":true}`, policy.Mutating, ""},
		{"performance_start_trace", `{}`, policy.ReadOnly, ""},
		{"browser_find", `{"text":"a"}`, policy.ReadOnly, ""},
		{"browser_find", `{"text":"a","scroll":true}`, policy.Mutating, policy.Input},
		{"browser_click", `{"target":"e5"}`, policy.Mutating, policy.Input},
		{"browser_hover", `{"target":"e5"}`, policy.Mutating, policy.Input},
		{"browser_navigate", `{"url":"/"}`, policy.Mutating, policy.Navigation},
		{"browser_evaluate", `{"function":"1"}`, policy.Mutating, policy.Script},
		{"browser_cookie_set", `{"name":"a","value":"b"}`, policy.Mutating, policy.Storage},
		{"browser_set_storage_state", `{"filename":"a"}`, policy.Mutating, policy.Storage},
		{"browser_fetch", `{"url":"/"}`, policy.Mutating, ""},
		{"browser_pdf_save", `{}`, policy.Mutating, ""},
		{"browser_file_upload", `{}`, policy.Mutating, ""},
		{"debug_start", `{}`, policy.Mutating, ""},
		{"debug_step", `{"action":"over"}`, policy.Mutating, policy.Debugger},
		{"reveal_source", `{"path":"a"}`, policy.ReadOnly, ""},
		{"browser_snapshot", `{}`, policy.ReadOnly, ""},
	} {
		step, err := Named(c.tool).fit(json.RawMessage(c.arguments))
		if err != nil || step.Operation.Name != c.tool || step.Operation.Class != c.class ||
			step.Operation.Category != c.category {
			t.Errorf("%s %s: %+v, %v", c.tool, c.arguments, step.Operation, err)
		}
	}
}
