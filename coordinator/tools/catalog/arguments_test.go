package catalog

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
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
		{"browser_fill_form", `{"fields":[{"target":"e1","value":["a",2]}]}`, `{"fields":[{"target":"e1","value":"","values":["a","2"]}]}`},
		{"browser_fill_form", `{"fields":[{"target":"e1","values":["a","b"]}]}`, `{"fields":[{"target":"e1","value":"","values":["a","b"]}]}`},
		{"browser_fill_form", `{"fields":[{"target":"e1","value":[]}]}`, `{"fields":[{"target":"e1","value":"","values":[]}]}`},
		{"browser_select_option", `{"target":"e1","values":[1,true]}`, `{"target":"e1","values":["1","true"]}`},
		{"browser_handle_dialog", `{"action":"accept"}`, `{"accept":true}`},
		{"browser_handle_dialog", `{"action":"Dismiss"}`, `{"accept":false}`},
		{"browser_handle_dialog", `{"dismiss":true}`, `{"accept":false}`},
		{"browser_handle_dialog", `{"promptText":"a"}`, `{"accept":true,"promptText":"a"}`},
		{"browser_handle_dialog", `{"accept":true,"text":"a"}`, `{"accept":true,"promptText":"a"}`},
		{"browser_wait_for", `{"text":"Tea","timeout":5000}`, `{"text":"Tea","time":5}`},
		{"browser_wait_for", `{"text":"Tea","timeout":2}`, `{"text":"Tea","time":2}`},
		{"browser_tabs", `{}`, `{"action":"list"}`},
		{"browser_tabs", `{"url":"/a"}`, `{"action":"new","url":"/a"}`},
		{"browser_tabs", `{"index":1}`, `browser_tabs needs action`},
		{"browser_tabs", `{"action":"switch","index":1}`, `{"action":"select","index":1}`},
		{"browser_emulate", `{"viewport":{"width":390,"height":844},"geolocation":{"latitude":52.5,"longitude":13.4}}`, `{"geolocation":"52.5,13.4","viewport":"390x844"}`},
		{"browser_emulate", `{"width":390,"height":844,"network":"Slow-3G"}`, `{"network":"slow 3g","viewport":"390x844"}`},
		{"browser_emulate", `{"viewport":{"wide":true}}`, `{"viewport":{"wide":true}}`},
		{"browser_fetch", `{"url":"/","body":{"a":[1]}}`, `{"body":"{\"a\":[1]}","url":"/"}`},
		{"browser_fetch", `{"url":"/","body":[]}`, `{"body":"[]","url":"/"}`},
		{"browser_console_messages", `{"level":"WARN"}`, `{"level":"warning"}`},
		{"browser_press_key", `{"key":"Enter","ref":"e1"}`, `{"key":"Enter","target":"e1"}`},
		{"browser_wait_for", `{"selector":"#a"}`, `{"target":"#a"}`},
		{"browser_handle_dialog", `{"action":"look"}`, `browser_handle_dialog has no parameter "action": it has accept, promptText, tab, time, window`},
		{"browser_click", `{"target":["e1","e2"]}`, `target: want a string, not a list`},
		{"window_list", ``, `{}`},
		{"browser_click", `{"target":"e1","ref":"e1"}`, `{"target":"e1"}`},
		{"browser_click", `{"target":"e1","ref":"e2"}`, `browser_click: ref and target mean the same here, and have different values: give one`},
		{"browser_click", `{"selector":"#a","ref":"e2"}`, `browser_click: ref and selector mean the same here, and have different values: give one`},
		{"browser_fill_form", `{"fields":[{"target":"e1","ref":"e1","value":"a"}]}`, `{"fields":[{"target":"e1","value":"a"}]}`},
		{"browser_drag", `{"from":"e1","target":"e2"}`, `browser_drag: from and target mean the same here, and have different values: give one`},
		{"browser_navigate", `{"type":"back"}`, `{"action":"back"}`},
		{"browser_navigate", `{"type":"url","url":"/a"}`, `{"action":"","url":"/a"}`},
		{"browser_console_messages", `{"onlyErrors":true}`, `{"level":"error"}`},
		{"browser_console_messages", `{"onlyErrors":"false"}`, `{}`},
		{"browser_hover", `{"ref":"e1","position":{"x":1,"y":2}}`, `{"position":{"x":1,"y":2},"target":"e1"}`},
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
		tools[name] = &mcp.Tool{}
	}
	for given, want := range map[string]string{
		"click": "browser_click", "browser_clik": "browser_click", "window_lst": "window_list", "snapshot": "browser_snapshot", "take_snapshot": "browser_snapshot",
		"browser_closed": "", "browser_bark": "", "browser_zoom": "", "make_coffee": "",
		"browser_resize": "browser_emulate with viewport WIDTHxHEIGHT", "window_select": "the argument window of every tool",
		"browser_close": "browser_tabs with action close", "browserClose": "browser_tabs with action close", "browser_tab_list": "browser_tabs with action list",
		"browser_tab_new": "browser_tabs with action new and url", "browser_back": "browser_navigate with action back", "browser-reload": "browser_navigate with action reload",
		"browser_screenshot": "browser_take_screenshot", "browser_wait": "browser_wait_for with time", "browser_get_text": "browser_markdown, of one element with target",
		"browser_scroll": elsewhere()["scroll"], "puppeteer_evaluate": "browser_evaluate",
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

// Each name of another server's tool has one meaning, which begins with a tool of ours. A
// tool that is off is named as such.
func TestToolsOfOthers(t *testing.T) {
	named := 0
	for ours, names := range does {
		named += len(strings.Fields(names))
		tool, _, _ := strings.Cut(strings.ReplaceAll(ours, ",", ""), " ")
		if schemas()[tool] == nil && !strings.HasPrefix(ours, "the argument ") {
			t.Errorf("there is no %s", tool)
		}
		for name := range strings.FieldsSeq(names) {
			if bare(name) != name {
				t.Errorf("%s: no call comes to it", name)
			}
		}
	}
	if named != len(elsewhere()) {
		t.Errorf("%d names have two meanings", named-len(elsewhere()))
	}
	if err := (Tools{}).unknown("browser_pdf_save", errors.New("unknown tool")); err.Error() != `there is no tool "browser_pdf_save" here: the user can add it with --caps` {
		t.Error(err)
	}
}
