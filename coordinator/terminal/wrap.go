package terminal

import (
	"strings"
	"unicode/utf8"
)

// Wrap fills the lines of each paragraph up to a width. A line that begins with a blank is
// not changed: it is code, or a row of a table.
func Wrap(text string, width int) string {
	var lines []string
	filling := false // whether the last line can take more
	for line := range strings.SplitSeq(text, "\n") {
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") {
			lines, filling = append(lines, line), false
			continue
		}
		for word := range strings.FieldsSeq(line) {
			last := len(lines) - 1
			if filling && utf8.RuneCountInString(lines[last])+1+utf8.RuneCountInString(word) <= width {
				lines[last] += " " + word
			} else {
				lines, filling = append(lines, word), true
			}
		}
	}
	return strings.Join(lines, "\n")
}
