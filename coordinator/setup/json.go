package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonFormat is JSON, with comments and trailing commas. The parser tells where each value
// is; the text is edited there, so that all else stays as it is.
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
		return nil, errors.New("it does not contain an object")
	}
	return tree, nil
}

// parseJSON parses a text; comments alone are those of an empty object.
func parseJSON(text string) (hujson.Value, error) {
	value, err := hujson.Parse([]byte(ended(text)))
	if err == nil {
		return value, nil
	}
	if empty, blank := hujson.Parse([]byte(text + "\n{}\n")); blank == nil {
		return empty, nil
	}
	return value, fmt.Errorf("it is not valid JSON: %s", strings.TrimPrefix(err.Error(), "hujson: "))
}

// ended is a text with a line end behind its last line, if only that is missing: a comment
// may be there.
func ended(text string) string {
	if _, err := hujson.Parse([]byte(text)); err == nil {
		return text
	}
	if _, err := hujson.Parse([]byte(text + "\n")); err == nil {
		return text + lineEnd(text)
	}
	return text
}

func (jsonFormat) set(text string, path []string, members []member) string {
	text = ended(text)
	if _, err := hujson.Parse([]byte(text)); err != nil { // blank, or comments alone
		if text = strings.TrimRight(text, space); text != "" {
			text += lineEnd(text)
		}
		text += "{}" + lineEnd(text)
	}
	object, depth := deepest(text, path)
	if depth < len(path) {
		value := any(members)
		for i := len(path) - 1; i > depth; i-- {
			value = []member{{path[i], value}}
		}
		return insert(text, object, member{path[depth], value})
	}
	for _, m := range members {
		object, _ = deepest(text, path)
		if i := object.index(m.name); i >= 0 {
			old := object.members[i].Value
			text = text[:old.StartOffset] + layout{}.write(m.value) + text[old.EndOffset:]
		} else {
			text = insert(text, object, m)
		}
	}
	return text
}

func (jsonFormat) remove(text string, path []string) string {
	text = ended(text)
	object, depth := deepest(text, path[:len(path)-1])
	i := object.index(path[len(path)-1])
	if depth < len(path)-1 || i < 0 {
		return text
	}
	m := object.members[i]
	start, end := m.Name.StartOffset, m.Value.EndOffset
	last := i == len(object.members)-1
	if !last || object.trailingComma() {
		end = afterComma(m.Value)
	}
	if start, end = wholeLines(text, start, end); len(object.members) == 1 {
		inside := text[object.start+1:start] + text[end:object.end-1]
		if strings.Trim(inside, space) == "" {
			inside = ""
		}
		return text[:object.start+1] + inside + text[object.end-1:]
	}
	text = text[:start] + text[end:]
	if last && !object.trailingComma() { // the member before it is the last one now
		comma := afterComma(object.members[i-1].Value)
		text = text[:comma-1] + text[comma:]
	}
	return text
}

// space are the characters between values.
const space = " \t\r\n"

// afterComma is the offset after the comma that follows a value.
func afterComma(v hujson.Value) int { return v.EndOffset + len(v.AfterExtra) + 1 }

// wholeLines extends what is removed to the whole lines if nothing else is on them, or
// by the blanks before it.
func wholeLines(text string, start, end int) (int, int) {
	before := strings.TrimRight(text[:start], " \t")
	after := strings.TrimLeft(text[end:], " \t")
	rest := strings.TrimPrefix(after, "\r")
	if strings.HasSuffix(before, "\n") && strings.HasPrefix(rest, "\n") {
		return len(before), len(text) - len(rest) + 1
	}
	return len(before), end
}

// object is an object of a JSON text.
type object struct {
	start, end int // of the braces
	members    []hujson.ObjectMember
}

func (o object) index(name string) int {
	for i, m := range o.members {
		if literal, ok := m.Name.Value.(hujson.Literal); ok && literal.String() == name {
			return i
		}
	}
	return -1
}

func (o object) trailingComma() bool {
	return len(o.members) > 0 && o.members[len(o.members)-1].Value.AfterExtra != nil
}

// deepest follows a path as far as there are objects, and returns how far that is.
func deepest(text string, path []string) (o object, depth int) {
	value, err := parseJSON(text)
	if err != nil {
		return object{}, 0 // it has been parsed before
	}
	for {
		composite, ok := value.Value.(*hujson.Object)
		if !ok {
			return o, depth - 1
		}
		o = object{value.StartOffset, value.EndOffset, composite.Members}
		if depth == len(path) {
			return o, depth
		}
		i := o.index(path[depth])
		if i < 0 {
			return o, depth
		}
		value = o.members[i].Value
		depth++
	}
}

// insert adds a member at the end of an object, in the style of the text.
func insert(text string, o object, m member) string {
	l := layoutOf(text)
	if len(o.members) == 0 {
		start := strings.TrimRight(text[:o.end-1], space)
		if outer := lineIndent(text, o.start); o.start == 0 || o.end-o.start > 2 || strings.Contains(strings.Trim(text, space), "\n") {
			l.indent = outer + l.unit
			return start + l.end + l.indent + quote(m.name) + ": " + l.write(m.value) + l.end + outer + text[o.end-1:]
		}
		return start + quote(m.name) + ": " + layout{}.write(m.value) + text[o.end-1:]
	}
	last := o.members[len(o.members)-1]
	kept := strings.TrimRight(text[last.Value.EndOffset:o.end-1], space) // comments, and a comma
	rest := text[last.Value.EndOffset+len(kept):]
	before, after := text[:last.Value.EndOffset]+","+kept, ""
	if o.trailingComma() {
		before, after = text[:last.Value.EndOffset]+kept, ","
	}
	indent := lineIndent(text, last.Name.StartOffset)
	onOwnLine := strings.HasSuffix(strings.TrimRight(text[:last.Name.StartOffset], " \t"), "\n")
	if !onOwnLine && !strings.Contains(kept, "//") {
		return before + " " + quote(m.name) + ": " + layout{}.write(m.value) + after + rest
	}
	l.indent = indent
	return before + l.end + indent + quote(m.name) + ": " + l.write(m.value) + after + rest
}

// lineIndent is the white space at the begin of the line that an offset is in.
func lineIndent(text string, offset int) string {
	line := text[strings.LastIndexByte(text[:offset], '\n')+1 : offset]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// layout is how a value is written; the zero one writes it on one line.
type layout struct {
	end    string // of a line
	indent string // of the line on which the value begins
	unit   string // by which the lines in it are indented more
}

// layoutOf is the style of a text: the indentation of its first member.
func layoutOf(text string) layout {
	l := layout{end: lineEnd(text), unit: "  "}
	if root, _ := deepest(text, nil); len(root.members) > 0 {
		if unit := lineIndent(text, root.members[0].Name.StartOffset); unit != "" {
			l.unit = unit
		}
	}
	return l
}

func (l layout) write(value any) string {
	switch v := value.(type) {
	case string:
		return quote(v)
	case []string:
		return quoteAll(v)
	}
	inner := layout{l.end, l.indent + l.unit, l.unit}
	var parts []string
	for _, m := range value.([]member) {
		parts = append(parts, inner.indent+quote(m.name)+": "+inner.write(m.value))
	}
	if l.end == "" {
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return "{" + l.end + strings.Join(parts, ","+l.end) + l.end + l.indent + "}"
}
