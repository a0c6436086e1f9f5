package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonFormat is JSON, with comments and trailing commas. Only members are added to the
// syntax tree and removed from it; it keeps the rest of the text as it is.
type jsonFormat struct{}

func (jsonFormat) parse(text string) (map[string]any, error) {
	value, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	value.Standardize()
	decoder := json.NewDecoder(bytes.NewReader(value.Pack()))
	decoder.UseNumber()
	var tree map[string]any
	if err := decoder.Decode(&tree); err != nil || tree == nil {
		return nil, errors.New("it does not contain an object, {…}")
	}
	return tree, nil
}

// unsupported is what a text has that the host does not read; empty: nothing.
func (h Host) unsupported(text string) string {
	if h.format != (jsonFormat{}) || h.comments && h.commas {
		return ""
	}
	value, err := parseJSON(text)
	if err != nil {
		return ""
	}
	commas := false
	for v := range value.All() {
		switch v := v.Value.(type) {
		case *hujson.Object:
			commas = commas || hasTrailingComma(v)
		case *hujson.Array:
			commas = commas || len(v.Elements) > 0 && v.Elements[len(v.Elements)-1].AfterExtra != nil
		}
	}
	switch {
	case commas && !h.commas:
		return "trailing commas"
	case !commas && !h.comments && !value.IsStandard():
		return "comments"
	}
	return ""
}

// parseJSON parses a text. A comment in its last line may have no line end, and comments
// alone are those of an empty object.
func parseJSON(text string) (hujson.Value, error) {
	end := lineEnd(text)
	value, err := hujson.Parse([]byte(text))
	if err == nil {
		return value, nil
	}
	if ended, err := hujson.Parse([]byte(text + end)); err == nil {
		return ended, nil
	}
	comments := strings.TrimRight(text, space)
	if comments != "" {
		comments += end
	}
	if empty, err := hujson.Parse([]byte(comments + "{}" + end)); err == nil {
		return empty, nil
	}
	return value, fmt.Errorf("it is not valid JSON: %s", strings.TrimPrefix(err.Error(), "hujson: "))
}

func (jsonFormat) set(text string, path []string, value any) string {
	root, l, found := walk(text, path[:len(path)-1])
	o, missing := found[len(found)-1], path[len(found)-1:]
	for _, name := range slices.Backward(missing[1:]) {
		value = []member{{name, value}}
	}
	if i := index(o, missing[0]); i >= 0 {
		if indent, onOwnLine := indentOf(o.Members[i]); onOwnLine {
			l.indent = indent
		}
		o.Members[i].Value.Value = hujson.Literal(l.write(value))
	} else {
		l.insert(o, member{missing[0], value})
	}
	return string(root.Pack())
}

func (jsonFormat) remove(text string, path []string) string {
	root, _, found := walk(text, path[:len(path)-1])
	last := found[len(found)-1]
	i := index(last, path[len(path)-1])
	if len(found) < len(path) || i < 0 {
		return text
	}
	// Comments before the member stay.
	comments := hujson.Extra(strings.TrimRight(string(last.Members[i].Name.BeforeExtra), space))
	trailingComma := hasTrailingComma(last)
	last.Members = slices.Delete(last.Members, i, i+1)
	switch {
	case i < len(last.Members):
		last.Members[i].Name.BeforeExtra = append(comments, last.Members[i].Name.BeforeExtra...)
	case i > 0 && !trailingComma: // the member before it is the last one now
		comments = append(last.Members[i-1].Value.AfterExtra, comments...)
		last.Members[i-1].Value.AfterExtra = nil
	case i > 0:
		last.Members[i-1].Value.AfterExtra = append(hujson.Extra{}, last.Members[i-1].Value.AfterExtra...)
	}
	if i == len(last.Members) {
		last.AfterExtra = append(comments, last.AfterExtra...)
	}
	if len(last.Members) == 0 && strings.Trim(string(last.AfterExtra), space) == "" {
		last.AfterExtra = nil
	}
	return string(root.Pack())
}

func (jsonFormat) hide(text string, entries paths) string {
	root, err := parseJSON(text)
	if err != nil || strings.Trim(text, space) == "" { // no error: the text has been parsed before
		return ""
	}
	hideJSON(&root, nil, entries)
	return string(root.Pack())
}

