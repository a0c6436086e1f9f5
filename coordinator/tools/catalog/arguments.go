package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// schema is what the listing has of an object's parameters.
type schema struct {
	Type       string
	Properties map[string]*schema
	Items      *schema
	Required   []string
	// AdditionalProperties: there are parameters that are not listed.
	AdditionalProperties bool
}

// synonyms are names that other servers and models use, and ours for each: the first that
// the tool has.
var synonyms = map[string][]string{
	"ref": {"target"}, "selector": {"target"}, "locator": {"target"}, "uid": {"target"},
	"startRef": {"startTarget"}, "endRef": {"endTarget"}, "from": {"startTarget"}, "to": {"endTarget"}, "sourcePosition": {"startPosition"}, "targetPosition": {"endPosition"}, "target": {"startTarget"},
	"code": {"function", "expression"}, "script": {"function", "expression"}, "expression": {"function"}, "function": {"expression"},
	"value": {"text", "values"}, "option": {"values"}, "text": {"value", "promptText"}, "query": {"text"}, "pattern": {"regex"},
	"file": {"filename", "paths"}, "files": {"paths"}, "path": {"filename", "paths"}, "keys": {"key"},
	"double": {"doubleClick"}, "dblClick": {"doubleClick"}, "seconds": {"time"}, "line_number": {"line"},
	"values": {"value"}, "type": {"action"},
}

// ignored are parameters without which a call does what it says.
var ignored = []string{"description", "reason", "intent", "explanation", "timeout"}

// claims are parameters of Playwright MCP in which an agent describes what it acts on.
// They are not listed: only the user sees them.
var claims = []string{"element", "startElement", "endElement", "name"}

type claimsKey struct{}

// Claims are the agent's own words for what a call acts on.
func Claims(ctx context.Context) []string {
	claims, _ := ctx.Value(claimsKey{}).([]string)
	return claims
}

// Fit is the middleware that brings a call's arguments into the form that the tool takes:
// synonyms, a single value for a list, a number as a string. What is left over is an error
// that names the tool's parameters.
func (t Tools) Fit(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		call, ok := req.GetParams().(*mcp.CallToolParamsRaw)
		if !ok || t[call.Name] == nil {
			result, err := next(ctx, method, req)
			if ok && err != nil {
				err = t.unknown(call.Name, err)
			}
			return result, err
		}
		arguments, claims, err := Fitted(call.Name, call.Arguments)
		if err != nil {
			result := &mcp.CallToolResult{}
			result.SetError(err)
			return result, nil
		}
		call.Arguments = arguments
		return next(context.WithValue(ctx, claimsKey{}, claims), method, req)
	}
}

var schemas = sync.OnceValue(func() map[string]*schema {
	all := make(map[string]*schema)
	for line := range strings.Lines(Listing) {
		name, text, _ := strings.Cut(line, " ")
		var tool struct{ InputSchema *schema }
		if json.Unmarshal([]byte(text), &tool) == nil {
			all[name] = tool.InputSchema
		}
	}
	for _, tool := range []string{"browser_press_key", "browser_wait_for"} { // which is Unlisted there
		all[tool].Properties["target"] = &schema{Type: "string"}
	}
	for _, name := range []string{"startPosition", "endPosition"} {
		all["browser_drag"].Properties[name] = &schema{Type: "object"}
	}
	return all
})

// Fitted is what Fit makes of a call's arguments, and the call's Claims.
func Fitted(tool string, arguments json.RawMessage) (fitted json.RawMessage, claims []string, err error) {
	f := fitter{tool: tool}
	fitted, err = f.fit(schemas()[tool], arguments)
	return fitted, f.claims, err
}

// fitter fits the arguments of one call.
type fitter struct {
	tool   string
	claims []string // see Claims
}

func (f *fitter) fit(s *schema, raw json.RawMessage) (json.RawMessage, error) {
	var given map[string]json.RawMessage
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	if err := json.Unmarshal(raw, &given); err != nil {
		return nil, fmt.Errorf("the arguments of %s are not an object: %s", f.tool, raw)
	}
	f.complete(given)
	fitted := make(map[string]json.RawMessage, len(given))
	as := map[string]string{} // the names that are given, by ours
	for _, name := range slices.Sorted(maps.Keys(given)) {
		ours := s.own(name, given)
		if other := as[ours]; ours != "" && other != "" && !bytes.Equal(given[other], given[name]) {
			return nil, fmt.Errorf("%s: %s and %s mean the same here, and have different values: give one", f.tool, other, name)
		}
		as[ours] = name
		switch {
		case s.AdditionalProperties && s.Properties[name] == nil:
			fitted[name] = given[name]
		case ours == "value" && f.tool == "browser_fill_form" && isList(given[name]):
			several, err := f.fitValue(&schema{Type: "array", Items: &schema{Type: "string"}}, given[name])
			if err != nil {
				return nil, err
			}
			fitted["value"], fitted["values"] = json.RawMessage(`""`), several
		case ours != "":
			value, err := f.single(s.Properties[ours], ours, given[name])
			if err == nil {
				value, err = f.fitValue(s.Properties[ours], value)
			}
			if err != nil {
				return nil, err
			}
			fitted[ours] = inOurWords(f.tool+" "+ours, value)
		case name == "timeout" && s.Properties["time"] != nil: // Playwright's, in milliseconds
			var ms float64
			if json.Unmarshal(bytes.Trim(given[name], `"`), &ms) != nil {
				return nil, fmt.Errorf("timeout: want milliseconds, not %s", given[name])
			}
			if ms > 0 && ms < 100 { // no one waits for so few: they are seconds
				ms *= 1000
			}
			if fitted["time"] == nil {
				fitted["time"] = json.RawMessage(strconv.FormatFloat(ms/1000, 'f', -1, 64))
			}
		case f.tool == "browser_handle_dialog" && answers(name, given[name]) != "": // Selenium's and others'
			fitted["accept"] = json.RawMessage(answers(name, given[name]))
		case slices.Contains(claims, name):
			var claim string
			if json.Unmarshal(given[name], &claim) == nil && claim != "" {
				f.claims = append(f.claims, claim)
			}
		case !slices.Contains(ignored, name):
			return nil, s.noParameter(f.tool, name)
		}
	}
	for _, name := range s.Required {
		if _, ok := fitted[name]; !ok {
			return nil, fmt.Errorf("%s needs %s", f.tool, name)
		}
	}
	return json.Marshal(fitted)
}

