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
	"browser-coordinator/policy"
)

// leavesNothing are the commands that look as if they left state in a session of
// the debugger, but need no reset, each with the reason.
var leavesNothing = map[string]string{
	// Chromium does not reset these either when a session ends.
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

	"Animation.setPaused":                          "an act on the page's animations",
	"Animation.setTiming":                          "an act on an animation",
	"Autofill.setAddresses":                        "only what DevTools offers to fill in",
	"BluetoothEmulation.addCharacteristic":         "goes with BluetoothEmulation.disable",
	"BluetoothEmulation.addDescriptor":             "goes with BluetoothEmulation.disable",
	"BluetoothEmulation.addService":                "goes with BluetoothEmulation.disable",
	"BluetoothEmulation.setSimulatedCentralState":  "goes with BluetoothEmulation.disable",
	"CSS.addRule":                                  "an act on the page's styles",
	"CSS.setContainerQueryConditionText":           "an act on the page's styles",
	"CSS.setContainerQueryText":                    "an act on the page's styles",
	"CSS.setEffectivePropertyValueForNode":         "an act on the page's styles",
	"CSS.setKeyframeKey":                           "an act on the page's styles",
	"CSS.setMediaText":                             "an act on the page's styles",
	"CSS.setNavigationText":                        "an act on the page's styles",
	"CSS.setPropertyRulePropertyName":              "an act on the page's styles",
	"CSS.setRuleSelector":                          "an act on the page's styles",
	"CSS.setScopeText":                             "an act on the page's styles",
	"CSS.setStyleSheetText":                        "an act on the page's styles",
	"CSS.setStyleTexts":                            "an act on the page's styles",
	"CSS.setSupportsText":                          "an act on the page's styles",
	"Cast.setSinkToUse":                            "a user's screen",
	"Cast.startDesktopMirroring":                   "a user's screen, until Cast.stopCasting",
	"Cast.startTabMirroring":                       "a user's screen, until Cast.stopCasting",
	"DOM.setAttributeValue":                        "an act on the document",
	"DOM.setAttributesAsText":                      "an act on the document",
	"DOM.setFileInputFiles":                        "an act on the document",
	"DOM.setInspectedNode":                         "only the console's $0",
	"DOM.setNodeName":                              "an act on the document",
	"DOM.setNodeValue":                             "an act on the document",
	"DOM.setOuterHTML":                             "an act on the document",
	"DOMDebugger.getEventListeners":                "reads",
	"DOMStorage.setDOMStorageItem":                 "the site's data",
	"Debugger.disable":                             "does not reach the page (disable)",
	"Debugger.disassembleWasmModule":               "reads",
	"Debugger.enable":                              "is on already",
	"Debugger.evaluateOnCallFrame":                 "code is the page's",
	"Debugger.getPossibleBreakpoints":              "reads",
	"Debugger.getScriptSource":                     "reads",
	"Debugger.getStackTrace":                       "reads",
	"Debugger.getWasmBytecode":                     "reads",
	"Debugger.nextWasmDisassemblyChunk":            "reads",
	"Debugger.searchInContent":                     "reads",
	"Emulation.setPressureStateOverride":           "goes with setPressureSourceOverrideEnabled",
	"Emulation.setSensorOverrideReadings":          "goes with setSensorOverrideEnabled",
	"Extensions.setStorageItems":                   "only a browser's session has it",
	"FindInPage.findNext":                          "goes with findFirst",
	"FindInPage.findPrev":                          "goes with findFirst",
	"HeapProfiler.addInspectedHeapObject":          "only the console's $0",
	"Input.emulateTouchFromMouseEvent":             "one event",
	"Overlay.setShowHitTestBorders":                "has no effect any more",
	"Overlay.setShowWebVitals":                     "has no effect any more",
	"Page.addCompilationCache":                     "only spares time",
	"Page.addScriptToEvaluateOnLoad":               "removed by its identifier (addScript)",
	"Page.addScriptToEvaluateOnNewDocument":        "removed by its identifier (addScript)",
	"Performance.setTimeDomain":                    "has no effect once metrics are collected",
	"ServiceWorker.startWorker":                    "an act on the site",
	"Storage.setCookies":                           "cookies",
	"Storage.setPrivateVerificationTokensTracking": "only a browser's session has it",
	"Target.setAutoAttach":                         "our own",
	"Target.setDiscoverTargets":                    "our own",
	"Target.setRemoteLocations":                    "our own",
	"Tethering.bind":                               "only a browser's session has it",
	"WebAuthn.addCredential":                       "goes with WebAuthn.disable",
	"WebAuthn.addVirtualAuthenticator":             "goes with WebAuthn.disable",
	"WebAuthn.setAutomaticPresenceSimulation":      "goes with WebAuthn.disable",
	"WebAuthn.setCredentialProperties":             "goes with WebAuthn.disable",
	"WebAuthn.setResponseOverrideBits":             "goes with WebAuthn.disable",
	"WebAuthn.setUserVerified":                     "goes with WebAuthn.disable",
}

