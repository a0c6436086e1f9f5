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
	class       Class
	unless      func(arguments) bool // read-only where it holds
	destructive func(arguments) bool // destructive where it holds
	shows       string
	inner       string
	ignored     bool // in view mode
	disconnects bool
	shared      sharedRule
	sharedIf    func(arguments) bool // shared holds only where this holds; nil: always
}

//go:embed methods.txt
var methodTable string

//go:embed tools.txt
var toolTable string

// The tables are read when the first operation is classified.
var (
	methods = sync.OnceValue(func() map[string]*entry { return mustParse("methods.txt", methodTable) })
	tools   = sync.OnceValue(func() map[string]*entry { return mustParse("tools.txt", toolTable) })
)

// Methods are all methods of the table, sorted.
func Methods() []string { return slices.Sorted(maps.Keys(methods())) }

// Tools are all tools of the table, sorted.
func Tools() []string { return slices.Sorted(maps.Keys(tools())) }

func mustParse(file, table string) map[string]*entry {
	m, err := parse(file, table)
	if err != nil {
		panic(err) // it is in the binary
	}
	return m
}

func parse(file, table string) (map[string]*entry, error) {
	all := map[string]*entry{}
	for n, line := range strings.Split(table, "\n") {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		class := Class(slices.Index(classNames[:], words[0]))
		if len(words) < 2 || class <= Unknown || all[words[1]] != nil {
			return nil, fmt.Errorf("%s:%d: want a class and a name that has none yet: %s", file, n+1, line)
		}
		e := &entry{class: class}
		for _, word := range words[2:] {
			if !e.parseOption(word) {
				return nil, fmt.Errorf("%s:%d: %q is not known", file, n+1, word)
			}
		}
		all[words[1]] = e
	}
	return all, nil
}

func (e *entry) parseOption(word string) (known bool) {
	option, value, _ := strings.Cut(word, ":")
	switch option {
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
	case "shared":
		value, condition, conditional := strings.Cut(value, ":")
		e.shared, e.sharedIf = sharedRules[value], conditions[condition]
		return e.shared != 0 && conditional == (e.sharedIf != nil)
	}
	return false
}
