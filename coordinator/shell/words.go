package shell

import (
	"fmt"
	"strings"
)

// Words splits a line as a shell does: at white space, but not within quotes. In single quotes
// every character is itself. In double quotes a backslash escapes a double quote and a
// backslash, elsewhere any character. Nothing is expanded.
func Words(line string) (words []string, err error) {
	var word strings.Builder
	inWord := false
	var quote rune
	escaped := false
	for _, c := range line {
		switch {
		case escaped:
			if quote == '"' && c != '"' && c != '\\' {
				word.WriteRune('\\')
			}
			word.WriteRune(c)
			escaped = false
		case c == '\\' && quote != '\'':
			escaped, inWord = true, true
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '"' || c == '\'':
			quote, inWord = c, true
		case strings.ContainsRune(" \t\r\n", c):
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
		default:
			word.WriteRune(c)
			inWord = true
		}
	}
	switch {
	case quote != 0:
		return nil, fmt.Errorf("the quote %c is not closed", quote)
	case escaped:
		return nil, fmt.Errorf("nothing follows the last \\")
	case inWord:
		words = append(words, word.String())
	}
	return words, nil
}
