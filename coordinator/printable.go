package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// Names come from windows, pages and other programs. A terminal must show what is
// in them, and not obey it: an escape sequence can rewrite the screen, the title
// and the clipboard, and a bidirectional override can show a name as another.

// isObeyed reports whether a terminal obeys a character. Invalid UTF-8 counts: its
// bytes are control characters to some terminals.
func isObeyed(c rune) bool {
	return unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c) || unicode.In(c, unicode.Zl, unicode.Zp) || c == unicode.ReplacementChar
}

// printable returns text for people, with what a terminal would obey written out.
// Line ends and tabs stay.
func printable(text string) string {
	return written(text, func(c rune) bool { return isObeyed(c) && c != '\n' && c != '\t' })
}

// printableLine is printable for what must stay on one line and in one column.
func printableLine(text string) string { return written(text, isObeyed) }

func written(text string, obeyed func(rune) bool) string {
	if strings.IndexFunc(text, obeyed) < 0 {
		return text
	}
	var b strings.Builder
	for _, c := range text {
		switch {
		case !obeyed(c):
			b.WriteRune(c)
		case c == unicode.ReplacementChar:
			b.WriteRune(c) // in place of a byte that is none of UTF-8
		case c < 0x100:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			fmt.Fprintf(&b, `\u%04x`, c)
		}
	}
	return b.String()
}

// printableJSON writes out what a terminal would obey, by escapes of JSON, so that
// programs read the same. Such characters stand in strings only.
func printableJSON(text []byte) []byte {
	obeyed := func(c rune) bool { return c >= 0x7f && isObeyed(c) }
	if bytes.IndexFunc(text, obeyed) < 0 {
		return text
	}
	var b bytes.Buffer
	for _, c := range string(text) {
		if obeyed(c) && c != unicode.ReplacementChar {
			fmt.Fprintf(&b, `\u%04x`, c)
		} else {
			b.WriteRune(c)
		}
	}
	return b.Bytes()
}

// say writes a message for people to standard error.
func (p *program) say(format string, args ...any) {
	io.WriteString(p.err, printable(fmt.Sprintf(format, args...)))
}