// setsUp matches the commands to check: those that may leave state.
var setsUp = regexp.MustCompile(`^(\w+\.(set|emulate|override|start|add|grant|configure|highlight|enable.|force|track|find|bind)|(Debugger|DOMDebugger)\.)`)

// endsSomething matches the commands that may end what other clients have begun.
var endsSomething = regexp.MustCompile(`^\w+\.(stop|untrack|hide|reset|end$|clear\w*(Override|Markers))`)

// endsNothing are those of them that do not, each with the reason.
var endsNothing = map[string]string{
	"Cast.stopCasting":             "a user's screen",
	"FedCm.resetCooldown":          "an act on the browser",
	"Page.resetNavigationHistory":  "an act on the page",
	"Page.stopLoading":             "an act on the page",
	"ServiceWorker.stopAllWorkers": "an act on the site",
	"ServiceWorker.stopWorker":     "an act on the site",
}

// denied reports whether the policy denies a command.
func denied(method string) bool {
	return policy.Decide(policy.Actor{Kind: policy.SharedClient}, policy.Command(method, nil)).Outcome == policy.Deny
}

// TestSettings: every command of the protocol that could leave state in the
// debugger's session is classified. Every reset is an existing command with
// existing parameters.
func TestSettings(t *testing.T) {
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
			if endsSomething.MatchString(method) && !ends && endsNothing[method] == "" {
				t.Errorf("%s by one client ends for the others what they have begun", method)
			}
			brings := slices.ContainsFunc(c.Returns, func(r struct{ Optional bool }) bool { return !r.Optional })
			if st, _, ok := settingOf(command{Method: method}); ok && st.reset == method && brings && !st.alone {
				t.Errorf("%s would be answered without what it has to bring", method)
			}
			if !setsUp.MatchString(method) {
				continue
			}
			_, _, leased := settingOf(command{Method: method})
			answers := 0
			for _, known := range []bool{denied(method), leased, leavesNothing[method] != ""} {
				if known {
					answers++
				}
			}
			if answers != 1 {
				t.Errorf("%s: denied: %v, a lease: %v, leaves nothing: %q; want one of them", method, denied(method), leased, leavesNothing[method])
			}
		}
	}
	for method := range leavesNothing {
		if parameters[method] == nil {
			t.Errorf("leavesNothing: the protocol has no %s", method)
		}
	}
	for method := range endsNothing {
		if parameters[method] == nil {
			t.Errorf("endsNothing: the protocol has no %s", method)
		}
	}
	for method, other := range aliases {
		if parameters[method] == nil || parameters[other] == nil {
			t.Errorf("aliases: the protocol has no %s or no %s", method, other)
		}
	}
	for _, method := range policy.Methods() {
		if denied(method) && parameters[method] == nil {
			t.Errorf("policy: the protocol has no %s", method)
		}
	}
	for method, st := range settings {
		if parameters[method] == nil || parameters[st.reset] == nil {
			t.Errorf("settings: the protocol has no %s or no %s", method, st.reset)
		}
		given := map[string]json.RawMessage{}
		if st.with != "" {
			if err := json.Unmarshal(st.params(), &given); err != nil {
				t.Errorf("%s: %v", method, err)
			}
		}
		if st.each != "" {
			given[st.each] = nil
		}
		for name, required := range parameters[st.reset] {
			if _, ok := given[name]; required && !ok {
				t.Errorf("%s is reset by %s without %s", method, st.reset, name)
			}
			delete(given, name)
		}
		if len(given) > 0 {
			t.Errorf("%s is reset by %s, which has no %s", method, st.reset, strings.Join(slices.Sorted(maps.Keys(given)), ", "))
		}
	}
}
