package tools

import (
	"fmt"
	"slices"
	"strings"
)

// Cap is a set of tools that is off by default, since an agent pays for every tool in every
// conversation. Names are those of Playwright MCP's --caps where the same set exists there.
type Cap struct {
	Name    string
	Purpose string // what its tools do
}

// Caps are the sets, by name.
var Caps = []Cap{
	{"devtools", "inspect an element: styles, rules, component; highlight it for the user; accessibility; video"},
	{"network", "answer, change and block requests; offline; requests as HAR"},
	{"pdf", "save the page as PDF"},
	{"performance", "traces, profiles, heap snapshots, coverage"},
	{"storage", "cookies, local and session storage, storage state"},
	{"testing", "assertions and locators for tests, and what was done as a test"},
	{"vision", "the mouse by coordinates"},
}

// CapNames are the names of the sets.
func CapNames() []string {
	var names []string
	for _, c := range Caps {
		names = append(names, c.Name)
	}
	return names
}

// CheckCaps refuses names that Caps does not have.
func CheckCaps(names []string) error {
	for _, name := range names {
		if known := CapNames(); !slices.Contains(known, name) {
			return fmt.Errorf("there are no tools %q: want some of %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}
