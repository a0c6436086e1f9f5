package access

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"browser-coordinator/cdpproxy"
)

// Class is what a command does.
type Class int

const (
	// Reads: it changes nothing that the page or its human could notice.
	Reads Class = iota + 1
	// Acts: it changes something.
	Acts
	// Ends: it ends the browser for everyone, or opens a way to.
	Ends
)

func (c Class) String() string {
	switch c {
	case Reads:
		return "reads"
	case Acts:
		return "acts"
	case Ends:
		return "ends"
	default:
		return fmt.Sprintf("Class(%d)", int(c))
	}
}

// Command is what is known of a CDP command before it is carried out.
type Command struct {
	Method string // the one that is meant, where one command carries another
	Class  Class
	// Target tells people what the act is about: a URL, the code that would run.
	// Empty for what reads.
	Target string
	// Ignorable: it only sets up a client that may well want to do no more than
	// look.
	Ignorable bool
}

// nesting bounds how many commands may carry each other.
const nesting = 4

// Classify says what a command does. One that the table does not know acts; one
// whose parameters cannot be read for sure is taken for the worst.
func Classify(method string, params json.RawMessage) Command {
	for range nesting {
		e := methods()[method]
		if e == nil {
			return Command{Method: method, Class: Acts}
		}
		c := Command{Method: method, Class: e.class, Ignorable: e.ignorable}
		if e.class == Reads {
			return c
		}
		var args arguments
		if e.unless != nil || e.ends != nil || e.shows != "" || e.inner != "" {
			args = read(params)
		}
		if e.inner != "" {
			carried, ok := args.text(e.inner)
			if !ok {
				return unreadable(method)
			}
			m, err := cdpproxy.ParseCommand([]byte(carried))
			if err != nil {
				return unreadable(method)
			}
			method, params = m.Method, m.Params
			continue
		}
		if e.ends != nil {
			if args == nil && len(params) > 0 {
				return unreadable(method)
			}
			if e.ends(args) {
				c.Class = Ends
			}
		}
		if e.unless != nil && (args != nil || len(params) == 0) && e.unless(args) {
			c.Class = Reads
		} else if e.shows != "" {
			c.Target = shown(args.get(e.shows))
		}
		return c
	}
	return unreadable(method)
}

func unreadable(method string) Command {
	return Command{Method: method, Class: Ends, Target: "a command that cannot be read"}
}

// shownBytes bounds what people are shown of a parameter.
const shownBytes = 120

// shown is a parameter in one line for people.
func shown(value []byte) string {
	text, ok := "", false
	if len(value) <= 4*shownBytes {
		text, ok = decodeText(value)
	}
	if !ok { // cut off, or not a string
		text = strings.Trim(string(value[:min(len(value), 4*shownBytes)]), `"`)
	}
	if strings.ContainsAny(text, "\t\r\n") || strings.Contains(text, "  ") {
		text = strings.Join(strings.Fields(text), " ")
	}
	if len(text) > shownBytes {
		text = text[:shownBytes]
		for !utf8.ValidString(text) {
			text = text[:len(text)-1]
		}
		text += "…"
	}
	return text
}

// entry is a line of the table.
type entry struct {
	class     Class
	unless    func(arguments) bool // reads where it holds
	ends      func(arguments) bool // ends where it holds
	shows     string
	inner     string
	ignorable bool
}

//go:embed methods.txt
var table string

// methods is the table, read when the first message is looked at.
var methods = sync.OnceValue(func() map[string]*entry {
	m, err := parse(table)
	if err != nil {
		panic(err) // it is in the binary
	}
	return m
})

func parse(table string) (map[string]*entry, error) {
	classes := map[string]Class{"reads": Reads, "acts": Acts, "ends": Ends}
	all := map[string]*entry{}
	for n, line := range strings.Split(table, "\n") {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if len(words) < 2 || classes[words[0]] == 0 || !strings.Contains(words[1], ".") || all[words[1]] != nil {
			return nil, fmt.Errorf("methods.txt:%d: want a class and a method that has none yet: %s", n+1, line)
		}
		e := &entry{class: classes[words[0]]}
		for _, word := range words[2:] {
			option, value, _ := strings.Cut(word, ":")
			switch {
			case option == "unless" && conditions[value] != nil:
				e.unless = conditions[value]
			case option == "ends" && conditions[value] != nil:
				e.ends = conditions[value]
			case option == "shows" && value != "":
				e.shows = value
			case option == "inner" && value != "":
				e.inner = value
			case word == "view:ignored":
				e.ignorable = true
			default:
				return nil, fmt.Errorf("methods.txt:%d: %q is not known", n+1, word)
			}
		}
		all[words[1]] = e
	}
	return all, nil
}

// Methods are all methods of the table, sorted.
func Methods() []string { return slices.Sorted(maps.Keys(methods())) }
