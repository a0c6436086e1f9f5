package setup

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlFormat is TOML. The parser finds where each expression is; the text is edited by
// its lines, so that all else stays as it is.
type tomlFormat struct{}

func (tomlFormat) parse(text string) (map[string]any, error) {
	tree := map[string]any{}
	err := toml.Unmarshal([]byte(text), &tree)
	if wrong, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, column := wrong.Position()
		return nil, fmt.Errorf("it is not valid TOML: line %d, column %d: %s", line, column, strings.TrimPrefix(wrong.Error(), "toml: "))
	}
	if err != nil {
		return nil, fmt.Errorf("it is not valid TOML: %s", strings.TrimPrefix(err.Error(), "toml: "))
	}
	return tree, nil
}

// expression is a header of a table, or a key with its value.
type expression struct {
	path       []string // from the root
	header     bool
	start, end int // of its lines
	value      int // where a value begins
	valueEnd   int
}

// expressions are those of a text that has been parsed before.
func expressions(text string) (all []expression) {
	var p unstable.Parser
	p.Reset([]byte(text))
	var table []string
	for p.NextExpression() {
		node := p.Expression()
		var path []string
		var first, end int
		for keys := node.Key(); keys.Next(); {
			key := keys.Node()
			if path = append(path, string(key.Data)); len(path) == 1 {
				first = int(key.Raw.Offset)
			}
			end = int(key.Raw.Offset + key.Raw.Length)
		}
		e := expression{path: path, header: true}
		if node.Kind == unstable.KeyValue {
			equals := end + strings.IndexByte(text[end:], '=') + 1
			e.value = equals + len(text[equals:]) - len(strings.TrimLeft(text[equals:], " \t"))
			end = int(node.Raw.Offset + node.Raw.Length)
			e.path, e.header, e.valueEnd = slices.Concat(table, path), false, end
		} else {
			table = path
		}
		e.start = strings.LastIndexByte(text[:first], '\n') + 1
		e.end = len(text)
		if i := strings.IndexByte(text[end:], '\n'); i >= 0 {
			e.end = end + i + 1
		}
		all = append(all, e)
	}
	return all
}

func (tomlFormat) set(text string, path []string, members []member) string {
	end := lineEnd(text)
	previous := path // what a new member follows: the table's header, or the member before it
	for _, m := range members {
		value := layout{}.write(m.value)
		all := expressions(text)
		at := func(path []string) int {
			return slices.IndexFunc(all, func(e expression) bool { return slices.Equal(e.path, path) })
		}
		own := append(slices.Clone(path), m.name)
		if i := at(own); i >= 0 {
			text = text[:all[i].value] + value + text[all[i].valueEnd:]
			previous = own
			continue
		}
		var after int
		if i := at(previous); i >= 0 {
			after = all[i].end
		} else {
			if text = strings.TrimRight(text, space); text != "" {
				text += end + end
			}
			text += "[" + writeKey(path) + "]" + end
			after = len(text)
		}
		before := text[:after]
		if !strings.HasSuffix(before, "\n") {
			before += end
		}
		text = before + m.name + " = " + value + end + text[after:]
		previous = own
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

func (tomlFormat) remove(text string, path []string) string {
	all := expressions(text)
	for i := len(all) - 1; i >= 0; i-- {
		e := all[i]
		if len(e.path) < len(path) || !slices.Equal(e.path[:len(path)], path) {
			continue
		}
		before, after := text[:e.start], text[e.end:]
		// The blank line before a table goes with it.
		if blank := strings.TrimSuffix(strings.TrimSuffix(before, "\n"), "\r"); e.header && (blank == "" || strings.HasSuffix(blank, "\n")) {
			before = blank
		}
		text = before + after
	}
	return text
}
