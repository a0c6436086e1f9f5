package pagebrowser

import (
	"reflect"
	"strings"

	json "github.com/chromedp/cdproto/cdp/jsonv2"
)

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
	"Animation.setPlaybackRate":                          {"Animation.setPlaybackRate", json.Value(`{"playbackRate":1}`)},
	"BackgroundService.setRecording":                     {"BackgroundService.setRecording", json.Value(`{"shouldRecord":false}`)},
	"BackgroundService.startObserving":                   {"BackgroundService.stopObserving", nil},
	"Browser.grantPermissions":                           {"Browser.resetPermissions", nil},
	"Browser.setDownloadBehavior":                        {"Browser.setDownloadBehavior", json.Value(`{"behavior":"default"}`)},
	"Browser.setPermission":                              {"Browser.resetPermissions", nil},
	"CSS.forcePseudoState":                               {"CSS.forcePseudoState", json.Value(`{"forcedPseudoClasses":[]}`)},
	"CSS.forceStartingStyle":                             {"CSS.forceStartingStyle", json.Value(`{"forced":false}`)},
	"CSS.setLocalFontsEnabled":                           {"CSS.setLocalFontsEnabled", json.Value(`{"enabled":true}`)},
	"CSS.startRuleUsageTracking":                         {"CSS.stopRuleUsageTracking", nil},
	"CSS.trackComputedStyleUpdates":                      {"CSS.trackComputedStyleUpdates", json.Value(`{"propertiesToTrack":[]}`)},
	"CSS.trackComputedStyleUpdatesForNode":               {"CSS.trackComputedStyleUpdatesForNode", nil},
	"DOM.forceShowInterest":                              {"DOM.forceShowInterest", json.Value(`{"enable":false}`)},
	"DOM.forceShowPopover":                               {"DOM.forceShowPopover", json.Value(`{"enable":false}`)},
	"DOM.setNodeStackTracesEnabled":                      {"DOM.setNodeStackTracesEnabled", json.Value(`{"enable":false}`)},
	"DOM.setTextMarker":                                  {"DOM.clearTextMarkers", nil},
	"DeviceOrientation.setDeviceOrientationOverride":     {"DeviceOrientation.clearDeviceOrientationOverride", nil},
	"DigitalCredentials.setVirtualWalletBehavior":        {"DigitalCredentials.setVirtualWalletBehavior", json.Value(`{"action":"clear"}`)},
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
	"FindInPage.findFirst":                               {"FindInPage.stop", nil},
	"HeapProfiler.startSampling":                         {"HeapProfiler.stopSampling", nil},
	"HeapProfiler.startTrackingHeapObjects":              {"HeapProfiler.stopTrackingHeapObjects", nil},
	"Input.setIgnoreInputEvents":                         {"Input.setIgnoreInputEvents", json.Value(`{"ignore":false}`)},
	"Input.setInterceptDrags":                            {"Input.setInterceptDrags", json.Value(`{"enabled":false}`)},
	"Log.startViolationsReport":                          {"Log.stopViolationsReport", nil},
	"Memory.setPressureNotificationsSuppressed":          {"Memory.setPressureNotificationsSuppressed", json.Value(`{"suppressed":false}`)},
	"Memory.startSampling":                               {"Memory.stopSampling", nil},
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
	"Page.setDownloadBehavior":                           {"Page.setDownloadBehavior", json.Value(`{"behavior":"default"}`)},
	"Page.setInterceptFileChooserDialog":                 {"Page.setInterceptFileChooserDialog", json.Value(`{"enabled":false}`)},
	"Page.setLifecycleEventsEnabled":                     {"Page.setLifecycleEventsEnabled", json.Value(`{"enabled":false}`)},
	"Page.setPrerenderingAllowed":                        {"Page.setPrerenderingAllowed", json.Value(`{"isAllowed":true}`)},
	"Page.setRPHRegistrationMode":                        {"Page.setRPHRegistrationMode", json.Value(`{"mode":"none"}`)},
	"Page.setSPCTransactionMode":                         {"Page.setSPCTransactionMode", json.Value(`{"mode":"none"}`)},
	"Page.setWebLifecycleState":                          {"Page.setWebLifecycleState", json.Value(`{"state":"active"}`)},
	"Page.startScreenRecording":                          {"Page.stopScreenRecording", nil},
	"Page.startScreencast":                               {"Page.stopScreencast", nil},
	"PerformanceTimeline.enable":                         {"PerformanceTimeline.enable", json.Value(`{"eventTypes":[]}`)},
	"Profiler.setSamplingInterval":                       {"Profiler.setSamplingInterval", json.Value(`{"interval":0}`)},
	"Profiler.start":                                     {"Profiler.stop", nil},
	"Profiler.startPreciseCoverage":                      {"Profiler.stopPreciseCoverage", nil},
	"Security.setIgnoreCertificateErrors":                {"Security.setIgnoreCertificateErrors", json.Value(`{"ignore":false}`)},
	"Security.setOverrideCertificateErrors":              {"Security.setOverrideCertificateErrors", json.Value(`{"override":false}`)},
	"Storage.overrideQuotaForOrigin":                     {"Storage.overrideQuotaForOrigin", nil},
	"Storage.setStorageBucketTracking":                   {"Storage.setStorageBucketTracking", json.Value(`{"enable":false}`)},
	"Storage.trackCacheStorageForOrigin":                 {"Storage.untrackCacheStorageForOrigin", nil},
	"Storage.trackCacheStorageForStorageKey":             {"Storage.untrackCacheStorageForStorageKey", nil},
	"Storage.trackIndexedDBForOrigin":                    {"Storage.untrackIndexedDBForOrigin", nil},
	"Storage.trackIndexedDBForStorageKey":                {"Storage.untrackIndexedDBForStorageKey", nil},
	"Tracing.start":                                      {"Tracing.end", nil},
}

