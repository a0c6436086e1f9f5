package setup

import (
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"browser-coordinator/internal/stricttoml"
)

// tomlFormat is TOML. A table is added at the end. The parser finds the lines of each
// expression, and only whole lines are removed, so that all else stays as it is.
type tomlFormat struct{}

func (tomlFormat) parse(text string) (map[string]any, error) { return stricttoml.Parse(text) }

// expression is a header of a table, or a key with its value.
type expression struct {
	path       []string // from the root
	header     bool
	start, end int // of its lines
	key, value int // the ends of the key, and of the value
}

// expressions are those of a text that has been parsed before.
func expressions(text string) (all []expression) {
	var p unstable.Parser
	p.Reset([]byte(text))
	var table []string
	for p.NextExpression() {
		node := p.Expression()
		var path []string
		var first, key, end int
		for keys := node.Key(); keys.Next(); {
			part := keys.Node()
			if path = append(path, string(part.Data)); len(path) == 1 {
				first = int(part.Raw.Offset)
			}
			end = int(part.Raw.Offset + part.Raw.Length)
		}
		key = end
		e := expression{path: path, header: node.Kind != unstable.KeyValue}
		if e.header {
			table = path
		} else {
			e.path, end = slices.Concat(table, path), int(node.Raw.Offset+node.Raw.Length)
		}
		e.key, e.value = key, end
		e.start = strings.LastIndexByte(text[:first], '\n') + 1
		e.end = len(text)
		if i := strings.IndexByte(text[end:], '\n'); i >= 0 {
			e.end = end + i + 1
		}
		all = append(all, e)
	}
	return all
}

func (f tomlFormat) set(text string, path []string, value any) string {
	end := lineEnd(text)
	members, isTable := value.([]member)
	if !isTable {
		return setKey(text, path, layout{}.write(value))
	}
	if text = strings.TrimRight(f.remove(text, path), space); text != "" {
		text += end + end
	}
	text += "[" + writeKey(path) + "]" + end
	for _, m := range members {
		text += m.name + " = " + layout{}.write(m.value) + end
	}
	return text
}

// setKey puts a value at a key of a table that has a header. Elsewhere the text stays as it
// is.
func setKey(text string, path []string, value string) string {
	all, last := expressions(text), len(path)-1
	at := func(header bool, path []string) int {
		return slices.IndexFunc(all, func(e expression) bool {
			return e.header == header &&
				slices.Equal(e.path, path)
		})
	}
	if i := at(false, path); i >= 0 {
		return text[:all[i].key] + " = " + value + text[all[i].value:]
	}
	if i := at(true, path[:last]); i >= 0 {
		return text[:all[i].end] + writeKey(path[last:]) + " = " + value + lineEnd(text) + text[all[i].end:]
	}
	return text
}

func writeKey(path []string) string {
	var keys []string
	for _, key := range path {
		bare := strings.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
		if key == "" || !bare {
			key = quote(key)
		}
		keys = append(keys, key)
	}
	return strings.Join(keys, ".")
}

var tomlComment = regexp.MustCompile(`#[^\r\n]*`)

func (tomlFormat) hide(text string, entries paths) string {
	var output strings.Builder
	from := 0
	between := func(to int) { // expressions: white space, comments, and the end of a header
		output.WriteString(tomlComment.ReplaceAllString(text[from:max(from, to)], "# "+mask))
		from = max(from, to)
	}
	for _, e := range expressions(text) {
		between(e.start)
		own, shown := entries.shown(e.path)
		switch value := text[from:e.value]; {
		case e.header || own && (strings.HasSuffix(value, "= true") || strings.HasSuffix(value, "= false")):
			output.WriteString(value)
		case shown:
			comments := tomlComment.ReplaceAllString(text[e.key:e.value], "# "+mask)
			output.WriteString(text[from:e.key] + maskText(comments))
		default:
			output.WriteString(text[from:e.key] + " = " + quote(mask))
		}
		from = e.value
	}
	between(len(text))
	return output.String()
}

func (tomlFormat) remove(text string, path []string) string {
	var rest strings.Builder
	from := 0
	for _, e := range expressions(text) {
		if len(e.path) < len(path) || !slices.Equal(e.path[:len(path)], path) {
			continue
		}
		before := text[:e.start]
		// The blank line before a table goes with it.
		if blank := strings.TrimSuffix(strings.TrimSuffix(before, "\n"), "\r"); e.header &&
			(blank == "" || strings.HasSuffix(blank, "\n")) {
			before = blank
		}
		rest.WriteString(text[from:max(from, len(before))])
		from = e.end
	}
	rest.WriteString(text[from:])
	return rest.String()
}
