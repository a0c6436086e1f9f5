package catalog

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/agnivade/levenshtein"
)

// synonyms are names of parameters in other versions of Playwright MCP, and what models write
// for them. Ours is the first that the tool has.
var synonyms = map[string][]string{
	"ref": {"target"}, "selector": {"target"}, "startRef": {"startTarget"}, "endRef": {"endTarget"},
	"sourcePosition": {"startPosition"}, "targetPosition": {"endPosition"},
	"value": {"text", "values"}, "text": {"values"}, "values": {"value"},
}

// ignored is a parameter of Playwright without which a call does what it says.
const ignored = "timeout"

// descriptions are parameters of Playwright MCP in which an agent describes what it acts on.
// They are not listed: only the user sees them.
var descriptions = []string{"element", "startElement", "endElement", "name"}

// Fit brings the arguments of a tool's call into the form that the tool takes: synonyms, a single value
// for a list, a number as a string. What is left over, missing or of another type is an error
// that names the parameter. It returns also the agent's own words for what the call acts on.
func (p *Parameter) Fit(
	tool string, arguments json.RawMessage,
) (fitted json.RawMessage, descriptions []string, err error) {
	f := fitter{tool: tool}
	fitted, err = f.object(p, arguments)
	return fitted, f.descriptions, err
}

// fitter fits the arguments of one call.
type fitter struct {
	tool         string
	descriptions []string
}

// object fits an object whose members are known.
func (f *fitter) object(p *Parameter, raw json.RawMessage) (json.RawMessage, error) {
	var given map[string]json.RawMessage
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	if err := json.Unmarshal(raw, &given); err != nil {
		if p.Name == "" {
			return nil, fmt.Errorf("the arguments of %s are not an object: %s", f.tool, raw)
		}
		return nil, fmt.Errorf("%s: want an object, not %s", p.Name, raw)
	}
	where := cmp.Or(p.Name, f.tool)
	fitted := make(map[string]json.RawMessage, len(given))
	as := map[string]string{} // the names that are given, by ours
	for _, name := range slices.Sorted(maps.Keys(given)) {
		own := p.resolve(name, given)
		if own == nil {
			if err := f.addUnknown(p, where, name, given[name], fitted); err != nil {
				return nil, err
			}
			continue
		}
		if other := as[own.Name]; other != "" && !bytes.Equal(given[other], given[name]) {
			return nil, fmt.Errorf("%s: %s and %s mean the same here, and have different values: give one", where,
				other, name)
		}
		as[own.Name] = name
		value, err := f.value(own, given[name])
		if err != nil {
			return nil, err
		}
		if value != nil {
			fitted[own.Name] = value
		}
	}
	for _, m := range p.Members {
		if _, ok := fitted[m.Name]; m.Required && !ok {
			return nil, fmt.Errorf("%s needs %s%s", where, m.Name, m.explained())
		}
	}
	return json.Marshal(fitted)
}

// addUnknown takes an argument that is none of the parameters. where names what has them.
func (f *fitter) addUnknown(
	p *Parameter, where, name string, value json.RawMessage, fitted map[string]json.RawMessage,
) error {
	switch {
	case p.Open:
		fitted[name] = value
	case name == ignored && p.Member("time") != nil:
		return fmt.Errorf("%s has no parameter %q; give time, in seconds", where, name)
	case slices.Contains(descriptions, name):
		var description string
		if json.Unmarshal(value, &description) == nil && description != "" {
			f.descriptions = append(f.descriptions, description)
		}
	case name != ignored:
		return p.noMember(where, name)
	}
	return nil
}

// resolve is the parameter for a given name, if possible one whose name is not given too; nil:
// none.
func (p *Parameter) resolve(name string, given map[string]json.RawMessage) (resolve *Parameter) {
	if exact := p.Member(name); exact != nil || p.Open {
		return exact
	}
	for _, ours := range synonyms[name] {
		if m := p.Member(ours); m != nil && (resolve == nil || given[resolve.Name] != nil) {
			resolve = m
		}
	}
	return resolve
}

