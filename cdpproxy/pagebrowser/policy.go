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
	// lasting: refused, since nothing takes it back before the session ends.
	lasting
)

// refusal is for commands by which the debugger is driven.
const debuggerRefusal = "the debugger of this window drives this page: set breakpoints, step and resume there. Another client may look, not steer, because it would share the debugger's own session"

const lastingRefusal = "in the session that the debugger lends nothing could take this back when this client leaves"

// policies are by method.
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
	"Overlay.setPausedInDebuggerMessage":               absorb, // the debugger's banner
	"Page.waitForDebugger":                             absorb,
	"Runtime.discardConsoleEntries":                    absorb,
	"Runtime.runIfWaitingForDebugger":                  absorb, // it waits for the debugger to set its breakpoints
	"Runtime.setAsyncCallStackDepth":                   absorb,
	"Runtime.setCustomObjectFormatterEnabled":          absorb,
	"Runtime.setMaxCallStackSizeToCapture":             absorb,
	"ServiceWorker.setForceUpdateOnPageLoad":           absorb,

	"Emulation.setHardwareConcurrencyOverride": lasting, // it takes no "as it was"
	"Emulation.setVirtualTimePolicy":           lasting, // time stays virtual
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

// key is the same for commands that set up the same thing.
func (u undo) key() string { return u.method + string(u.params) }

