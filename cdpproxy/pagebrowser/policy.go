package pagebrowser

import (
	"strings"

	json "github.com/chromedp/cdproto/cdp/jsonv2"
)

// policy is what becomes of a command to a page whose session is shared with
// the debugger. The zero policy lets it pass.
type policy int

const (
	_ policy = iota
	// absorb: answered as if done. The debugger depends on what it would change.
	absorb
	// refuse: only the debugger can do it. To answer as if done would be a lie
	// that the client acts on.
	refuse
)

// refusal is for commands by which the debugger is driven.
const debuggerRefusal = "the debugger of this window drives this page: set breakpoints, step and resume there. Another client may look, not steer, because it would share the debugger's own session"

// policies are by method, or by domain for all that is not listed.
var policies = map[string]policy{
	// Pauses belong to the debugger.
	"Debugger.continueToLocation":                   refuse,
	"Debugger.pause":                                refuse,
	"Debugger.pauseOnAsyncCall":                     refuse,
	"Debugger.removeBreakpoint":                     refuse,
	"Debugger.restartFrame":                         refuse,
	"Debugger.resume":                               refuse,
	"Debugger.setBreakpoint":                        refuse,
	"Debugger.setBreakpointByUrl":                   refuse,
	"Debugger.setBreakpointOnFunctionCall":          refuse,
	"Debugger.setInstrumentationBreakpoint":         refuse,
	"Debugger.setReturnValue":                       refuse,
	"Debugger.setScriptSource":                      refuse,
	"Debugger.setVariableValue":                     refuse,
	"Debugger.stepInto":                             refuse,
	"Debugger.stepOut":                              refuse,
	"Debugger.stepOver":                             refuse,
	"Debugger.terminateOnResume":                    refuse,
	"DOMDebugger.setBreakOnCSPViolation":            refuse,
	"DOMDebugger.setDOMBreakpoint":                  refuse,
	"DOMDebugger.setEventListenerBreakpoint":        refuse,
	"DOMDebugger.setInstrumentationBreakpoint":      refuse,
	"DOMDebugger.setXHRBreakpoint":                  refuse,
	"EventBreakpoints.setInstrumentationBreakpoint": refuse,

	// Settings of the debugger's own session.
	"Debugger.setAsyncCallStackDepth":                  absorb,
	"Debugger.setBlackboxExecutionContexts":            absorb,
	"Debugger.setBlackboxPatterns":                     absorb,
	"Debugger.setBlackboxedRanges":                     absorb,
	"Debugger.setBreakpointsActive":                    absorb,
	"Debugger.setPauseOnExceptions":                    absorb,
	"Debugger.setSkipAllPauses":                        absorb,
	"DOMDebugger.removeDOMBreakpoint":                  absorb,
	"DOMDebugger.removeEventListenerBreakpoint":        absorb,
	"DOMDebugger.removeInstrumentationBreakpoint":      absorb,
	"DOMDebugger.removeXHRBreakpoint":                  absorb,
	"EventBreakpoints.removeInstrumentationBreakpoint": absorb,
	"Network.setCacheDisabled":                         absorb, // disableNetworkCache of the launch configuration
	"Page.waitForDebugger":                             absorb,
	"Runtime.discardConsoleEntries":                    absorb,
	"Runtime.runIfWaitingForDebugger":                  absorb, // it waits for the debugger to set its breakpoints
	"Runtime.setAsyncCallStackDepth":                   absorb,
	"Runtime.setCustomObjectFormatterEnabled":          absorb,
	"Runtime.setMaxCallStackSizeToCapture":             absorb,
	"ServiceWorker.setForceUpdateOnPageLoad":           absorb,
}

// onceOnly are commands that a session takes once, with what Chromium says to
// the second: an earlier client has done it. Playwright counts a page that
// refuses it as broken.
var onceOnly = map[string]string{
	"Page.setFontFamilies": "can only be set once",
}

// debuggers are the domains that the debugger, or another extension by its
// shared CDP, has turned on for itself: they stay on. What else a client turns
// on is turned off again when the last client has left it.
var debuggers = map[string]bool{
	"CSS": true, "Console": true, "DOM": true, "DOMDebugger": true, "Debugger": true, "EventBreakpoints": true,
	"HeapProfiler": true, "Inspector": true, "Log": true, "Network": true, "Overlay": true, "Page": true,
	"Performance": true, "Profiler": true, "Runtime": true, "ServiceWorker": true,
}

// unasked are the domains with events that come without an enable.
var unasked = map[string]bool{
	"BackgroundService": true, "Browser": true, "Emulation": true, "Input": true, "Inspector": true,
	"Storage": true, "Tethering": true, "Tracing": true,
}

// undo takes back what a command has left in the session, as its end would in a
// session of the client's own.
type undo struct {
	method string
	params json.Value
}

