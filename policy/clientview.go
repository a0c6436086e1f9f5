package policy

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"browser-coordinator/internal/strictjson"
)

//go:embed clientview.txt
var viewList string

// viewed is a method with which clients look.
type viewed struct {
	parameters []parameter
	ignored    bool // the client gets a success, and the browser nothing
}

// parameter is one that a method may have.
type parameter struct {
	name     string
	value    string // JSON, or noCode; empty: any
	required bool   // it must be there
	limit    int    // of a number, the length of a text or list; zero: no bound
}

// noCode is the value of a parameter that may be an empty script only.
const noCode = "NO-CODE"

// view has the methods with which clients look. It is read for the first of them.
var view = sync.OnceValue(func() map[string]viewed { return parseView(viewList) })

// LooksBy reports whether clients look by that method, with the right parameters.
func LooksBy(method string) bool {
	_, listed := view()[method]
	return listed
}

// maxReading bounds the parameters of a client that looks. A selector, for example, costs
// the page's thread time for each of its parts.
const maxReading = 64 << 10

// decideView allows what is in the list.
func decideView(p Permission, method string, params []byte) Decision {
	v, listed := view()[method]
	switch reason := ""; {
	case !listed:
		return denyByMode(method, p, "")
	case v.ignored:
		return denyByMode(method, p, "").withOutcome(Ignore)
	default:
		if reason = v.excess(params); reason != "" {
			return denyByMode(method, p, " ("+reason+")")
		}
	}
	return Decision{Outcome: Allow}
}

func denyByMode(name string, p Permission, detail string) Decision {
	may := ": clients may look, but change nothing"
	if p.Mode == ModeAsk {
		may = ", and its user has not let this client do more than look"
	}
	return deny(name, fmt.Sprintf("the access mode is %q%s%s.", p.Mode, may, detail))
}

// excess returns why a command may do more than look; empty: it only looks.
func (v viewed) excess(params []byte) string {
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
		i := slices.IndexFunc(v.parameters, func(p parameter) bool { return p.name == name })
		if i < 0 || !v.parameters[i].permits(value) {
			return fmt.Sprintf("it is not known that it only looks with this parameter: %s",
				Excerpt(name+" "+string(value), 80))
		}
	}
	for _, p := range v.parameters {
		if p.required && args[p.name] == nil {
			return fmt.Sprintf("it only looks with this parameter: %s %s", p.name, p.value)
		}
	}
	return ""
}

func (p parameter) permits(value []byte) bool {
	switch {
	case p.limit > 0:
		n, ok := measure(value)
		return ok && 0 <= n && n <= p.limit
	case p.value == noCode:
		source, err := strictjson.String(value)
		return err == nil && hasNoCode(source)
	default:
		return p.value == "" || p.value == string(value)
	}
}

// measure is a whole number, or how long a text or list is.
func measure(value []byte) (n int, ok bool) {
	if text, err := strictjson.String(value); err == nil {
		return len(text), true
	}
	if value[0] == '[' {
		var items []json.RawMessage
		err := json.Unmarshal(value, &items)
		return len(items), err == nil
	}
	n, err := strconv.Atoi(string(value))
	return n, err == nil
}

// hasNoCode reports whether a script is empty, or one comment. Clients add such a script to
// name a world.
func hasNoCode(source string) bool {
	source = strings.TrimSpace(source)
	return source == "" || strings.HasPrefix(source, "//") && !strings.ContainsAny(source, "\n\r\u2028\u2029")
}

// parseView panics on a line that it does not understand: the list is in the binary.
func parseView(list string) map[string]viewed {
	all := map[string]viewed{}
	for line := range strings.Lines(list) {
		words, _, _ := strings.Cut(line, "#")
		fields := strings.Fields(words)
		if len(fields) == 0 {
			continue
		}
		method := fields[0]
		var v viewed
		for _, word := range fields[1:] {
			p, ok := parseParameter(word)
			switch {
			case word == "ignored":
				v.ignored = true
			case ok:
				v.parameters = append(v.parameters, p)
			default:
				panic("clientview.txt: unknown: " + line)
			}
		}
		if _, twice := all[method]; twice || !strings.Contains(method, ".") || v.ignored && v.parameters != nil {
			panic("clientview.txt: want a method that has no line yet: " + line)
		}
		all[method] = v
		if domain, ok := strings.CutSuffix(method, ".enable"); ok {
			all[domain+".disable"] = viewed{}
		}
	}
	return all
}

func parseParameter(word string) (p parameter, ok bool) {
	if name, most, bounded := strings.Cut(word, "<="); bounded {
		p.name = name
		p.limit, _ = strconv.Atoi(most)
		return p, p.name != "" && p.limit > 0
	}
	name, value, restricted := strings.Cut(word, "=")
	p.name = name
	p.value, p.required = strings.CutPrefix(value, "=")
	return p, p.name != "" && (!restricted || p.value != "")
}
