package secrets

import (
	"cmp"
	"encoding/base64"
	entities "html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// A value is searched in a text as it is, and in the text with its escapes undone,
// several times over: programs escape different characters, and escape each other's
// output. The value without its own escapes is searched too, since a text may hold a
// mixture. A page can split a value by markup, such as <b> or **, and by characters that
// nobody sees: it is searched without these too.

// mostLayers bounds how often the escapes of a text are undone.
const mostLayers = 4

// spelling is one spelling of a value.
type spelling struct {
	name, text string
	// encoded: in base64. Its first and last characters may mix bits of the value with bits
	// of the text around it.
	encoded, mixesStart, mixesEnd bool
}

// formsOf are the spellings of a value; none for a value of white space only.
func formsOf(name, value string) []spelling {
	var forms []spelling
	for n, l := 0, newLayer(value); n < mostLayers; n++ {
		// White space around a value is lost wherever it is shown.
		text := strings.Trim(l.fold().text, " ")
		if text != "" && (n == 0 || utf8.RuneCountInString(text) >= shortest) {
			forms = append(forms, spelling{name: name, text: text})
		}
		next, changed := l.unescape()
		if !changed {
			break
		}
		l = next
	}
	if len(forms) == 0 {
		return nil
	}
	for before := range 3 {
		bits := (before + len(value)) * 8
		padded := append(make([]byte, before), value...)
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			all := encoding.EncodeToString(padded)
			from, to := (before*8+5)/6, bits/6
			if to-from < shortestEncoded {
				continue
			}
			text := newLayer(all[from:to]).fold().text
			form := spelling{name: name, text: text, encoded: true, mixesStart: before > 0, mixesEnd: bits%6 > 0}
			if !slices.Contains(forms, form) {
				forms = append(forms, form)
			}
		}
	}
	return forms
}

// shortestEncoded is the minimum number of base64 characters in a search: fewer occur in
// any text.
const shortestEncoded = 6

// layer is a text with some escapes undone: at[i] is the origin of its byte i, and
// at[len(text)] the end of the original.
type layer struct {
	text    string
	origins []int32
}

func newLayer(text string) layer {
	at := make([]int32, len(text)+1)
	for i := range at {
		at[i] = int32(i)
	}
	return layer{text, at}
}

// builder builds a layer from another one.
type builder struct {
	text    []byte
	origins []int32
}

func (b *builder) add(text string, at int32) {
	b.text = append(b.text, text...)
	for range len(text) {
		b.origins = append(b.origins, at)
	}
}

func (b *builder) layer(of layer) layer {
	return layer{string(b.text), append(b.origins, of.origins[len(of.text)])}
}

// fold replaces each run of white space by one space, as pages show it, and plus signs,
// which are spaces in addresses. It drops characters that nobody sees.
func (l layer) fold() layer {
	b := builder{make([]byte, 0, len(l.text)), make([]int32, 0, len(l.text)+1)}
	space := false
	for i := 0; i < len(l.text); {
		r, size := utf8.DecodeRuneInString(l.text[i:])
		if r >= utf8.RuneSelf && unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point,
			unicode.Variation_Selector) {
			i += size
			continue
		}
		is := unicode.IsSpace(r) || r == '+'
		switch {
		case !is:
			b.add(l.text[i:i+size], l.origins[i])
		case !space:
			b.add(" ", l.origins[i])
		}
		space = is
		i += size
	}
	return b.layer(l)
}

