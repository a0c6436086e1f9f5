package setup

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// yamlFormat is YAML in blocks. The parser finds the lines of each value. Only whole lines are
// added, replaced and removed, so that all else stays as it is.
type yamlFormat struct{}

func (yamlFormat) parse(text string) (map[string]any, error) {
	tree := map[string]any{}
	documents := yaml.NewDecoder(strings.NewReader(text))
	if err := documents.Decode(&tree); err != nil && !errors.Is(err, io.EOF) {
		place := yamlPlace.FindString(err.Error()) // the rest of the message may have a value
		return nil, fmt.Errorf("it is not valid YAML: %s", strings.TrimSuffix(place+", a table is expected", ":"))
	}
	if documents.Decode(new(any)) == nil {
		return nil, errors.New("it has several documents")
	}
	return tree, nil
}

var yamlPlace = regexp.MustCompile(`line [0-9]+`)

// yamlEntry is a key with its value, in a text that has been parsed before.
type yamlEntry struct {
	path       []string
	column     int // of the key, from 0
	value      *yaml.Node
	first, end int // its lines, from 0; end is behind the last one
}

// yamlEntries are those of a text, also in lists.
func yamlEntries(text string) (all []yamlEntry) {
	var root yaml.Node
	_ = yaml.Unmarshal([]byte(text), &root) // it has no errors
	var visit func(n *yaml.Node, path []string)
	visit = func(n *yaml.Node, path []string) {
		if n.Kind != yaml.MappingNode {
			for _, inner := range n.Content {
				visit(inner, path)
			}
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			below := append(slices.Clone(path), key.Value)
			all = append(all, yamlEntry{below, key.Column - 1, value, key.Line - 1, max(key.Line, lastLine(value))})
			visit(value, below)
		}
	}
	visit(&root, nil)
	return all
}

// lastLine is the last line in which a value, or a part of it, begins.
func lastLine(n *yaml.Node) int {
	last := n.Line
	for _, inner := range n.Content {
		last = max(last, lastLine(inner))
	}
	return last
}

func yamlAt(text string, path []string) (yamlEntry, bool) {
	all := yamlEntries(text)
	i := slices.IndexFunc(all, func(e yamlEntry) bool { return slices.Equal(e.path, path) })
	if i < 0 {
		return yamlEntry{}, false
	}
	return all[i], true
}

func (f yamlFormat) set(text string, path []string, value any) string {
	members, isTable := value.([]member)
	if isTable {
		text = f.remove(text, path)
	}
	end, last := lineEnd(text), len(path)-1
	lines := strings.SplitAfter(text, "\n")
	table, isThere := yamlAt(text, path[:last])
	switch {
	case !isTable:
		e, known := yamlAt(text, path)
		start, stop := e.first, e.end
		if !known { // behind the key of the table
			start, stop = table.first+1, table.first+1
		}
		indent := indentOfLine(lines[start])
		line := indent + path[last] + ": " + layout{}.write(value)
		if known && e.value.LineComment != "" {
			line += " " + e.value.LineComment
		}
		return strings.Join(slices.Replace(lines, start, stop, line+end), "")
	case isThere && len(table.value.Content) == 0: // {}
		lines[table.first] = path[last-1] + ":" + end
		return strings.Join(slices.Insert(lines, table.first+1, yamlTable(path[last], members, "  ", end)), "")
	case isThere:
		indent := indentOfLine(lines[table.value.Line-1])
		return strings.Join(slices.Insert(lines, table.first+1, yamlTable(path[last], members, indent, end)), "")
	}
	if text = strings.TrimRight(text, space); text != "" {
		text += end
	}
	return text + path[last-1] + ":" + end + yamlTable(path[last], members, "  ", end)
}

// yamlTable are the lines of a table.
func yamlTable(name string, members []member, indent, end string) string {
	text := indent + name + ":" + end
	for _, m := range members {
		text += indent + "  " + m.name + ": " + layout{}.write(m.value) + end
	}
	return text
}

func indentOfLine(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " "))] }

func (yamlFormat) remove(text string, path []string) string {
	e, known := yamlAt(text, path)
	if !known {
		return text
	}
	lines := slices.Delete(strings.SplitAfter(text, "\n"), e.first, e.end)
	// It was the only one.
	if table, inTable := yamlAt(text, path[:len(path)-1]); inTable && len(table.value.Content) == 2 {
		lines[table.first] = path[len(path)-2] + ": {}" + lineEnd(text)
	}
	return strings.Join(lines, "")
}

func (yamlFormat) hide(text string, entries paths) string {
	lines := strings.SplitAfter(text, "\n")
	keys, shown := map[int]bool{}, map[int]bool{} // the lines that begin with a key, and our own
	for _, e := range yamlEntries(text) {
		if line := lines[e.first]; strings.Trim(line[:min(e.column, len(line))], " -") == "" {
			keys[e.first] = true
		}
		own, isShown := entries.shown(e.path)
		isShown = isShown || own && e.value.Tag == "!!bool"
		for line := e.first; isShown && line < e.end; line++ {
			shown[line] = true
		}
	}
	for i, line := range lines {
		content := strings.TrimSpace(line)
		key, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		ending := line[len(strings.TrimRight(line, "\r\n")):]
		switch {
		case content == "":
		case strings.HasPrefix(content, "#"):
			lines[i] = indentOfLine(line) + "# " + mask + ending
		case shown[i]:
			visible, _, hasComment := strings.Cut(strings.TrimRight(line, "\r\n"), " #")
			if lines[i] = maskText(visible); hasComment {
				lines[i] += " # " + mask
			}
			lines[i] += ending
		case keys[i] && strings.TrimSpace(value) == "":
		case keys[i]:
			lines[i] = key + ": " + mask + ending
		default:
			lines[i] = indentOfLine(line) + mask + ending
		}
	}
	return strings.Join(lines, "")
}
