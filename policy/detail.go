package policy

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	json "github.com/chromedp/cdproto/cdp/jsonv2"
)

const (
	// shownBytes bounds one text of a detail.
	shownBytes = 120
	// detailBytes bounds a detail.
	detailBytes = 200
	// decodedBytes bounds what is decoded for a detail: of a longer value the source is
	// shown.
	decodedBytes = 64 << 10
	// maxDepth bounds the nesting of what is decoded, since each level is decoded again.
	maxDepth = 8
)

// Detail describes the operation to people, with the URL, the code and every other text in
// its parameters, except values that a client types or sets. It is empty for read-only
// operations.
func (o Operation) Detail() string {
	if o.detail != "" || o.Class == ReadOnly || len(o.params) == 0 {
		return o.detail
	}
	args := read(o.params)
	if args == nil {
		return Excerpt(string(o.params), shownBytes)
	}
	var d detail
	if o.entry != nil {
		d.hidden = o.entry.hides
		d.encoded = strings.HasPrefix(o.Name, "Fetch.")
		if value, given := args[o.entry.shows]; given {
			d.show("", value, shown(value))
			delete(args, o.entry.shows)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		d.add(name, args[name], 0)
	}
	text := strings.Join(d.texts, ", ")
	if len(text) <= detailBytes {
		return text
	}
	return join(text, text, len(text)+d.leftOut, detailBytes)
}

// detail collects the texts in parameters.
type detail struct {
	hidden  []string // names
	encoded bool     // a body is in base64
	texts   []string
	leftOut int // bytes of the values
}

func (d *detail) show(name string, value []byte, text string) {
	d.leftOut += max(0, len(value)-len(text)-2)
	if name != "" {
		text = name + ": " + text
	}
	d.texts = append(d.texts, text)
}

// add adds the texts in a value: no numbers, and no ids, which the browser has made.
func (d *detail) add(name string, value []byte, depth int) {
	if len(value) == 0 || slices.Contains(d.hidden, name) || value[0] == '"' && isID(name) {
		return
	}
	var members map[string]json.Value
	var items []json.Value
	switch {
	case value[0] == '"':
		if d.encoded && (name == "body" || name == "postData") {
			d.show(name, value, shownBase64(value))
		} else if text := shown(value); text != "" {
			d.show(name, value, text)
		}
	case value[0] != '{' && value[0] != '[':
	case len(value) > decodedBytes, depth == maxDepth:
		d.show(name, value, Excerpt(string(value), shownBytes))
	case json.Unmarshal(value, &members, lenient) == nil:
		for _, inner := range slices.Sorted(maps.Keys(members)) {
			d.add(inner, members[inner], depth+1)
		}
	case json.Unmarshal(value, &items, lenient) == nil:
		for _, item := range items {
			d.add(name, item, depth+1)
		}
	default: // a name twice
		d.show(name, value, Excerpt(string(value), shownBytes))
	}
}

// isID reports whether a parameter of that name is an id of the protocol.
func isID(name string) bool {
	return strings.HasSuffix(name, "Id") || strings.HasSuffix(name, "Ids") || strings.HasSuffix(name, "ID") || name == "objectGroup"
}

// shown is a value as one line for people.
func shown(value []byte) string {
	if len(value) <= decodedBytes {
		if text, ok := decodeText(value); ok {
			return Excerpt(text, shownBytes)
		}
	}
	return Excerpt(strings.Trim(string(value), `"`), shownBytes)
}

// shownBase64 shows the text in a value that is in base64, or the value if that is no text.
// It decodes only what is shown.
func shownBase64(value []byte) string {
	const part = 1 << 10
	text := strings.Trim(string(value), `"`)
	if len(text) <= 2*part {
		if decoded, err := base64.StdEncoding.DecodeString(text); err == nil && utf8.Valid(decoded) {
			return Excerpt(string(decoded), shownBytes)
		}
		return Excerpt(text, shownBytes)
	}
	begin, err := base64.StdEncoding.DecodeString(text[:part])
	end, errEnd := base64.StdEncoding.DecodeString(text[len(text)-part:])
	if err != nil || errEnd != nil || !isText(begin) || !isText(end) {
		return Excerpt(text, shownBytes)
	}
	return join(oneLine(string(begin)), oneLine(string(end)), len(text)*3/4, shownBytes)
}

// isText reports whether a part of a text may be UTF-8: only its ends are not.
func isText(b []byte) bool {
	return bytes.Count(bytes.ToValidUTF8(b, []byte{0}), []byte{0}) <= 2
}

// Excerpt is a text as one line of at most about most bytes. Of a longer text it has the
// beginning and the end, so that what is at the end cannot hide, and how much is left out.
func Excerpt(text string, most int) string {
	if len(text) > decodedBytes { // too much to look for blanks
		return join(oneLine(text[:8*most]), oneLine(text[len(text)-8*most:]), len(text), most)
	}
	return cut(oneLine(text), most)
}

func oneLine(text string) string {
	if strings.ContainsAny(text, "\t\r\n") || strings.Contains(text, "  ") {
		text = strings.Join(strings.Fields(text), " ")
	}
	return text
}

// cut leaves out the middle of a text that has more bytes than most.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return join(text, text, len(text), most)
}

// join shows the beginning of one text and the end of another one, of all bytes.
func join(begin, end string, all, most int) string {
	begin = begin[:min(len(begin), most*2/3)]
	for range utf8.UTFMax - 1 { // the cut may be within a character
		if r, size := utf8.DecodeLastRuneInString(begin); r == utf8.RuneError && size == 1 {
			begin = begin[:len(begin)-1]
		}
	}
	end = end[max(0, len(end)-most/3):]
	for range utf8.UTFMax - 1 {
		if end != "" && !utf8.RuneStart(end[0]) {
			end = end[1:]
		}
	}
	left := max(0, all-len(begin)-len(end))
	return fmt.Sprintf("%s …(%d bytes left out)… %s", strings.ToValidUTF8(begin, "\ufffd"), left, strings.ToValidUTF8(end, "\ufffd"))
}
