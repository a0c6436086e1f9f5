package setup

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"browser-coordinator/internal/fspath"
)

// Other is a server that may be taken for the coordinator: it names it, and is not the entry
// that List has of the file. Err says why a file cannot be searched for such servers.
type Other struct {
	File  string
	Scope Scope
	State State
	Err   error
}

// Others are the servers beside the entries of List, in all files that the host reads.
func (h Host) Others(workspace string) (others []Other) {
	for _, scope := range h.ScopesIn(workspace) {
		listed, err := h.Inspect(scope, workspace)
		files, filesErr := h.files(scope, workspace)
		if filesErr != nil {
			continue // List has the error
		}
		for _, file := range files {
			isListed := file == listed.File
			if !fspath.Exists(file) || isListed && err != nil { // likewise
				continue
			}
			c, err := h.parse(file, scope)
			if err != nil {
				others = append(others, Other{File: file, Scope: scope, Err: err})
				continue
			}
			own := ""
			if isListed {
				own = listed.Name
			}
			for _, s := range c.mentions(workspace, own) {
				others = append(others, Other{File: file, Scope: scope, State: s})
			}
		}
	}
	return others
}

// mentions are the servers that have the coordinator's name in any part, but for the first
// one with the name own.
func (c *configuration) mentions(workspace, own string) (found []State) {
	tables := []map[string]any{}
	if servers, err := c.openServers(); err == nil { // with an error it is none
		tables = append(tables, servers)
	}
	if c.host.perFolder != "" && c.scope == User {
		if servers, err := c.table(append([]string{c.host.perFolder, workspace}, c.host.servers...)); err == nil {
			tables = append(tables, servers)
		}
	}
	for _, servers := range tables {
		for _, name := range slices.Sorted(maps.Keys(servers)) {
			if name == own {
				own = ""
				continue
			}
			text, err := json.Marshal(map[string]any{name: servers[name]})
			if err == nil && !strings.Contains(strings.ToLower(string(text)), "coordinator") {
				continue
			}
			entry, _ := servers[name].(map[string]any) // nil: it starts nothing that is known
			s := State{File: c.state.File, Name: name}
			s.read(entry, c.scope, workspace, nil)
			found = append(found, s)
		}
	}
	return found
}
