package policy

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// entry is a line of a table.
type entry struct {
	method      bool // of CDP, not a tool
	class       Class
	with        []parameter          // of a read-only method
	unless      func(arguments) bool // read-only where it holds
	destructive func(arguments) bool // destructive where it holds
	shows       string
	hides       []string
	large       bool
	inner       string
	ignored     bool // in view mode
	disconnects bool
	shared      string               // the key of its reason
	sharedIf    func(arguments) bool // shared holds only where this holds; nil: always
	category    string
	categoryIf  func(arguments) bool // likewise
}

//go:embed methods.txt
var methodTable string

// The kinds of actions that users know. The window has a name for each.
const (
	Input      = "input"
	Navigation = "navigation"
	Script     = "script"
	Storage    = "storage"
	Debugger   = "debugger"
)

var categories = []string{Input, Navigation, Script, Storage, Debugger}

// methods is the table. It is read when the first command is classified.
var methods = sync.OnceValue(func() map[string]*entry { return parse("methods.txt", methodTable) })

// Methods are all methods of the table, sorted.
func Methods() []string { return slices.Sorted(maps.Keys(methods())) }

// ReadingParameters are the parameters with which a method of the table may be read-only.
func ReadingParameters(method string) (names []string) {
	if e := methods()[method]; e != nil {
		for _, p := range e.with {
			names = append(names, p.name)
		}
	}
	return names
}

// parse panics on a line that it does not understand: the table is in the binary.
func parse(file, table string) map[string]*entry {
	all := map[string]*entry{}
	for line := range strings.Lines(table) {
		words, _, _ := strings.Cut(line, "#")
		fields := strings.Fields(words)
		if len(fields) == 0 {
			continue
		}
		class := Class(slices.Index(classNames[:], fields[0]))
		if len(fields) < 2 || class <= Unknown || all[fields[1]] != nil {
			panic(fmt.Sprintf("%s: want a class and a name that has none yet: %s", file, line))
		}
		e := &entry{class: class, method: file == "methods.txt"}
		for _, option := range fields[2:] {
			if !e.parseOption(option) {
				panic(fmt.Sprintf("%s: %q is not known: %s", file, option, line))
			}
		}
		all[fields[1]] = e
	}
	return all
}

func (e *entry) parseOption(word string) (known bool) {
	option, value, _ := strings.Cut(word, ":")
	switch option {
	case "with":
		e.with = parseParameters(value)
		return len(e.with) > 0
	case "hides":
		e.hides = strings.Split(value, ",")
		return value != ""
	case "large":
		e.large = true
		return value == ""
	case "unless":
		e.unless = conditions[value]
		return e.unless != nil
	case "destructive":
		e.destructive = conditions[value]
		return e.destructive != nil
	case "shows":
		e.shows = value
		return value != ""
	case "inner":
		e.inner = value
		return value != ""
	case "view":
		e.ignored = true
		return value == "ignored"
	case "denied":
		e.disconnects = true
		return value == "disconnects"
	case "category":
		value, condition, conditional := strings.Cut(value, ":")
		e.category, e.categoryIf = value, conditions[condition]
		return slices.Contains(categories, value) && conditional == (e.categoryIf != nil)
	case "shared":
		value, condition, conditional := strings.Cut(value, ":")
		e.shared, e.sharedIf = value, conditions[condition]
		return sharedReasons[value] != "" && conditional == (e.sharedIf != nil)
	}
	return false
}
