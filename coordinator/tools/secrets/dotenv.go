package secrets

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

var nameOf = regexp.MustCompile(`^(?:export\s+)?([A-Za-z_][A-Za-z0-9_.-]*)\s*=\s*(.*)$`)

func parseDotenv(data []byte) (map[string]string, error) {
	values := map[string]string{}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\uFEFF"))
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		m := nameOf.FindStringSubmatch(line)
		if m == nil {
			// The line itself may be a secret, so the error does not quote it.
			return nil, fmt.Errorf("line %d: want NAME=VALUE", n)
		}
		value, err := dotenvValue(m[2])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		values[m[1]] = value
	}
	return values, lines.Err()
}

// dotenvValue removes quotes: between double quotes \n, \" and \\ are escapes, between
// single quotes nothing is. Without quotes a # after a space begins a comment.
func dotenvValue(text string) (string, error) {
	if text == "" || text[0] != '"' && text[0] != '\'' {
		text, _, _ = strings.Cut(text, " #")
		return strings.TrimSpace(text), nil
	}
	quote := text[0]
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == quote:
			return b.String(), nil
		case c == '\\' && quote == '"' && i+1 < len(text):
			i++
			if text[i] == 'n' {
				b.WriteByte('\n')
			} else {
				b.WriteByte(text[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", errors.New("a quote is not closed")
}