// unescape undoes the outermost escapes: those of addresses, HTML, JSON, JavaScript
// and Markdown.
func (l layer) unescape() (stripped layer, changed bool) {
	if !strings.ContainsAny(l.text, `%&\`) {
		return l, false
	}
	b := builder{make([]byte, 0, len(l.text)), make([]int32, 0, len(l.text)+1)}
	for i := 0; i < len(l.text); {
		text, size := "", 0
		switch rest := l.text[i:]; rest[0] {
		case '%':
			text, size = percent(rest)
		case '&':
			text, size = entity(rest)
		case '\\':
			text, size = backslash(rest)
		}
		changed = changed || size > 0
		if size == 0 {
			text, size = l.text[i:i+1], 1
		}
		b.add(text, l.origins[i])
		i += size
	}
	return b.layer(l), changed
}

// percent, entity and backslash undo the escape at the start of a text; size 0: there is
// none.
func percent(text string) (description string, size int) {
	if code, ok := hexadecimal(text, 1, 2); ok {
		return string([]byte{byte(code)}), 3
	}
	return "", 0
}

// longestEntity bounds an entity, as &CounterClockwiseContourIntegral; is one.
const longestEntity = 40

func entity(text string) (description string, size int) {
	end := 1
	for end < min(len(text), longestEntity) && (text[end] == '#' && end == 1 || isAlphanumeric(text[end])) {
		end++
	}
	if end < len(text) && text[end] == ';' {
		end++
	} else if !strings.HasPrefix(text, "&#") || strings.HasPrefix(text[end:], cutMark) {
		return "", 0 // of a number, more digits may have followed
	}
	if description = entities.UnescapeString(text[:end]); description != text[:end] {
		return description, end
	}
	return "", 0
}

func backslash(text string) (description string, size int) {
	if len(text) < 2 {
		return "", 0
	}
	switch c := text[1]; {
	case c == 'u':
		code, ok := hexadecimal(text, 2, 4)
		if !ok {
			return "", 0
		}
		if utf16.IsSurrogate(rune(code)) && strings.HasPrefix(text[6:], `\u`) {
			if low, ok := hexadecimal(text, 8, 4); ok {
				if r := utf16.DecodeRune(rune(code), rune(low)); r != unicode.ReplacementChar {
					return string(r), 12
				}
			}
		}
		if utf16.IsSurrogate(rune(code)) {
			return "", 6 // half of a character; the other half was cut off
		}
		return string(rune(code)), 6
	case c == 'x':
		if code, ok := hexadecimal(text, 2, 2); ok {
			return string(rune(code)), 4
		}
	case strings.IndexByte("nrtbfv", c) >= 0:
		return " ", 2
	case c < utf8.RuneSelf && !isAlphanumeric(c):
		return text[1:2], 2
	}
	return "", 0
}

// hexadecimal reads a fixed number of digits of a text.
func hexadecimal(text string, from, digits int) (code uint64, ok bool) {
	if len(text) < from+digits {
		return 0, false
	}
	code, err := strconv.ParseUint(text[from:from+digits], 16, 32)
	return code, err == nil && isAlphanumeric(text[from]) // no sign
}

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// span is a part of a text that holds a value, or a part of a value.
type span struct {
	from, to int32
	name     string
}

// splitForms separates values from the rest of a text. It also finds a part of a value at a
// cut edge: every cut, also in the page, leaves cutMark there.
func splitForms(text string, forms []spelling) []Part {
	if text == "" || len(forms) == 0 {
		return []Part{{Text: text}}
	}
	long := slices.DeleteFunc(slices.Clone(forms), func(form spelling) bool {
		return form.encoded || utf8.RuneCountInString(form.text) < shortestSplit
	})
	var spans []span
	for n, l := 0, newLayer(text); n < mostLayers; n++ {
		spans = l.search(forms, spans)
		if n < mostMarked && len(long) > 0 {
			spans = l.searchMarked(tag, "<", long, mostLayers-n, spans)
			spans = l.searchMarked(mark, "*_`~[", long, mostLayers-n, spans)
		}
		next, changed := l.unescape()
		if !changed {
			break
		}
		l = next
	}
	if len(spans) == 0 {
		return []Part{{Text: text}}
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	var parts []Part
	end := int32(0)
	for _, s := range spans {
		if s.from >= end {
			if s.from > end {
				parts = append(parts, Part{Text: text[end:s.from]})
			}
			parts = append(parts, Part{Name: s.name, Text: text[s.from:s.to]})
		} else if last := &parts[len(parts)-1]; s.to > end { // two values overlap
			last.Text += text[end:s.to]
		}
		end = max(end, s.to)
	}
	if int(end) < len(text) {
		parts = append(parts, Part{Text: text[end:]})
	}
	return parts
}

// shortestSplit is the minimum length in characters of a value that is searched in a text
// without its markup: a shorter one occurs across the cells of any table.
const shortestSplit = 6

// search adds the spans of values, and of parts of values at cut edges.
func (l layer) search(forms []spelling, spans []span) []span {
	folded := l.fold()
	for _, form := range forms {
		spans = folded.find(form, spans)
	}
	return folded.findCut(forms, spans)
}

// mostMarked bounds the layers that are searched without their markup: that of a document,
// and of one in JSON.
const mostMarked = 2

// searchMarked is search in the text without markup, and in that with its escapes undone.
// size is how long the markup at the start of a text is; 0: there is none, and less than 0:
// so much is none. Markup begins with one of the characters in begin.
func (l layer) searchMarked(size func(text string) int, begin string, forms []spelling, layers int,
	spans []span) []span {
	if !strings.ContainsAny(l.text, begin) {
		return spans
	}
	b := builder{make([]byte, 0, len(l.text)), make([]int32, 0, len(l.text)+1)}
	begins := map[int32]int32{} // where the markup begins that ends there
	for i := 0; i < len(l.text); {
		n := 0
		if c := l.text[i]; c == '\\' || c == ']' || strings.IndexByte(begin, c) >= 0 {
			n = size(l.text[i:])
		}
		if n > 0 {
			from, more := begins[l.origins[i]]
			if !more {
				from = l.origins[i]
			}
			begins[l.origins[i+n]] = from
			i += n
			continue
		}
		for range max(1, -n) {
			b.add(l.text[i:i+1], l.origins[i])
			i++
		}
	}
	if len(begins) == 0 {
		return spans
	}
	found := len(spans)
	for stripped, changed := b.layer(l), true; changed && layers > 0; layers-- {
		spans = stripped.search(forms, spans)
		stripped, changed = stripped.unescape()
	}
	for i, s := range spans[found:] {
		if from, ok := begins[s.to]; ok { // what follows the value is no part of it
			spans[found+i].to = from
		}
	}
	return spans
}

// longestTag bounds a tag, and the address of a link in Markdown.
const longestTag = 4096

// tag is a tag or a comment of HTML.
func tag(text string) int {
	if len(text) < 2 || text[0] != '<' || !isAlphanumeric(text[1]) && text[1] != '/' && text[1] != '!' {
		return 0
	}
	text = text[:min(len(text), longestTag)]
	if strings.HasPrefix(text, "<!--") {
		if end := strings.Index(text, "-->"); end > 0 {
			return end + len("-->")
		}
		return 0
	}
	var quote byte
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return i + 1
		case c == '<':
			return 0
		}
	}
	return 0
}

