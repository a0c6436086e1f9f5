package catalog

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/agnivade/levenshtein"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// schema is what the listing tells of an object's parameters.
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
	"startRef": {"startTarget"}, "endRef": {"endTarget"}, "from": {"startTarget"}, "to": {"endTarget"}, "target": {"startTarget"},
	"code": {"function", "expression"}, "script": {"function", "expression"}, "expression": {"function"}, "function": {"expression"},
	"value": {"text", "values"}, "option": {"values"}, "text": {"value"}, "query": {"text"}, "pattern": {"regex"},
	"file": {"filename", "paths"}, "files": {"paths"}, "path": {"filename", "paths"}, "keys": {"key"},
	"double": {"doubleClick"}, "dblClick": {"doubleClick"}, "seconds": {"time"}, "line_number": {"line"},
}

// fieldTypes are the roles of a snapshot and the types of HTML, and the type of a form's
// field that each is filled as.
var fieldTypes = map[string]string{
	"text": "textbox", "searchbox": "textbox", "search": "textbox", "spinbutton": "textbox", "number": "textbox",
	"textarea": "textbox", "password": "textbox", "email": "textbox", "tel": "textbox", "url": "textbox",
	"date": "textbox", "time": "textbox", "datetime-local": "textbox", "month": "textbox", "week": "textbox", "color": "textbox",
	"switch": "checkbox", "menuitemcheckbox": "checkbox", "menuitemradio": "radio",
	"select": "combobox", "listbox": "combobox", "range": "slider",
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

// unknown suggests a tool for the name of one that the server does not have.
func (t Tools) unknown(name string, err error) error {
	if !strings.Contains(err.Error(), "unknown tool") {
		return err
	}
	message := fmt.Sprintf("there is no tool %q", name)
	if ours := elsewhere[name]; ours != "" {
		message += "; there is " + ours
	} else if near := nearest(name, slices.Collect(maps.Keys(t))); near != "" {
		message += fmt.Sprintf("; there is %s", near)
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: message}
}

// elsewhere are tools that other versions and servers have, and for which another tool of ours has a parameter.
var elsewhere = map[string]string{
	"browser_navigate_back":    "browser_navigate with action back",
	"browser_navigate_forward": "browser_navigate with action forward",
	"browser_resize":           "browser_emulate with viewport WIDTHxHEIGHT",
	"browser_emulate_media":    "browser_emulate",
	"window_select":            "the argument window of every tool",
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
	fitted := make(map[string]json.RawMessage, len(given))
	for _, name := range slices.Sorted(maps.Keys(given)) {
		ours := s.own(name, given)
		switch {
		case s.AdditionalProperties && s.Properties[name] == nil:
			fitted[name] = given[name]
		case ours != "":
			value, err := f.single(s.Properties[ours], ours, given[name])
			if err == nil {
				value, err = f.fitValue(s.Properties[ours], value)
			}
			if err != nil {
				return nil, err
			}
			if f.tool == "browser_fill_form" && ours == "type" {
				value = fieldType(value)
			}
			fitted[ours] = value
		case name == "timeout" && s.Properties["time"] != nil: // Playwright's, in milliseconds
			var ms float64
			if json.Unmarshal(bytes.Trim(given[name], `"`), &ms) != nil {
				return nil, fmt.Errorf("timeout: want milliseconds, not %s", given[name])
			}
			if fitted["time"] == nil {
				fitted["time"] = json.RawMessage(strconv.FormatFloat(ms/1000, 'f', -1, 64))
			}
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

// own is the tool's name for a given parameter; empty if it has none.
func (s *schema) own(name string, given map[string]json.RawMessage) string {
	if s.Properties[name] != nil {
		return name
	}
	for _, ours := range append(synonyms[name], camel(name)) {
		if _, twice := given[ours]; s.Properties[ours] != nil && !twice {
			return ours
		}
	}
	return ""
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
	if s.Type != "string" || json.Unmarshal(value, &list) != nil || list == nil {
		return value, nil
	}
	if len(list) == 1 {
		return list[0], nil
	}
	message := name + ": want a string, not a list"
	if f.tool == "browser_fill_form" && name == "value" {
		message += "; browser_select_option takes several"
	}
	return nil, errors.New(message)
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
		if s.Items == nil || len(s.Items.Properties) == 0 {
			return json.Marshal(list)
		}
		for i, item := range list {
			fitted, err := f.fit(s.Items, item)
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
		if !isText && len(value) > 0 && !strings.ContainsRune("{[n", rune(value[0])) { // a number or a boolean
			return json.Marshal(string(value))
		}
	case "boolean":
		if isText && (text == "true" || text == "false") {
			return json.RawMessage(text), nil
		}
	}
	return value, nil
}

// fieldType is the tool's name for the type of a form's field.
func fieldType(value json.RawMessage) json.RawMessage {
	var text string
	if json.Unmarshal(value, &text) != nil {
		return value
	}
	text = strings.ToLower(text)
	ours, _ := json.Marshal(cmp.Or(fieldTypes[text], text)) // a string is always JSON
	return ours
}

// camel is a name in the tools' spelling: full_page is fullPage.
func camel(name string) string {
	parts := strings.FieldsFunc(name, func(c rune) bool { return c == '_' || c == '-' })
	for i, part := range parts[min(1, len(parts)):] {
		parts[i+1] = strings.ToUpper(part[:1]) + part[1:]
	}
	return strings.Join(parts, "")
}

// nearest is the name that is most likely meant; empty if none is near. A tool's name may
// lack its prefix.
func nearest(name string, names []string) string {
	slices.Sort(names)
	word := unprefixed(name)
	best, distance := "", max(2, len(name)/3)+1
	var containing []string
	for _, each := range names {
		if d := min(levenshtein.ComputeDistance(name, each), levenshtein.ComputeDistance(word, unprefixed(each))); d < distance {
			best, distance = each, d
		}
		if strings.Contains(each, word) {
			containing = append(containing, each)
		}
	}
	if distance > 1 && len(containing) == 1 {
		return containing[0]
	}
	return best
}

func unprefixed(name string) string { return name[strings.IndexByte(name, '_')+1:] }