func (p *Parameter) noMember(where, name string) error {
	var ours []string
	for _, m := range p.Members {
		ours = append(ours, m.Name)
	}
	slices.Sort(ours)
	if len(ours) == 0 {
		return fmt.Errorf("%s has no parameter %q: it has none", where, name)
	}
	if near := Nearest(name, ours); near != "" {
		return fmt.Errorf("%s has no parameter %q; give %s. It has %s", where, name, near, strings.Join(ours, ", "))
	}
	return fmt.Errorf("%s has no parameter %q: it has %s", where, name, strings.Join(ours, ", "))
}

// explained is what an error adds about a parameter.
func (p *Parameter) explained() string {
	if p.Description == "" {
		return ""
	}
	return " (" + p.Description + ")"
}

// value fits the value of a parameter: a single value becomes a list, the only member of a
// list a value, and a string the number or the boolean that it is. It is nil for a null, as if
// the parameter was not given.
func (f *fitter) value(p *Parameter, value json.RawMessage) (json.RawMessage, error) {
	if string(value) == "null" {
		return nil, nil
	}
	var text string
	var list []json.RawMessage
	isText, isList := json.Unmarshal(value, &text) == nil, json.Unmarshal(value, &list) == nil
	if p.Is(Encoded) && !isText {
		return json.Marshal(string(value))
	}
	if isList && p.Type != "array" && p.Type != "object" && len(list) == 1 {
		return f.value(p, list[0])
	}
	switch p.Type {
	case "array":
		if !isList && json.Unmarshal([]byte(text), &list) != nil {
			list = []json.RawMessage{value}
		}
		return f.items(p.Items, list)
	case "object":
		if isText && json.Valid([]byte(text)) {
			value = json.RawMessage(text)
		}
		if len(p.Members) > 0 {
			return f.object(p, value)
		}
		if bytes.HasPrefix(value, []byte("{")) {
			return value, nil
		}
	case "integer", "number":
		number := value
		if isText {
			number = json.RawMessage(text)
		}
		_, err := strconv.ParseFloat(string(number), 64)
		// not NaN
		if _, whole := strconv.ParseInt(string(number), 10, 64); err == nil && json.Valid(number) &&
			(whole == nil || p.Type == "number") {
			return number, nil
		}
	case "boolean":
		if bare := cmp.Or(text, string(value)); bare == "true" || bare == "false" {
			return json.RawMessage(bare), nil
		}
	case "string":
		switch {
		case isList && p.Is(Multiple):
			return f.items(&Parameter{Name: p.Name, Type: "string"}, list)
		case isText && len(p.Values) > 0 && !slices.Contains(p.Values, text) && (p.Required || text != ""):
			return nil, fmt.Errorf("%s %q: want one of %s", p.Name, text, strings.Join(p.Values, ", "))
		case isText:
			return value, nil
		case !isList && !bytes.HasPrefix(value, []byte("{")): // a number or a boolean
			return json.Marshal(string(value))
		}
	}
	article := "a"
	if strings.Contains("aio", p.Type[:1]) {
		article = "an"
	}
	return nil, fmt.Errorf("%s: want %s %s%s, not %s", p.Name, article, p.Type, p.explained(), value)
}

// items fits the elements of a list.
func (f *fitter) items(p *Parameter, list []json.RawMessage) (json.RawMessage, error) {
	fitted := make([]json.RawMessage, 0, len(list))
	for i, item := range list {
		each := *p
		if p.Type == "object" {
			each.Name = fmt.Sprintf("%s %d", p.Name, i+1)
		}
		value, err := f.value(&each, item)
		if err != nil {
			return nil, err
		}
		if value != nil {
			fitted = append(fitted, value)
		}
	}
	return json.Marshal(fitted)
}

// Nearest is the name that is most likely meant; empty if none is near. A tool's name may
// lack its prefix, and a prefix makes no two names more alike.
func Nearest(name string, names []string) string {
	slices.Sort(names)
	word := Unprefixed(name)
	best, distance := "", max(1, (len(word)+1)/3)+1
	var containing []string
	for _, each := range names {
		if d := min(levenshtein.ComputeDistance(name, each),
			levenshtein.ComputeDistance(word, Unprefixed(each))); d < distance {
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

// Unprefixed is a tool's name without its prefix.
func Unprefixed(name string) string { return name[strings.IndexByte(name, '_')+1:] }