// apart names the parameter by which a command sets up several things, each of
// which is taken back by itself.
var apart = map[string]string{
	"BackgroundService.setRecording":              "service",
	"BackgroundService.startObserving":            "service",
	"BackgroundService.stopObserving":             "service",
	"CSS.forcePseudoState":                        "nodeId",
	"CSS.forceStartingStyle":                      "nodeId",
	"DOM.forceShowInterest":                       "nodeId",
	"DOM.forceShowPopover":                        "nodeId",
	"DigitalCredentials.setVirtualWalletBehavior": "frameId",
	"Emulation.setPressureSourceOverrideEnabled":  "source",
	"Emulation.setSensorOverrideEnabled":          "type",
	"Storage.overrideQuotaForOrigin":              "origin",
	"Storage.setStorageBucketTracking":            "storageKey",
	"Storage.trackCacheStorageForOrigin":          "origin",
	"Storage.trackCacheStorageForStorageKey":      "storageKey",
	"Storage.trackIndexedDBForOrigin":             "origin",
	"Storage.trackIndexedDBForStorageKey":         "storageKey",
	"Storage.untrackCacheStorageForOrigin":        "origin",
	"Storage.untrackCacheStorageForStorageKey":    "storageKey",
	"Storage.untrackIndexedDBForOrigin":           "origin",
	"Storage.untrackIndexedDBForStorageKey":       "storageKey",
}

// aliases are commands that do what another one does.
var aliases = map[string]string{
	"DOM.hideHighlight":                   "Overlay.hideHighlight",
	"DOM.highlightNode":                   "Overlay.highlightNode",
	"DOM.highlightRect":                   "Overlay.highlightRect",
	"Network.setUserAgentOverride":        "Emulation.setUserAgentOverride",
	"Page.clearDeviceMetricsOverride":     "Emulation.clearDeviceMetricsOverride",
	"Page.clearDeviceOrientationOverride": "DeviceOrientation.clearDeviceOrientationOverride",
	"Page.clearGeolocationOverride":       "Emulation.clearGeolocationOverride",
	"Page.setDeviceMetricsOverride":       "Emulation.setDeviceMetricsOverride",
	"Page.setDeviceOrientationOverride":   "DeviceOrientation.setDeviceOrientationOverride",
	"Page.setGeolocationOverride":         "Emulation.setGeolocationOverride",
	"Page.setTouchEmulationEnabled":       "Emulation.setTouchEmulationEnabled",
}

