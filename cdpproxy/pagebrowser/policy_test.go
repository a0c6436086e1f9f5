package pagebrowser

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// leavesNothing are the commands that could leave something in a session of the
// debugger's and do not need to be taken back, each with the reason.
var leavesNothing = map[string]string{
	// Chromium does not take these back either when a session ends.
	"Browser.addMockCamera":                       "only a browser's session has it",
	"Browser.addPrivacySandboxEnrollmentOverride": "for the browser's life, in Chromium too",
	"Browser.setContentsSize":                     "the window's size, in Chromium too",
	"Browser.setDockTile":                         "a badge, in Chromium too",
	"Browser.setGlobalPrivacyControl":             "a setting of the browser's, in Chromium too",
	"Browser.setWindowBounds":                     "the window's place, in Chromium too",
	"Emulation.addScreen":                         "a screen of a headless browser, in Chromium too",
	"Emulation.setPrimaryScreen":                  "a screen of a headless browser, in Chromium too",
	"Emulation.setVisibleSize":                    "the view's size, in Chromium too",
	"Network.setCookie":                           "a cookie",
	"Network.setCookies":                          "cookies",
	"Page.setDocumentContent":                     "a document",
	"Page.setFontFamilies":                        "cannot be set again; it lasts in Chromium too",
	"Page.setFontSizes":                           "it lasts in Chromium too",

	"Emulation.setPressureStateOverride":  "goes with setPressureSourceOverrideEnabled",
	"Emulation.setSensorOverrideReadings": "goes with setSensorOverrideEnabled",
	"Input.emulateTouchFromMouseEvent":    "one event",
	"Overlay.setShowHitTestBorders":       "has no effect any more",
	"Overlay.setShowWebVitals":            "has no effect any more",
	"Page.addCompilationCache":            "only spares time",
	"Page.setLifecycleEventsEnabled":      "only tells events",

	"Page.addScriptToEvaluateOnLoad":        "taken back by its identifier (addScript)",
	"Page.addScriptToEvaluateOnNewDocument": "taken back by its identifier (addScript)",

	"Debugger.disable":                  "does not reach the page (disable)",
	"Debugger.disassembleWasmModule":    "reads",
	"Debugger.enable":                   "is on already",
	"Debugger.evaluateOnCallFrame":      "code is the page's",
	"Debugger.getPossibleBreakpoints":   "reads",
	"Debugger.getScriptSource":          "reads",
	"Debugger.getStackTrace":            "reads",
	"Debugger.getWasmBytecode":          "reads",
	"Debugger.nextWasmDisassemblyChunk": "reads",
	"Debugger.searchInContent":          "reads",
	"DOMDebugger.getEventListeners":     "reads",
}

// setsUp are the commands that are looked at: those that may leave something.
var setsUp = regexp.MustCompile(`^((Browser|Emulation|Input|Network|Overlay|Page|Security)\.(set|emulate|override|start|add|grant|configure|highlight|enable.)|(Debugger|DOMDebugger)\.)`)

// TestUndos: of every command of the protocol that could leave something in the
// debugger's session it is known what becomes of it, and every undo is a command
// with parameters that there are.
func TestUndos(t *testing.T) {
	r, err := gzip.NewReader(bytes.NewReader(protocol))
	if err != nil {
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
			}
		}
	}
	if err := json.NewDecoder(r).Decode(&all); err != nil {
		t.Fatal(err)
	}
	parameters := map[string]map[string]bool{} // of each method, whether it has to be given
	for _, d := range all.Domains {
		for _, c := range d.Commands {
			method := d.Domain + "." + c.Name
			parameters[method] = map[string]bool{}
			for _, p := range c.Parameters {
				parameters[method][p.Name] = !p.Optional
			}
			if !setsUp.MatchString(method) {
				continue
			}
			_, undone := undoOf(command{Method: method})
			answers := 0
			for _, known := range []bool{policies[method] != 0, undone, leavesNothing[method] != ""} {
				if known {
					answers++
				}
			}
			if answers != 1 {
				t.Errorf("%s: has a policy: %v, an undo: %v, leaves nothing: %q; want one of them", method, policies[method], undone, leavesNothing[method])
			}
		}
	}
	for method := range leavesNothing {
		if parameters[method] == nil {
			t.Errorf("leavesNothing: the protocol has no %s", method)
		}
	}
	for method := range policies {
		if parameters[method] == nil {
			t.Errorf("policies: the protocol has no %s", method)
		}
	}
	for method, u := range undos {
		if parameters[method] == nil || parameters[u.method] == nil {
			t.Errorf("undos: the protocol has no %s or no %s", method, u.method)
		}
		given := map[string]json.RawMessage{}
		if len(u.params) > 0 {
			if err := json.Unmarshal(u.params, &given); err != nil {
				t.Errorf("%s: %v", method, err)
			}
		}
		if name := apart[method]; name != "" {
			given[name] = nil
		}
		for name, required := range parameters[u.method] {
			if _, ok := given[name]; required && !ok {
				t.Errorf("%s is undone by %s without %s", method, u.method, name)
			}
			delete(given, name)
		}
		if len(given) > 0 {
			t.Errorf("%s is undone by %s, which has no %s", method, u.method, strings.Join(slices.Sorted(maps.Keys(given)), ", "))
		}
	}
}
