package tools

import (
	"fmt"
	"slices"
	"strings"
)

// Cap is a set of tools that is off by default, since an agent pays for every
// tool in every conversation. Names are those of Playwright MCP's --caps where
// the same set exists there.
type Cap struct {
	Name string
	What string // what its tools do
}

const (
	capNetwork     = "network"
	capPDF         = "pdf"
	capPerformance = "performance"
	capStorage     = "storage"
	capTesting     = "testing"
	capVision      = "vision"
)

// Caps lists the sets that there are, by name.
func Caps() []Cap {
	return []Cap{
		{capNetwork, "answer, change and block requests; offline"},
		{capPDF, "save the page as PDF"},
		{capPerformance, "traces, profiles, heap snapshots, coverage"},
		{capStorage, "cookies, local and session storage, storage state"},
		{capTesting, "assertions and locators for tests"},
		{capVision, "the mouse by coordinates"},
	}
}

// CheckCaps refuses names that Caps does not have.
func CheckCaps(names []string) error {
	var known []string
	for _, c := range Caps() {
		known = append(known, c.Name)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return fmt.Errorf("there are no tools %q: want some of %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}

// addCapTools adds the requested sets.
func (s *Server) addCapTools() {
	for name, addSet := range map[string]func(){
		capNetwork:     s.addRouteTools,
		capPDF:         s.addPDFTools,
		capPerformance: s.addPerformanceTools,
		capStorage:     s.addStorageTools,
		capTesting:     s.addTestingTools,
		capVision:      s.addMouseTools,
	} {
		if slices.Contains(s.options.Caps, name) {
			addSet()
		}
	}
}
