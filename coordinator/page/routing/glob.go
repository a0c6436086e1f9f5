package routing

import (
	"fmt"
	"regexp"
	"strings"
)

// glob compiles a pattern for URLs with Playwright's syntax: * does not cross a slash,
// ** does, {a,b} is one of several, \ escapes, and all else is literal.
func glob(pattern string) (*regexp.Regexp, error) {
	var b strings.Builder
	b.WriteString("^")
	if strings.HasPrefix(pattern, "/") {
		b.WriteString(`[a-z]+://[^/]+`)
	}
	depth := 0
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\' && i+1 < len(pattern):
			i++
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		case c == '*' && strings.HasPrefix(pattern[i:], "**"):
			i++
			// "**/" also matches nothing, so that "**/api" is "api" at any depth.
			if strings.HasPrefix(pattern[i+1:], "/") && (i == 1 || pattern[i-2] == '/') {
				i++
				b.WriteString("(?:.*/)?")
			} else {
				b.WriteString(".*")
			}
		case c == '*':
			b.WriteString("[^/]*")
		case c == '{':
			depth++
			b.WriteString("(?:")
		case c == '}' && depth > 0:
			depth--
			b.WriteString(")")
		case c == ',' && depth > 0:
			b.WriteString("|")
		default:
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		}
	}
	if depth > 0 {
		return nil, fmt.Errorf("pattern %q: a { is not closed", pattern)
	}
	b.WriteString("$")
	compiled, err := regexp.Compile(b.String())
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", pattern, err)
	}
	return compiled, nil
}
