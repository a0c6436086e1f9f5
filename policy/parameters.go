package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// parameter is one that a read-only method may have.
type parameter struct {
	name   string
	value  string // JSON; empty: any
	needed bool   // it must be there
	most   int    // zero: no bound
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
		n, err := strconv.Atoi(string(value))
		return err == nil && n <= p.most
	}
	return p.value == "" || p.value == string(value)
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
