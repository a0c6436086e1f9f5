package terminal

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// columns is the number of columns that a terminal gives a text.
func columns(text string) (n int) {
	for _, c := range text {
		switch kind := width.LookupRune(c).Kind(); {
		case unicode.In(c, unicode.Mn, unicode.Me, unicode.Cf):
		case kind == width.EastAsianWide || kind == width.EastAsianFullwidth:
			n += 2
		default:
			n++
		}
	}
	return n
}

// Cut shortens a line to a number of columns, and marks that.
func Cut(line string, most int) string {
	if columns(line) <= most {
		return line
	}
	used := 1 // of the mark
	for i, c := range line {
		if used += columns(string(c)); used > most {
			return line[:i] + "…"
		}
	}
	return line
}

// Wrap fills the lines of each paragraph up to a number of columns. A line that begins with a blank is
// not changed: it is code, or a row of a table.
func Wrap(text string, most int) string {
	var lines []string
	filling := false // whether the last line can take more
	for line := range strings.SplitSeq(text, "\n") {
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") {
			lines, filling = append(lines, line), false
			continue
		}
		for word := range strings.FieldsSeq(line) {
			last := len(lines) - 1
			if filling && columns(lines[last])+1+columns(word) <= most {
				lines[last] += " " + word
			} else {
				lines, filling = append(lines, word), true
			}
		}
	}
	return strings.Join(lines, "\n")
}

// foldIndent is the indent of what follows a broken line of a table.
const foldIndent = 4

// Fold breaks the lines that have more columns, between words, and indents what
// follows. Other lines stay as they are.
func Fold(text string, most, indent int) string {
	margin := strings.Repeat(" ", indent)
	var b strings.Builder
	for line := range strings.Lines(text) {
		line, end := strings.CutSuffix(line, "\n")
		for columns(line) > most {
			at := breakAt(line, most)
			if at < 0 {
				break
			}
			b.WriteString(line[:at] + "\n")
			line = margin + strings.TrimLeft(line[at:], " ")
		}
		b.WriteString(line)
		if end {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// breakAt is the last blank at which a line can be broken to fit, or else the first one, behind a
// longer word; less than 0: none exists.
func breakAt(line string, most int) int {
	at := -1
	for i, c := range line {
		if c == ' ' && strings.TrimSpace(line[:i]) != "" && (at < 0 || columns(line[:i]) <= most) {
			at = i
		}
	}
	return at
}
