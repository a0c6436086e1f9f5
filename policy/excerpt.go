package policy

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// searchedBytes bounds the text in which blanks are looked for.
const searchedBytes = 64 << 10

// Excerpt is a text as one line of about limit bytes at most. Of a longer text it has the
// beginning and the end, so that what is at the end cannot hide, and how much is left out.
func Excerpt(text string, limit int) string {
	if len(text) > searchedBytes { // too much to look for blanks
		return join(oneLine(text[:8*limit]), oneLine(text[len(text)-8*limit:]), len(text), limit)
	}
	if text = oneLine(text); len(text) > limit {
		return join(text, text, len(text), limit)
	}
	return text
}

func oneLine(text string) string {
	if strings.ContainsAny(text, "\t\r\n\v\f\u0085\u2028\u2029") || strings.Contains(text, "  ") {
		text = strings.Join(strings.Fields(text), " ")
	}
	return text
}

// join shows the beginning of one text and the end of another one, of all bytes.
func join(begin, end string, all, limit int) string {
	begin = begin[:min(len(begin), limit*2/3)]
	for range utf8.UTFMax - 1 { // the cut may be within a character
		if r, size := utf8.DecodeLastRuneInString(begin); r == utf8.RuneError && size == 1 {
			begin = begin[:len(begin)-1]
		}
	}
	end = end[max(0, len(end)-limit/3):]
	for range utf8.UTFMax - 1 {
		if end != "" && !utf8.RuneStart(end[0]) {
			end = end[1:]
		}
	}
	omitted := max(0, all-len(begin)-len(end))
	return fmt.Sprintf("%s …(%d bytes left out)… %s", strings.ToValidUTF8(begin, "\ufffd"), omitted,
		strings.ToValidUTF8(end, "\ufffd"))
}