// undos are by the method that they undo.
var undos = map[string]undo{
	"Browser.grantPermissions":                           {"Browser.resetPermissions", nil},
	"Browser.setDownloadBehavior":                        {"Browser.setDownloadBehavior", json.Value(`{"behavior":"default"}`)},
	"Browser.setPermission":                              {"Browser.resetPermissions", nil},
	"DeviceOrientation.setDeviceOrientationOverride":     {"DeviceOrientation.clearDeviceOrientationOverride", nil},
	"Emulation.setAutoDarkModeOverride":                  {"Emulation.setAutoDarkModeOverride", nil},
	"Emulation.setAutomationOverride":                    {"Emulation.setAutomationOverride", json.Value(`{"enabled":false}`)},
	"Emulation.setCPUPerformanceOverride":                {"Emulation.setCPUPerformanceOverride", nil},
	"Emulation.setCPUThrottlingRate":                     {"Emulation.setCPUThrottlingRate", json.Value(`{"rate":1}`)},
	"Emulation.setDataSaverOverride":                     {"Emulation.setDataSaverOverride", nil},
	"Emulation.setDefaultBackgroundColorOverride":        {"Emulation.setDefaultBackgroundColorOverride", nil},
	"Emulation.setDeviceMetricsOverride":                 {"Emulation.clearDeviceMetricsOverride", nil},
	"Emulation.setDevicePostureOverride":                 {"Emulation.clearDevicePostureOverride", nil},
	"Emulation.setDisabledImageTypes":                    {"Emulation.setDisabledImageTypes", json.Value(`{"imageTypes":[]}`)},
	"Emulation.setDisplayFeaturesOverride":               {"Emulation.clearDisplayFeaturesOverride", nil},
	"Emulation.setDocumentCookieDisabled":                {"Emulation.setDocumentCookieDisabled", json.Value(`{"disabled":false}`)},
	"Emulation.setEmitTouchEventsForMouse":               {"Emulation.setEmitTouchEventsForMouse", json.Value(`{"enabled":false}`)},
	"Emulation.setEmulatedMedia":                         {"Emulation.setEmulatedMedia", json.Value(`{"media":"","features":[]}`)},
	"Emulation.setEmulatedOSTextScale":                   {"Emulation.setEmulatedOSTextScale", nil},
	"Emulation.setEmulatedVisionDeficiency":              {"Emulation.setEmulatedVisionDeficiency", json.Value(`{"type":"none"}`)},
	"Emulation.setFocusEmulationEnabled":                 {"Emulation.setFocusEmulationEnabled", json.Value(`{"enabled":false}`)},
	"Emulation.setGeolocationOverride":                   {"Emulation.clearGeolocationOverride", nil},
	"Emulation.setIdleOverride":                          {"Emulation.clearIdleOverride", nil},
	"Emulation.setLocaleOverride":                        {"Emulation.setLocaleOverride", nil},
	"Emulation.setNavigatorOverrides":                    {"Emulation.setNavigatorOverrides", json.Value(`{"platform":""}`)},
	"Emulation.setPageScaleFactor":                       {"Emulation.resetPageScaleFactor", nil},
	"Emulation.setPressureSourceOverrideEnabled":         {"Emulation.setPressureSourceOverrideEnabled", json.Value(`{"enabled":false}`)},
	"Emulation.setSafeAreaInsetsOverride":                {"Emulation.setSafeAreaInsetsOverride", json.Value(`{"insets":{}}`)},
	"Emulation.setScriptExecutionDisabled":               {"Emulation.setScriptExecutionDisabled", json.Value(`{"value":false}`)},
	"Emulation.setScrollbarsHidden":                      {"Emulation.setScrollbarsHidden", json.Value(`{"hidden":false}`)},
	"Emulation.setSensorOverrideEnabled":                 {"Emulation.setSensorOverrideEnabled", json.Value(`{"enabled":false}`)},
	"Emulation.setSmallViewportHeightDifferenceOverride": {"Emulation.setSmallViewportHeightDifferenceOverride", json.Value(`{"difference":0}`)},
	"Emulation.setTimezoneOverride":                      {"Emulation.setTimezoneOverride", json.Value(`{"timezoneId":""}`)},
	"Emulation.setTouchEmulationEnabled":                 {"Emulation.setTouchEmulationEnabled", json.Value(`{"enabled":false}`)},
	"Emulation.setUserAgentOverride":                     {"Emulation.setUserAgentOverride", json.Value(`{"userAgent":""}`)},
	"Emulation.setVirtualKeyboardGeometryOverride":       {"Emulation.setVirtualKeyboardGeometryOverride", nil},
	"Input.setIgnoreInputEvents":                         {"Input.setIgnoreInputEvents", json.Value(`{"ignore":false}`)},
	"Input.setInterceptDrags":                            {"Input.setInterceptDrags", json.Value(`{"enabled":false}`)},
	"Network.configureDurableMessages":                   {"Network.configureDurableMessages", nil},
	"Network.emulateNetworkConditions":                   {"Network.emulateNetworkConditions", json.Value(`{"offline":false,"latency":0,"downloadThroughput":-1,"uploadThroughput":-1}`)},
	"Network.emulateNetworkConditionsByRule":             {"Network.emulateNetworkConditionsByRule", json.Value(`{"offline":false,"matchedNetworkConditions":[]}`)},
	"Network.enableDeviceBoundSessions":                  {"Network.enableDeviceBoundSessions", json.Value(`{"enable":false}`)},
	"Network.enableReportingApi":                         {"Network.enableReportingApi", json.Value(`{"enable":false}`)},
	"Network.overrideNetworkState":                       {"Network.overrideNetworkState", json.Value(`{"offline":false,"latency":0,"downloadThroughput":-1,"uploadThroughput":-1}`)},
	"Network.setAttachDebugStack":                        {"Network.setAttachDebugStack", json.Value(`{"enabled":false}`)},
	"Network.setBlockedURLs":                             {"Network.setBlockedURLs", json.Value(`{"urls":[]}`)},
	"Network.setBypassServiceWorker":                     {"Network.setBypassServiceWorker", json.Value(`{"bypass":false}`)},
	"Network.setCookieControls":                          {"Network.setCookieControls", json.Value(`{"enableThirdPartyCookieRestriction":false}`)},
	"Network.setExtraHTTPHeaders":                        {"Network.setExtraHTTPHeaders", json.Value(`{"headers":{}}`)},
	"Network.setUserAgentOverride":                       {"Emulation.setUserAgentOverride", json.Value(`{"userAgent":""}`)},
	"Overlay.highlightFrame":                             {"Overlay.hideHighlight", nil},
	"Overlay.highlightNode":                              {"Overlay.hideHighlight", nil},
	"Overlay.highlightQuad":                              {"Overlay.hideHighlight", nil},
	"Overlay.highlightRect":                              {"Overlay.hideHighlight", nil},
	"Overlay.highlightSourceOrder":                       {"Overlay.hideHighlight", nil},
	"Overlay.setInspectMode":                             {"Overlay.setInspectMode", json.Value(`{"mode":"none","highlightConfig":{}}`)},
	"Overlay.setShowAdHighlights":                        {"Overlay.setShowAdHighlights", json.Value(`{"show":false}`)},
	"Overlay.setShowContainerQueryOverlays":              {"Overlay.setShowContainerQueryOverlays", json.Value(`{"containerQueryHighlightConfigs":[]}`)},
	"Overlay.setShowDebugBorders":                        {"Overlay.setShowDebugBorders", json.Value(`{"show":false}`)},
	"Overlay.setShowDisplayCutout":                       {"Overlay.setShowDisplayCutout", nil},
	"Overlay.setShowFPSCounter":                          {"Overlay.setShowFPSCounter", json.Value(`{"show":false}`)},
	"Overlay.setShowFlexOverlays":                        {"Overlay.setShowFlexOverlays", json.Value(`{"flexNodeHighlightConfigs":[]}`)},
	"Overlay.setShowGridOverlays":                        {"Overlay.setShowGridOverlays", json.Value(`{"gridNodeHighlightConfigs":[]}`)},
	"Overlay.setShowHinge":                               {"Overlay.setShowHinge", nil},
	"Overlay.setShowInspectedElementAnchor":              {"Overlay.setShowInspectedElementAnchor", json.Value(`{"inspectedElementAnchorConfig":{}}`)},
	"Overlay.setShowIsolatedElements":                    {"Overlay.setShowIsolatedElements", json.Value(`{"isolatedElementHighlightConfigs":[]}`)},
	"Overlay.setShowLayoutShiftRegions":                  {"Overlay.setShowLayoutShiftRegions", json.Value(`{"result":false}`)},
	"Overlay.setShowPaintRects":                          {"Overlay.setShowPaintRects", json.Value(`{"result":false}`)},
	"Overlay.setShowScrollBottleneckRects":               {"Overlay.setShowScrollBottleneckRects", json.Value(`{"show":false}`)},
	"Overlay.setShowScrollSnapOverlays":                  {"Overlay.setShowScrollSnapOverlays", json.Value(`{"scrollSnapHighlightConfigs":[]}`)},
	"Overlay.setShowViewportSizeOnResize":                {"Overlay.setShowViewportSizeOnResize", json.Value(`{"show":false}`)},
	"Overlay.setShowWindowControlsOverlay":               {"Overlay.setShowWindowControlsOverlay", nil},
	"Page.setAdBlockingEnabled":                          {"Page.setAdBlockingEnabled", json.Value(`{"enabled":false}`)},
	"Page.setBypassCSP":                                  {"Page.setBypassCSP", json.Value(`{"enabled":false}`)},
	"Page.setDeviceMetricsOverride":                      {"Emulation.clearDeviceMetricsOverride", nil},
	"Page.setDeviceOrientationOverride":                  {"DeviceOrientation.clearDeviceOrientationOverride", nil},
	"Page.setDownloadBehavior":                           {"Page.setDownloadBehavior", json.Value(`{"behavior":"default"}`)},
	"Page.setGeolocationOverride":                        {"Emulation.clearGeolocationOverride", nil},
	"Page.setInterceptFileChooserDialog":                 {"Page.setInterceptFileChooserDialog", json.Value(`{"enabled":false}`)},
	"Page.setPrerenderingAllowed":                        {"Page.setPrerenderingAllowed", json.Value(`{"isAllowed":true}`)},
	"Page.setRPHRegistrationMode":                        {"Page.setRPHRegistrationMode", json.Value(`{"mode":"none"}`)},
	"Page.setSPCTransactionMode":                         {"Page.setSPCTransactionMode", json.Value(`{"mode":"none"}`)},
	"Page.setTouchEmulationEnabled":                      {"Emulation.setTouchEmulationEnabled", json.Value(`{"enabled":false}`)},
	"Page.setWebLifecycleState":                          {"Page.setWebLifecycleState", json.Value(`{"state":"active"}`)},
	"Page.startScreenRecording":                          {"Page.stopScreenRecording", nil},
	"Page.startScreencast":                               {"Page.stopScreencast", nil},
	"Profiler.startPreciseCoverage":                      {"Profiler.stopPreciseCoverage", nil},
	"Security.setIgnoreCertificateErrors":                {"Security.setIgnoreCertificateErrors", json.Value(`{"ignore":false}`)},
	"Security.setOverrideCertificateErrors":              {"Security.setOverrideCertificateErrors", json.Value(`{"override":false}`)},
	"Storage.overrideQuotaForOrigin":                     {"Storage.overrideQuotaForOrigin", nil},
	"Tracing.start":                                      {"Tracing.end", nil},
}

