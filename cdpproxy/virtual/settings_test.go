package virtual

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"browser-coordinator/cdpproxy/discovery"
)

// setsUp matches the commands to check: those that may leave state.
var setsUp = regexp.MustCompile(
	`^(\w+\.(set|emulate|override|start|add|grant|configure|highlight|enable.|force|track|find|bind)|` +
		`(Debugger|DOMDebugger)\.)`)

// endsSomething matches the commands that may end what other clients have begun.
var endsSomething = regexp.MustCompile(`^\w+\.(stop|untrack|hide|reset|end$|clear\w*(Override|Markers))`)

// denied reports whether a command never reaches the shared session.
func denied(method string) bool {
	_, restricted := restrictions()[method]
	return restricted
}

// TestSettings: every command of the protocol that could leave state in the
// debugger's session is classified. Every reset is an existing command with
// existing parameters.
func TestSettings(t *testing.T) {
	table := settings()
	var protocol bytes.Buffer
	if err := discovery.WriteProtocol(&protocol); err != nil {
		t.Fatal(err)
	}
	var all struct {
		Domains []struct {
			Domain   string
			Commands []struct {
				Name       string
				Parameters []struct {
					Name     string
					Optional bool
				}
				Returns []struct{ Optional bool }
			}
		}
	}
	if err := json.Unmarshal(protocol.Bytes(), &all); err != nil {
		t.Fatal(err)
	}
	parameters := map[string]map[string]bool{} // of each method, whether it is required
	for _, d := range all.Domains {
		for _, c := range d.Commands {
			method := d.Domain + "." + c.Name
			parameters[method] = map[string]bool{}
			for _, p := range c.Parameters {
				parameters[method][p.Name] = !p.Optional
			}
			_, ends, _ := settingOf(command{Method: method})
			if endsSomething.MatchString(method) && !ends && !table.harmless[method] {
				t.Errorf("%s by one client ends for the others what they have begun", method)
			}
			brings := slices.ContainsFunc(c.Returns, func(r struct{ Optional bool }) bool { return !r.Optional })
			if st, _, ok := settingOf(command{Method: method}); ok && st.reset == method && brings && !st.result {
				t.Errorf("%s would be answered without what it has to bring", method)
			}
			if !setsUp.MatchString(method) {
				continue
			}
			_, _, changes := settingOf(command{Method: method})
			answers := 0
			for _, known := range []bool{denied(method), changes, table.harmless[method]} {
				if known {
					answers++
				}
			}
			if answers != 1 {
				t.Errorf("%s: denied: %v, a setting: %v, leaves nothing: %v; want one of them", method, denied(method),
					changes, table.harmless[method])
			}
		}
	}
	for method := range table.harmless {
		if parameters[method] == nil {
			t.Errorf("the protocol has no %s", method)
		}
	}
	for method, other := range table.aliases {
		if parameters[method] == nil || parameters[other] == nil {
			t.Errorf("the protocol has no %s or no %s", method, other)
		}
	}
	for method := range restrictions() {
		if parameters[method] == nil {
			t.Errorf("reserved.go: the protocol has no %s", method)
		}
	}
	for method, st := range table.settings {
		if parameters[method] == nil || parameters[st.reset] == nil {
			t.Errorf("the protocol has no %s or no %s", method, st.reset)
		}
		arguments := map[string]json.RawMessage{}
		if st.parameters != "" {
			if err := json.Unmarshal(st.params(), &arguments); err != nil {
				t.Errorf("%s: %v", method, err)
			}
		}
		if st.keyParameter != "" {
			arguments[st.keyParameter] = nil
		}
		for name, required := range parameters[st.reset] {
			if _, ok := arguments[name]; required && !ok {
				t.Errorf("%s is reset by %s without %s", method, st.reset, name)
			}
			delete(arguments, name)
		}
		if len(arguments) > 0 {
			t.Errorf("%s is reset by %s, which has no %s", method, st.reset,
				strings.Join(slices.Sorted(maps.Keys(arguments)), ", "))
		}
	}
}

// FuzzSetting: whatever distinguishes settings of a kind, the parameters of the reset are
// JSON.
func FuzzSetting(f *testing.F) {
	f.Add([]byte(`{"origin":"\ud800","type":{"a":[1]}}`))
	f.Add([]byte(`{"origin":null,"type":"x\"}"}`))
	f.Fuzz(func(t *testing.T, params []byte) {
		for _, method := range []string{"Emulation.setSensorOverrideEnabled", "Storage.overrideQuotaForOrigin"} {
			if st, _, _ := settingOf(command{Method: method, Params: params}); st.parameters != "" &&
				!json.Valid([]byte(st.parameters)) {
				t.Errorf("%s %q is reset with %q", method, params, st.parameters)
			}
		}
	})
}