// undos are by the method that they undo.
var undos = map[string]undo{
	"Browser.grantPermissions":                    {"Browser.resetPermissions", nil},
	"Browser.setDownloadBehavior":                 {"Browser.setDownloadBehavior", json.Value(`{"behavior":"default"}`)},
	"Browser.setPermission":                       {"Browser.resetPermissions", nil},
	"Emulation.setAutoDarkModeOverride":           {"Emulation.setAutoDarkModeOverride", nil},
	"Emulation.setAutomationOverride":             {"Emulation.setAutomationOverride", json.Value(`{"enabled":false}`)},
	"Emulation.setCPUThrottlingRate":              {"Emulation.setCPUThrottlingRate", json.Value(`{"rate":1}`)},
	"Emulation.setDefaultBackgroundColorOverride": {"Emulation.setDefaultBackgroundColorOverride", nil},
	"Emulation.setDeviceMetricsOverride":          {"Emulation.clearDeviceMetricsOverride", nil},
	"Emulation.setDocumentCookieDisabled":         {"Emulation.setDocumentCookieDisabled", json.Value(`{"disabled":false}`)},
	"Emulation.setEmitTouchEventsForMouse":        {"Emulation.setEmitTouchEventsForMouse", json.Value(`{"enabled":false}`)},
	"Emulation.setEmulatedMedia":                  {"Emulation.setEmulatedMedia", json.Value(`{"media":"","features":[]}`)},
	"Emulation.setEmulatedVisionDeficiency":       {"Emulation.setEmulatedVisionDeficiency", json.Value(`{"type":"none"}`)},
	"Emulation.setFocusEmulationEnabled":          {"Emulation.setFocusEmulationEnabled", json.Value(`{"enabled":false}`)},
	"Emulation.setGeolocationOverride":            {"Emulation.clearGeolocationOverride", nil},
	"Emulation.setIdleOverride":                   {"Emulation.clearIdleOverride", nil},
	"Emulation.setLocaleOverride":                 {"Emulation.setLocaleOverride", nil},
	"Emulation.setPageScaleFactor":                {"Emulation.resetPageScaleFactor", nil},
	"Emulation.setScriptExecutionDisabled":        {"Emulation.setScriptExecutionDisabled", json.Value(`{"value":false}`)},
	"Emulation.setScrollbarsHidden":               {"Emulation.setScrollbarsHidden", json.Value(`{"hidden":false}`)},
	"Emulation.setTimezoneOverride":               {"Emulation.setTimezoneOverride", json.Value(`{"timezoneId":""}`)},
	"Emulation.setTouchEmulationEnabled":          {"Emulation.setTouchEmulationEnabled", json.Value(`{"enabled":false}`)},
	"Emulation.setUserAgentOverride":              {"Emulation.setUserAgentOverride", json.Value(`{"userAgent":""}`)},
	"Input.setIgnoreInputEvents":                  {"Input.setIgnoreInputEvents", json.Value(`{"ignore":false}`)},
	"Input.setInterceptDrags":                     {"Input.setInterceptDrags", json.Value(`{"enabled":false}`)},
	"Network.emulateNetworkConditions":            {"Network.emulateNetworkConditions", json.Value(`{"offline":false,"latency":0,"downloadThroughput":-1,"uploadThroughput":-1}`)},
	"Network.setBlockedURLs":                      {"Network.setBlockedURLs", json.Value(`{"urls":[]}`)},
	"Network.setBypassServiceWorker":              {"Network.setBypassServiceWorker", json.Value(`{"bypass":false}`)},
	"Network.setExtraHTTPHeaders":                 {"Network.setExtraHTTPHeaders", json.Value(`{"headers":{}}`)},
	"Network.setUserAgentOverride":                {"Network.setUserAgentOverride", json.Value(`{"userAgent":""}`)},
	"Overlay.setInspectMode":                      {"Overlay.setInspectMode", json.Value(`{"mode":"none","highlightConfig":{}}`)},
	"Overlay.highlightNode":                       {"Overlay.hideHighlight", nil},
	"Overlay.highlightQuad":                       {"Overlay.hideHighlight", nil},
	"Overlay.highlightRect":                       {"Overlay.hideHighlight", nil},
	"Overlay.setShowViewportSizeOnResize":         {"Overlay.setShowViewportSizeOnResize", json.Value(`{"show":false}`)},
	"Page.setAdBlockingEnabled":                   {"Page.setAdBlockingEnabled", json.Value(`{"enabled":false}`)},
	"Page.setBypassCSP":                           {"Page.setBypassCSP", json.Value(`{"enabled":false}`)},
	"Page.setInterceptFileChooserDialog":          {"Page.setInterceptFileChooserDialog", json.Value(`{"enabled":false}`)},
	"Page.setPrerenderingAllowed":                 {"Page.setPrerenderingAllowed", json.Value(`{"isAllowed":true}`)},
	"Page.startScreencast":                        {"Page.stopScreencast", nil},
	"Profiler.startPreciseCoverage":               {"Profiler.stopPreciseCoverage", nil},
	"Security.setIgnoreCertificateErrors":         {"Security.setIgnoreCertificateErrors", json.Value(`{"ignore":false}`)},
	"Tracing.start":                               {"Tracing.end", nil},
}

// mayDisable says whether a domain is ours to turn off.
func mayDisable(domain string) bool { return !debuggers[domain] }

// undoOf is what undoes a command when its client leaves.
func undoOf(method string) (undo, bool) {
	if u, ok := undos[method]; ok {
		return u, true
	}
	if domain, name, _ := strings.Cut(method, "."); name == "enable" && mayDisable(domain) {
		return undo{domain + ".disable", nil}, true
	}
	return undo{}, false
}
