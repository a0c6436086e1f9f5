package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	json "github.com/chromedp/cdproto/cdp/jsonv2"
)

// parameter is one that a read-only method may have.
type parameter struct {
	name   string
	value  string // JSON; empty: any
	needed bool   // it must be there
	most   int    // of a number, the length of a text or list; zero: no bound
}

// maxReading bounds the parameters of a read-only command. A selector, for example, costs
// the page's thread time for each of its parts.
const maxReading = 64 << 10

// parseParameters returns nil if it does not understand the list.
func parseParameters(list string) (all []parameter) {
	for text := range strings.SplitSeq(list, ",") {
		var p parameter
		if name, most, bounded := strings.Cut(text, "<="); bounded {
			p.name = name
			p.most, _ = strconv.Atoi(most)
			if p.most <= 0 {
				return nil
			}
		} else {
			name, value, restricted := strings.Cut(text, "=")
			p.name = name
			p.value, p.needed = strings.CutPrefix(value, "=")
			if restricted && p.value == "" {
				return nil
			}
		}
		if p.name == "" {
			return nil
		}
		all = append(all, p)
	}
	return all
}

func (p parameter) permits(value []byte) bool {
	if p.most > 0 {
		n, ok := measure(value)
		return ok && 0 <= n && n <= p.most
	}
	return p.value == "" || p.value == string(value)
}

// measure is a whole number, or how long a text or list is.
func measure(value []byte) (n int, ok bool) {
	if text, isText := decodeText(value); isText {
		return len(text), true
	}
	var items []json.Value
	if value[0] == '[' {
		err := json.Unmarshal(value, &items, lenient)
		return len(items), err == nil
	}
	n, err := strconv.Atoi(string(value))
	return n, err == nil
}

// beyond returns why a command of a read-only method does more than look, or is not known
// to do less; empty: it only looks.
func (e *entry) beyond(params []byte) string {
	var args arguments
	if len(params) > maxReading {
		return fmt.Sprintf("it has more than %d kB of parameters", maxReading>>10)
	}
	if len(params) > 0 && string(params) != "null" {
		if args = read(params); args == nil {
			return "its parameters cannot be read"
		}
	}
	for name, value := range args {
		i := slices.IndexFunc(e.with, func(p parameter) bool { return p.name == name })
		if i < 0 || !e.with[i].permits(value) {
			return fmt.Sprintf("it is not known that it only looks with this parameter: %s", cut(name+" "+string(value), 80))
		}
	}
	for _, p := range e.with {
		if p.needed && args[p.name] == nil {
			return fmt.Sprintf("it only looks with this parameter: %s %s", p.name, p.value)
		}
	}
	return ""
}
