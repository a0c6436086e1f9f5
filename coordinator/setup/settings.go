package setup

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// A project's file may be from anyone, and so may what an entry in it sets: a flag or a
// variable can make the coordinator start any program. What is not listed here is shown
// to the user.

// harmlessFlags are flags of `coordinator mcp` that start no program, reach no other
// machine and admit nobody. The value is true if the flag takes one.
var harmlessFlags = map[string]bool{
	"--allowed-origins": true, "--blocked-origins": true, "--browser": true, "--caps": true, "--headed": false, "--hold": true,
	"--isolated": false, "--launch": false, "--no-launch": false, "--require-token": false, "--verbose": false, "-v": false, "--viewport": true,
}

// harmlessMembers are members of an entry besides the command and its arguments.
var harmlessMembers = []string{
	"command", "args", "type", "source", "description", "enabled", "disabled", "timeout", "startup_timeout_sec", "tool_timeout_sec",
}

// settings are what an entry sets, without what is harmless.
func settings(entry map[string]any, args []string) (all []string) {
	if i := slices.Index(args, "mcp"); i >= 0 {
		args = args[i+1:]
	}
	for len(args) > 0 {
		name, _, hasValue := strings.Cut(args[0], "=")
		takesValue, harmless := harmlessFlags[name]
		n := 1
		switch {
		case args[0] == "--":
			n = len(args)
		case !hasValue && len(args) > 1 && (harmless && takesValue || !harmless && !strings.HasPrefix(args[1], "-")):
			n = 2
		}
		if !harmless {
			all = append(all, strings.Join(args[:n], " "))
		}
		args = args[n:]
	}
	for _, name := range slices.Sorted(maps.Keys(entry)) {
		if !slices.Contains(harmlessMembers, name) {
			value, _ := json.Marshal(entry[name]) // parsed values can be encoded
			all = append(all, name+" "+string(value))
		}
	}
	return all
}
