package access

import (
	"encoding/json"
	"regexp"
	"strings"

	"browser-coordinator/cdpproxy"
)

// conditions are the parameters with which a command reads that acts otherwise.
// Each says no where it is not sure.
var conditions = map[string]func(params json.RawMessage) bool{
	"checked":   isChecked,
	"empty":     isEmpty,
	"unchanged": isUnchanged,
	"off":       isOff,
}

// isChecked: V8 stops the code at its first side effect, or the code is known.
//
// The check ends when the code has returned. A promise that is resolved with an
// object that has a "then" calls that afterwards, unchecked, so nothing here may
// make or await one. What stays open: a page's own async function that gives back
// what it was given.
func isChecked(params json.RawMessage) bool {
	var code string
	var pieces int
	var checked, awaits bool
	err := cdpproxy.Members(params, func(key string, value []byte) error {
		switch key {
		case "expression", "functionDeclaration":
			pieces++
			return json.Unmarshal(value, &code)
		case "throwOnSideEffect":
			checked = string(value) == "true"
		case "awaitPromise", "replMode":
			awaits = awaits || string(value) != "false"
		}
		return nil
	})
	if err != nil || pieces != 1 {
		return false // with both, one of them only hides the other
	}
	return isKnown(code) || checked && !awaits && !strings.Contains(code, "async")
}

// isKnown: code that clients send for looking, letter for letter.
func isKnown(code string) bool {
	code = sourceURL.ReplaceAllString(code, "")
	switch strings.Join(strings.Fields(code), " ") {
	case "document.title", "document.location.toString()", "location.href", // chromedp
		"() => { return document.title; }": // Puppeteer
		return true
	}
	return false
}

// sourceURL names code for debuggers; it stands in a line of its own.
var sourceURL = regexp.MustCompile(`\n//# sourceURL=[^\r\n\x{2028}\x{2029}]*\n?$`)

// isEmpty: no code, or nothing but its name.
func isEmpty(params json.RawMessage) bool {
	source, ok := stringMember(params, "source")
	return ok && strings.TrimSpace(sourceURL.ReplaceAllString("\n"+source, "")) == ""
}

// isUnchanged: nothing but the request's id.
func isUnchanged(params json.RawMessage) bool {
	only := true
	err := cdpproxy.Members(params, func(key string, _ []byte) error {
		only = only && key == "requestId"
		return nil
	})
	return err == nil && only
}

// isOff: {"enabled": false} and nothing that could mean more.
func isOff(params json.RawMessage) bool {
	off := false
	err := cdpproxy.Members(params, func(key string, value []byte) error {
		if key == "enabled" {
			off = string(value) == "false"
		}
		return nil
	})
	return err == nil && off
}

// stringMember is a member of an object that is a string.
func stringMember(object json.RawMessage, name string) (string, bool) {
	var s string
	found := false
	err := cdpproxy.Members(object, func(key string, value []byte) error {
		if key != name {
			return nil
		}
		found = true
		return json.Unmarshal(value, &s)
	})
	return s, err == nil && found
}