// plain is a command by the name that the tables know.
func plain(method string) string {
	if other, ok := aliases[method]; ok {
		return other
	}
	return method
}

// enders are the commands that take back others, and set up nothing themselves.
var enders = func() map[string]bool {
	all := map[string]bool{}
	for method, u := range undos {
		if u.method != method {
			all[u.method] = true
		}
	}
	return all
}()

// collecting are the commands that end something and bring what came of it: none
// is answered as if done.
var collecting = map[string]bool{
	"CSS.stopRuleUsageTracking":              true,
	"DOM.forceShowPopover":                   true,
	"HeapProfiler.stopSampling":              true,
	"HeapProfiler.stopTrackingHeapObjects":   true,
	"Network.emulateNetworkConditionsByRule": true,
	"Page.stopScreenRecording":               true,
	"Profiler.stop":                          true,
	"Tracing.end":                            true,
}

// forWhoAsked are events that come to those who have given the command, beside
// their domain's enable.
var forWhoAsked = map[string]string{
	"Overlay.inspectModeCanceled":      "Overlay.setInspectMode",
	"Overlay.inspectNodeRequested":     "Overlay.setInspectMode",
	"Overlay.screenshotRequested":      "Overlay.setInspectMode",
	"Page.lifecycleEvent":              "Page.setLifecycleEventsEnabled",
	"Page.screencastFrame":             "Page.startScreencast",
	"Page.screencastVisibilityChanged": "Page.startScreencast",
}

// mayDisable says whether a domain is ours to turn off.
func mayDisable(domain string) bool { return !debuggers[domain] }

// undoOf is what undoes a command when its client leaves.
func undoOf(m command) (undo, bool) {
	method := plain(m.Method)
	if u, ok := undos[method]; ok {
		return u.of(method, m.Params), true
	}
	if domain, name, _ := strings.Cut(method, "."); name == "enable" && mayDisable(domain) {
		return undo{domain + ".disable", nil}, true
	}
	return undo{}, false
}

// takesBack is the undo that a command is itself, if it is one: a client's word
// that something of its own is over.
func takesBack(m command) (undo, bool) {
	method := plain(m.Method)
	if u, ok := undos[method]; ok && u.method == method {
		return u.of(method, m.Params), says(m.Params, u.params)
	}
	domain, name, _ := strings.Cut(method, ".")
	return undo{method: method}.of(method, m.Params), enders[method] || name == "disable" && mayDisable(domain)
}

// of is the undo of the one thing, of several, that a command is about.
func (u undo) of(method string, params json.Value) undo {
	if name := apart[method]; name != "" {
		u.params = with(u.params, name, params)
	}
	return u
}

// says reports whether parameters say what those of an undo say. They may say
// more.
func says(params, undo json.Value) bool {
	var theirs, ours map[string]any
	if decode(params, &theirs) != nil || decode(undo, &ours) != nil {
		return false
	}
	for name, value := range ours {
		// How it would highlight is nothing to a mode that does not.
		if name != "highlightConfig" && !reflect.DeepEqual(theirs[name], value) {
			return false
		}
	}
	return len(ours) > 0 || len(theirs) == 0
}

// alike reports whether two commands set up the same.
func alike(a, b command) bool {
	var one, other any
	return plain(a.Method) == plain(b.Method) && decode(a.Params, &one) == nil && decode(b.Params, &other) == nil && reflect.DeepEqual(one, other)
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