// mark is a mark of Markdown, or what follows the text of a link.
func mark(text string) int {
	switch text[0] {
	case '*', '_', '`', '~', '[':
		return 1
	case ']':
		text = text[:min(len(text), longestTag)]
		if strings.HasPrefix(text, "](") {
			if end := strings.IndexAny(text, ") \n"); end > 0 && text[end] == ')' {
				return end + 1
			}
		}
	case '\\':
		return -min(len(text), 2)
	}
	return 0
}

// find adds the spans of a form.
func (l layer) find(form spelling, spans []span) []span {
	for from := 0; ; {
		i := strings.Index(l.text[from:], form.text)
		if i < 0 {
			return spans
		}
		from += i
		to := from + len(form.text)
		s := span{l.origins[from], l.origins[to], form.name}
		if form.mixesStart && from > 0 && isBase64(l.text[from-1]) {
			s.from = l.origins[from-1]
		}
		if form.mixesEnd && to < len(l.text) && isBase64(l.text[to]) {
			s.to = l.origins[to+1]
		}
		spans = append(spans, s)
		from = to
	}
}

func isBase64(c byte) bool { return isAlphanumeric(c) || strings.IndexByte("+/-_ ", c) >= 0 }

// cutMark marks where a text was cut.
const cutMark = "…"

// partEscape matches what a cut may leave of an escape, or of a character.
var partEscape = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:%[0-9A-Fa-f]?|&#?[0-9A-Za-z]{0,39}|\\(?:u[0-9A-Fa-f]{0,3}|x[0-9A-Fa-f]?)?|\x{FFFD})$`)
})

// findCut adds the beginnings of values before a mark, and the ends of values after one.
func (l layer) findCut(forms []spelling, spans []span) []span {
	for from := 0; ; {
		i := strings.Index(l.text[from:], cutMark)
		if i < 0 {
			return spans
		}
		mark := from + i
		from = mark + len(cutMark)
		ends := []int{mark}
		tail := max(0, mark-longestEntity)
		if part := partEscape().FindStringIndex(l.text[tail:mark]); part != nil {
			ends = append(ends, tail+part[0])
		}
		for _, form := range forms {
			if form.encoded {
				continue
			}
			for _, end := range ends {
				if n := startAtEnd(l.text[:end], form.text); n > 0 {
					spans = append(spans, span{l.origins[end-n], l.origins[mark], form.name})
				}
			}
			if n := endAtStart(l.text[from:], form.text); n > 0 {
				spans = append(spans, span{l.origins[from], l.origins[from+n], form.name})
			}
		}
	}
}

// startAtEnd is how much of a value's beginning is at the end of a text; less than the
// shortest secret counts as none.
func startAtEnd(text, value string) int {
	for n := min(len(text), len(value)-1); n >= shortest; n-- {
		if value[n-1] == text[len(text)-1] && strings.HasSuffix(text, value[:n]) {
			return n
		}
	}
	return 0
}

// endAtStart is how much of a value's end is at the start of a text.
func endAtStart(text, value string) int {
	for n := min(len(text), len(value)-1); n >= shortest; n-- {
		if value[len(value)-n] == text[0] && strings.HasPrefix(text, value[len(value)-n:]) {
			return n
		}
	}
	return 0
}
