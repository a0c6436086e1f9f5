package catalog

import (
	"encoding/json"
	"errors"
	"testing"
)

func TestFit(t *testing.T) {
	for _, test := range []struct{ tool, given, want string }{
		{"browser_click", `{"target":"e1"}`, `{"target":"e1"}`},
		{"browser_click", `{"ref":"e1","timeout":5000,"reason":"to buy"}`, `{"target":"e1"}`},
		{"browser_click", `{"selector":"#a","double_click":"true","modifiers":"Shift"}`, `{"doubleClick":true,"modifiers":["Shift"],"target":"#a"}`},
		{"browser_hover", `{"element":"Menu","ref":"e1"}`, `{"target":"e1"}`},
		{"browser_type", `{"ref":"e1","value":"Tea"}`, `{"target":"e1","text":"Tea"}`},
		{"browser_select_option", `{"target":"e1","value":"Tea"}`, `{"target":"e1","values":["Tea"]}`},
		{"browser_drag", `{"startRef":"e1","endRef":"e2"}`, `{"endTarget":"e2","startTarget":"e1"}`},
		{"browser_evaluate", `{"expression":"1"}`, `{"function":"1"}`},
		{"browser_tabs", `{"action":"select","index":"2"}`, `{"action":"select","index":2}`},
		{"browser_tabs", `{"action":"select","index":"NaN"}`, `{"action":"select","index":"NaN"}`},
		{"browser_take_screenshot", `{"full_page":true}`, `{"fullPage":true}`},
		{"browser_fill_form", `{"fields":[{"ref":"e1","type":"textbox","value":"a"}]}`, `{"fields":[{"target":"e1","type":"textbox","value":"a"}]}`},
		{"browser_fill_form", `{"fields":[{"target":"e1","type":"Switch","value":true},{"target":"e2","type":"listbox","value":"a"},{"target":"e3","type":"TEXTBOX","value":""}]}`,
			`{"fields":[{"target":"e1","type":"checkbox","value":"true"},{"target":"e2","type":"combobox","value":"a"},{"target":"e3","type":"textbox","value":""}]}`},
		{"browser_fill_form", `{"fields":[{"target":"e1","value":["a"]}]}`, `{"fields":[{"target":"e1","value":"a"}]}`},
		{"browser_fill_form", `{"fields":[{"target":"e1","value":["a","b"]}]}`, `value: want a string, not a list; browser_select_option takes several`},
		{"browser_click", `{"target":["e1","e2"]}`, `target: want a string, not a list`},
		{"window_list", ``, `{}`},
		{"browser_click", `{"target":"e1","ref":"e2"}`, `browser_click has no parameter "ref": it has button, changes, doubleClick, modifiers, position, tab, target, window`},
		{"browser_click", `{"tarrget":"e1"}`, `browser_click has no parameter "tarrget"; give target. It has button, changes, doubleClick, modifiers, position, tab, target, window`},
		{"browser_click", `{}`, `browser_click needs target`},
		{"window_list", `{"foo":1}`, `window_list has no parameter "foo": it has none`},
		{"browser_click", `"e1"`, `the arguments of browser_click are not an object: "e1"`},
	} {
		got, _, err := Fitted(test.tool, json.RawMessage(test.given))
		if err != nil {
			got = []byte(err.Error())
		}
		if string(got) != test.want {
			t.Errorf("%s %s:\n%s\nwant:\n%s", test.tool, test.given, got, test.want)
		}
	}
}

func TestNearest(t *testing.T) {
	tools := Tools{}
	for name := range schemas() {
		tools[name] = &Tool{}
	}
	for given, want := range map[string]string{
		"click": "browser_click", "browser_screenshot": "browser_take_screenshot", "browser_clik": "browser_click",
		"window_lst": "window_list", "snapshot": "browser_snapshot", "browser_resize": "browser_emulate with viewport WIDTHxHEIGHT", "make_coffee": "",
		"window_select": "the argument window of every tool",
	} {
		message := `there is no tool "` + given + `"`
		if want != "" {
			message += "; there is " + want
		}
		if err := tools.unknown(given, errors.New("unknown tool")); err.Error() != message {
			t.Errorf("%s: %v", given, err)
		}
	}
}