// apart names the parameter by which a command sets up several things, each of
// which is taken back by itself.
var apart = map[string]string{
	"Emulation.setPressureSourceOverrideEnabled": "source",
	"Emulation.setSensorOverrideEnabled":         "type",
	"Storage.overrideQuotaForOrigin":             "origin",
}

// mayDisable says whether a domain is ours to turn off.
func mayDisable(domain string) bool { return !debuggers[domain] }

// undoOf is what undoes a command when its client leaves.
func undoOf(m command) (undo, bool) {
	if u, ok := undos[m.Method]; ok {
		if name := apart[m.Method]; name != "" {
			u.params = with(u.params, name, m.Params)
		}
		return u, true
	}
	if domain, name, _ := strings.Cut(m.Method, "."); name == "enable" && mayDisable(domain) {
		return undo{domain + ".disable", nil}, true
	}
	return undo{}, false
}

// with adds one parameter of a command to those of its undo.
func with(params json.Value, name string, command json.Value) json.Value {
	var theirs map[string]json.Value
	if decode(command, &theirs) != nil || theirs[name] == nil {
		return params // the page refuses such a command
	}
	b := append(append(append(json.Value(`{"`), name...), `":`...), theirs[name]...)
	if len(params) == 0 {
		return append(b, '}')
	}
	return append(append(b, ','), params[1:]...)
}
