package sourcemap

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"sort"
	"strings"
)

// Source is one original file of a map.
type Source struct {
	// URL is its address, resolved against the map's.
	URL string
	// Content is its text if the map has it, else nil.
	Content *string
}

// Position is a place in a source; both numbers count from 1.
type Position struct {
	Source Source
	Line   int
	Column int
}

// Map finds original positions. It may be used from any goroutine.
type Map struct {
	sources []Source
	lines   [][]segment // by generated line
}

// segment maps a generated column to an original place; all count from 0. source is -1 if
// there is no original place.
type segment struct{ column, source, line, original int32 }

// file is the JSON form of a map (ECMA-426, section 4).
type file struct {
	Version        int        `json:"version"`
	Sources        []*string  `json:"sources"`
	SourcesContent []*string  `json:"sourcesContent"`
	SourceRoot     string     `json:"sourceRoot"`
	Mappings       string     `json:"mappings"`
	Sections       []*section `json:"sections"`
}

type section struct {
	Offset struct{ Line, Column int }
	Map    *file
}

// maxLines bounds the memory that a small file can demand by the offsets of its sections.
const maxLines = 10_000_000

// Parse reads a map; address is its own, against which its sources are resolved.
func Parse(data []byte, address string) (*Map, error) {
	// Servers may add a first line that keeps browsers from running the map as a script.
	if bytes.HasPrefix(data, []byte(")]}")) {
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			data = data[i+1:]
		}
	}
	var f file
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("source map: %w", err)
	}
	m := &Map{}
	if err := m.add(&f, address, 0, 0); err != nil {
		return nil, fmt.Errorf("source map: %w", err)
	}
	for _, line := range m.lines {
		if !sort.SliceIsSorted(line, func(i, j int) bool { return line[i].column < line[j].column }) {
			sort.SliceStable(line, func(i, j int) bool { return line[i].column < line[j].column })
		}
	}
	return m, nil
}

func (m *Map) add(f *file, address string, line, column int) error {
	if f.Version != 3 {
		return fmt.Errorf("version %d: only 3 is known", f.Version)
	}
	for _, s := range f.Sections {
		if s == nil || s.Map == nil || s.Offset.Line < 0 || s.Offset.Line > maxLines || s.Offset.Column < 0 {
			return errors.New("a section has no map or no place")
		}
		if len(s.Map.Sections) > 0 {
			return errors.New("a section has sections")
		}
		if err := m.add(s.Map, address, s.Offset.Line, s.Offset.Column); err != nil {
			return err
		}
	}
	first := int32(len(m.sources))
	for i, s := range f.Sources {
		var source Source
		if s != nil {
			source.URL = resolve(address, f.SourceRoot, *s)
		}
		if i < len(f.SourcesContent) {
			source.Content = f.SourcesContent[i]
		}
		m.sources = append(m.sources, source)
	}
	return m.decode(f.Mappings, line, column, first)
}

// resolve returns the address of a source (ECMA-426, section 4.1).
func resolve(address, root, source string) string {
	if root != "" && !strings.HasSuffix(root, "/") {
		root += "/"
	}
	if strings.HasPrefix(source, "data:") {
		return source
	}
	source = root + source
	base, err := url.Parse(address)
	if err != nil || strings.HasPrefix(address, "data:") {
		return source
	}
	ref, err := url.Parse(strings.ReplaceAll(source, `\`, "/"))
	if err != nil {
		return source
	}
	return base.ResolveReference(ref).String()
}

var errMappings = errors.New("the mappings are broken")

// decode reads mappings (ECMA-426, section 4.2): lines separated by ";", segments
// separated by ",", each of 1, 4 or 5 numbers relative to the segment before.
func (m *Map) decode(mappings string, line, column int, first int32) error {
	at := segment{source: first}
	offset := int32(column) // of a section; it applies to the first line only
	var generated int32
	for i := 0; i < len(mappings); {
		switch mappings[i] {
		case ';':
			line++
			generated, offset = 0, 0
			i++
			continue
		case ',':
			i++
			continue
		}
		var numbers [5]int32
		n := 0
		for ; i < len(mappings) && mappings[i] != ',' && mappings[i] != ';'; n++ {
			if n == len(numbers) {
				return errMappings
			}
			var ok bool
			if numbers[n], i, ok = vlq(mappings, i); !ok {
				return errMappings
			}
		}
		generated += numbers[0]
		s := segment{column: generated + offset, source: -1}
		switch n {
		case 1:
		case 4, 5:
			at.source += numbers[1]
			at.line += numbers[2]
			at.original += numbers[3]
			if at.source < first || int(at.source) >= len(m.sources) || at.line < 0 || at.original < 0 {
				return errMappings
			}
			s.source, s.line, s.original = at.source, at.line, at.original
		default:
			return errMappings
		}
		if generated < 0 {
			return errMappings
		}
		for len(m.lines) <= line {
			m.lines = append(m.lines, nil)
		}
		m.lines[line] = append(m.lines[line], s)
	}
	return nil
}

// digits are the values of the base64 alphabet; -1: not in it.
var digits = func() (d [256]int8) {
	for i := range d {
		d[i] = -1
	}
	for i, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/" {
		d[c] = int8(i)
	}
	return d
}()

// vlq reads one number at i and returns the index after it.
func vlq(s string, i int) (int32, int, bool) {
	var value uint64
	for shift := 0; i < len(s) && shift < 35; shift += 5 {
		d := digits[s[i]]
		if d < 0 {
			return 0, i, false
		}
		i++
		value |= uint64(d&31) << shift
		if d&32 == 0 {
			n := int64(value >> 1)
			if value&1 == 1 {
				n = -n
			}
			return int32(n), i, n == int64(int32(n))
		}
	}
	return 0, i, false
}

// Find returns the original place of a generated one; line and column count from 1.
func (m *Map) Find(line, column int) (Position, bool) {
	if line < 1 || line > len(m.lines) {
		return Position{}, false
	}
	segments := m.lines[line-1]
	i := sort.Search(len(segments), func(i int) bool { return int(segments[i].column) > column-1 }) - 1
	if i < 0 || segments[i].source < 0 {
		return Position{}, false
	}
	s := segments[i]
	return Position{Source: m.sources[s.source], Line: int(s.line) + 1, Column: int(s.original) + 1}, true
}

// Reference returns the address of the map that the last such comment of a script or
// style names, resolved against the script's or style's own address; empty: none.
func Reference(text, address string) string {
	const name = "sourceMappingURL="
	index := max(strings.LastIndex(text, "//# "+name), strings.LastIndex(text, "//@ "+
		""+name), strings.LastIndex(text, "/*# "+name))
	if index < 0 {
		return ""
	}
	ref := text[index+len("//# "+name):]
	if end := strings.IndexAny(ref, " \t\r\n*'\""); end >= 0 {
		ref = ref[:end]
	}
	if ref == "" {
		return ""
	}
	return resolve(address, "", ref)
}
