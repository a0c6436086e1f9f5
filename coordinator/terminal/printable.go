package terminal

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
)

// Names come from windows, pages and other programs. A terminal must display them and not
// interpret them: an escape sequence can rewrite the screen, the title and the clipboard,
// and a bidirectional override can display a name as another.

// isControl reports whether a terminal interprets a character. Invalid UTF-8 counts: its
// bytes are control characters to some terminals.
func isControl(c rune) bool {
	return unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c) || unicode.In(c, unicode.Zl, unicode.Zp) ||
		c == unicode.ReplacementChar
}

// Printable escapes characters that a terminal would interpret. Line ends and tabs stay.
func Printable(text string) string {
	return escape(text, func(c rune) bool { return isControl(c) && c != '\n' && c != '\t' })
}

// PrintableLine is Printable for text that must stay on one line and in one column.
func PrintableLine(text string) string { return escape(text, isControl) }

func escape(text string, special func(rune) bool) string {
	if strings.IndexFunc(text, special) < 0 {
		return text
	}
	var b strings.Builder
	for _, c := range text {
		switch {
		case !special(c):
			b.WriteRune(c)
		case c == unicode.ReplacementChar:
			b.WriteRune(c) // in place of a byte that is not UTF-8
		case c < 0x100:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			fmt.Fprintf(&b, `\u%04x`, c)
		}
	}
	return b.String()
}

// PrintableJSON escapes characters that a terminal would interpret, as JSON does, so that
// programs read the same. Such characters occur in strings only.
func PrintableJSON(text []byte) []byte {
	special := func(c rune) bool { return c >= 0x7f && isControl(c) }
	if bytes.IndexFunc(text, special) < 0 {
		return text
	}
	var b bytes.Buffer
	for _, c := range string(text) {
		if special(c) && c != unicode.ReplacementChar {
			fmt.Fprintf(&b, `\u%04x`, c)
		} else {
			b.WriteRune(c)
		}
	}
	return b.Bytes()
}
