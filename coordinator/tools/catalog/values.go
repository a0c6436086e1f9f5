package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// words are other words for the values of a tool's parameter, in lower case.
var words = map[string]map[string]string{
	// The roles of a snapshot and the types of HTML, and the type that each is filled as.
	"browser_fill_form type": {
		"text": "textbox", "searchbox": "textbox", "search": "textbox", "spinbutton": "textbox", "number": "textbox",
		"textarea": "textbox", "password": "textbox", "email": "textbox", "tel": "textbox", "url": "textbox",
		"date": "textbox", "time": "textbox", "datetime-local": "textbox", "month": "textbox", "week": "textbox", "color": "textbox",
		"switch": "checkbox", "menuitemcheckbox": "checkbox", "menuitemradio": "radio",
		"select": "combobox", "listbox": "combobox", "range": "slider",
	},
	"browser_console_messages level": {"warn": "warning", "warnings": "warning", "errors": "error", "log": "info", "all": "debug", "verbose": "debug"},
	"browser_emulate network":        {"slow-3g": "slow 3g", "fast-3g": "fast 3g", "slow-4g": "slow 4g", "fast-4g": "fast 4g", "3g": "slow 3g", "4g": "fast 4g", "online": "none", "no throttling": "none"},
	"browser_tabs action":            {"open": "new", "create": "new", "switch": "select", "activate": "select"},
	"browser_navigate action":        {"refresh": "reload", "goback": "back", "go_back": "back", "goforward": "forward", "go_forward": "forward", "url": "", "goto": ""},
}

// inOurWords is a value in the tool's own words.
func inOurWords(parameter string, value json.RawMessage) json.RawMessage {
	var text string
	others, known := words[parameter]
	if !known || json.Unmarshal(value, &text) != nil {
		return value
	}
	text = strings.ToLower(text)
	if ours, other := others[text]; other {
		text = ours
	}
	ours, _ := json.Marshal(text) // a string is always JSON
	return ours
}

// complete adds to a call what its other arguments imply.
func (f *fitter) complete(given map[string]json.RawMessage) {
	has := func(name string) bool { return given[name] != nil }
	switch {
	case f.tool == "browser_emulate" && has("width") && has("height") && !has("viewport"):
		given["viewport"], _ = json.Marshal(map[string]json.RawMessage{"width": given["width"], "height": given["height"]})
		delete(given, "width")
		delete(given, "height")
	case f.tool == "browser_tabs" && !has("action") && has("url"):
		given["action"] = json.RawMessage(`"new"`)
	case f.tool == "browser_tabs" && !has("action") && !has("index"):
		given["action"] = json.RawMessage(`"list"`)
	case f.tool == "browser_console_messages" && has("onlyErrors"):
		if on := string(bytes.Trim(given["onlyErrors"], `"`)); on == "true" && !has("level") {
			given["level"] = json.RawMessage(`"error"`)
		}
		delete(given, "onlyErrors")
	case f.tool == "browser_handle_dialog" && !has("accept") && !has("action") && !has("dismiss") && has("promptText"):
		given["accept"] = json.RawMessage("true")
	}
}

// oneText is the text that stands for a size or a place; nil for what is neither.
func oneText(value json.RawMessage) json.RawMessage {
	var of struct{ Width, Height, Latitude, Longitude *float64 }
	if len(value) == 0 || value[0] != '{' || json.Unmarshal(value, &of) != nil {
		return nil
	}
	switch {
	case of.Width != nil && of.Height != nil:
		return fmt.Appendf(nil, `"%gx%g"`, *of.Width, *of.Height)
	case of.Latitude != nil && of.Longitude != nil:
		return fmt.Appendf(nil, `"%v,%v"`, *of.Latitude, *of.Longitude)
	}
	return nil
}