func hideJSON(v *hujson.Value, path []string, entries paths) {
	_, shown := entries.shown(path)
	hideComments(&v.BeforeExtra, &v.AfterExtra)
	switch value := v.Value.(type) {
	case hujson.Literal:
		switch kind := value.Kind(); {
		case kind == '"' && shown:
			v.Value = hujson.Literal(quote(maskWord(value.String())))
		case kind == '"' || kind == '0' && !shown:
			v.Value = hujson.Literal(quote(mask))
		}
	case *hujson.Array:
		for i := range value.Elements {
			hideJSON(&value.Elements[i], append(path, ""), entries)
		}
		hideComments(&value.AfterExtra)
	case *hujson.Object:
		for i := range value.Members {
			m := &value.Members[i]
			hideComments(&m.Name.BeforeExtra, &m.Name.AfterExtra)
			name, _ := m.Name.Value.(hujson.Literal)
			hideJSON(&m.Value, append(path, name.String()), entries)
		}
		hideComments(&value.AfterExtra)
	}
}

var comment = regexp.MustCompile(`//[^\r\n]*|(?s:/\*.*?\*/)`)

// hideComments replaces the text of comments. One without any stays nil, which means that
// there is no trailing comma.
func hideComments(extras ...*hujson.Extra) {
	for _, extra := range extras {
		if comment.Match(*extra) {
			*extra = comment.ReplaceAllFunc(*extra, func(c []byte) []byte {
				if c[1] == '/' {
					return []byte("// " + mask)
				}
				return []byte("/* " + mask + " */")
			})
		}
	}
}

// space are the characters between values.
const space = " \t\r\n"

func index(o *hujson.Object, name string) int {
	return slices.IndexFunc(o.Members, func(m hujson.ObjectMember) bool {
		literal, ok := m.Name.Value.(hujson.Literal)
		return ok && literal.String() == name
	})
}

func hasTrailingComma(o *hujson.Object) bool {
	return len(o.Members) > 0 && o.Members[len(o.Members)-1].Value.AfterExtra != nil
}

// walk parses a text that has been parsed before, and follows a path as far as there are
// objects. It returns these, the first is the root, and the layout at the last.
func walk(text string, path []string) (root hujson.Value, l layout, found []*hujson.Object) {
	root, _ = parseJSON(text)
	o := root.Value.(*hujson.Object)
	l = layout{end: lineEnd(text), unit: "  "}
	if len(o.Members) > 0 {
		if indent, _ := indentOf(o.Members[0]); indent != "" {
			l.unit = indent
		}
	}
	found = append(found, o)
	for _, name := range path {
		i := index(o, name)
		if i < 0 {
			break
		}
		next, ok := o.Members[i].Value.Value.(*hujson.Object)
		if !ok {
			break
		}
		if indent, onOwnLine := indentOf(o.Members[i]); onOwnLine {
			l.indent = indent
		}
		o, found = next, append(found, next)
	}
	return root, l, found
}

// indentOf is the white space before a member that is the first on its line.
func indentOf(m hujson.ObjectMember) (indent string, onOwnLine bool) {
	before := string(m.Name.BeforeExtra)
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return line, len(line) < len(before) && strings.Trim(line, space) == ""
}

// layout is how values are written.
type layout struct {
	end    string // of a line
	indent string // of the line on which the value begins
	unit   string // by which the lines in it are indented more
}

// insert adds a member at the end of an object: on lines of its own, unless the last one
// is not.
func (l layout) insert(o *hujson.Object, m member) {
	comments := strings.TrimRight(string(o.AfterExtra), space)
	rest := string(o.AfterExtra[len(comments):])
	inner := layout{l.end, l.indent + l.unit, l.unit}
	before := comments + l.end + inner.indent
	if n := len(o.Members); n == 0 {
		rest = l.end + l.indent
	} else if indent, onOwnLine := indentOf(o.Members[n-1]); onOwnLine || strings.Contains(comments, "//") {
		inner.indent, before = indent, comments+l.end+indent
	} else {
		inner.indent, before = l.indent, comments+" "
	}
	added := hujson.ObjectMember{
		Name:  hujson.Value{BeforeExtra: hujson.Extra(before), Value: hujson.Literal(quote(m.name))},
		Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: hujson.Literal(inner.write(m.value))},
	}
	if hasTrailingComma(o) {
		added.Value.AfterExtra = hujson.Extra{}
	}
	o.Members, o.AfterExtra = append(o.Members, added), hujson.Extra(rest)
}

func (l layout) write(value any) string {
	switch v := value.(type) {
	case string:
		return quote(v)
	case []string:
		return quoteAll(v)
	case bool:
		return strconv.FormatBool(v)
	}
	inner := layout{l.end, l.indent + l.unit, l.unit}
	var parts []string
	for _, m := range value.([]member) {
		parts = append(parts, inner.indent+quote(m.name)+": "+inner.write(m.value))
	}
	return "{" + l.end + strings.Join(parts, ","+l.end) + l.end + l.indent + "}"
}