// own is the tool's name for a given parameter, if possible one that is not given too; empty
// if it has none.
func (s *schema) own(name string, given map[string]json.RawMessage) (own string) {
	if s.Properties[name] != nil {
		return name
	}
	for _, ours := range append(synonyms[name], camel(name)) {
		if s.Properties[ours] != nil && (own == "" || given[own] != nil) {
			own = ours
		}
	}
	return own
}

func (s *schema) noParameter(tool, name string) error {
	ours := slices.Sorted(maps.Keys(s.Properties))
	if len(ours) == 0 {
		return fmt.Errorf("%s has no parameter %q: it has none", tool, name)
	}
	if near := nearest(name, ours); near != "" {
		return fmt.Errorf("%s has no parameter %q; give %s. It has %s", tool, name, near, strings.Join(ours, ", "))
	}
	return fmt.Errorf("%s has no parameter %q: it has %s", tool, name, strings.Join(ours, ", "))
}

// single takes the only member of a list that is given for a text.
func (f *fitter) single(s *schema, name string, value json.RawMessage) (json.RawMessage, error) {
	var list []json.RawMessage
	if name == "body" && len(value) > 0 && (value[0] == '{' || value[0] == '[') { // of a request
		return json.Marshal(string(value))
	}
	if s.Type != "string" || json.Unmarshal(value, &list) != nil || list == nil {
		return value, nil
	}
	if len(list) == 1 {
		return list[0], nil
	}
	return nil, errors.New(name + ": want a string, not a list")
}

// isList reports whether a value is a list of several texts, or of none.
func isList(value json.RawMessage) bool {
	var list []json.RawMessage
	return json.Unmarshal(value, &list) == nil && list != nil && len(list) != 1
}

// answers is whether a parameter that the tool does not have accepts a dialog; empty:
// it does not decide that.
func answers(name string, value json.RawMessage) string {
	switch strings.ToLower(name + " " + string(bytes.Trim(value, `"`))) {
	case "action accept", "action ok", "action confirm", "dismiss false":
		return "true"
	case "action dismiss", "action cancel", "action reject", "dismiss true":
		return "false"
	}
	return ""
}

// fitValue turns a single value into a list, and a string into the number or the boolean
// that it is.
func (f *fitter) fitValue(s *schema, value json.RawMessage) (json.RawMessage, error) {
	var text string
	isText := json.Unmarshal(value, &text) == nil
	switch s.Type {
	case "array":
		var list []json.RawMessage
		if json.Unmarshal(value, &list) != nil && json.Unmarshal([]byte(text), &list) != nil {
			list = []json.RawMessage{value}
		}
		if s.Items == nil {
			return json.Marshal(list)
		}
		fit := f.fitValue
		if len(s.Items.Properties) > 0 {
			fit = f.fit
		}
		for i, item := range list {
			fitted, err := fit(s.Items, item)
			if err != nil {
				return nil, err
			}
			list[i] = fitted
		}
		return json.Marshal(list)
	case "integer", "number":
		if _, err := strconv.ParseFloat(text, 64); isText && err == nil && json.Valid([]byte(text)) { // not NaN
			return json.RawMessage(text), nil
		}
	case "string":
		if text := oneText(value); text != nil {
			return text, nil
		}
		if !isText && len(value) > 0 && !strings.ContainsRune("{[n", rune(value[0])) { // a number or a boolean
			return json.Marshal(string(value))
		}
	case "object":
		if isText && strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
			return json.RawMessage(text), nil
		}
	case "boolean":
		if isText && (text == "true" || text == "false") {
			return json.RawMessage(text), nil
		}
	}
	return value, nil
}

// camel is a name in the tools' spelling: full_page is fullPage.
func camel(name string) string {
	parts := strings.FieldsFunc(name, func(c rune) bool { return c == '_' || c == '-' })
	for i, part := range parts[min(1, len(parts)):] {
		parts[i+1] = strings.ToUpper(part[:1]) + part[1:]
	}
	return strings.Join(parts, "")
}
