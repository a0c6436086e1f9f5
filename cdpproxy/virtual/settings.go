package virtual

import (
	"reflect"
	"strings"

	json "github.com/chromedp/cdproto/cdp/jsonv2"
)

// setting is state that a session of a page has once, for all its clients. A client
// that changes it has a lease on it (lease.go).
type setting struct {
	reset string // the command that resets it
	with  string // the parameters of reset
	each  string // the parameter that tells several settings of this kind apart
	alone bool   // only one session may hold it, even if others want the same value
	any   bool   // clients share it whatever their parameters
}

func (st setting) key() string { return st.reset + st.with }

func (st setting) params() json.Value { return json.Value(st.with) }

// settings are by the method that changes them.
var settings = map[string]setting{
	"Animation.setPlaybackRate":                          {reset: "Animation.setPlaybackRate", with: `{"playbackRate":1}`},
	"BackgroundService.setRecording":                     {reset: "BackgroundService.setRecording", with: `{"shouldRecord":false}`, each: "service"},
	"BackgroundService.startObserving":                   {reset: "BackgroundService.stopObserving", each: "service"},
	"Browser.grantPermissions":                           {reset: "Browser.resetPermissions"},
	"Browser.setDownloadBehavior":                        {reset: "Browser.setDownloadBehavior", with: `{"behavior":"default"}`},
	"Browser.setPermission":                              {reset: "Browser.resetPermissions"},
	"CSS.forcePseudoState":                               {reset: "CSS.forcePseudoState", with: `{"forcedPseudoClasses":[]}`, each: "nodeId"},
	"CSS.forceStartingStyle":                             {reset: "CSS.forceStartingStyle", with: `{"forced":false}`, each: "nodeId"},
	"CSS.setLocalFontsEnabled":                           {reset: "CSS.setLocalFontsEnabled", with: `{"enabled":true}`},
	"CSS.startRuleUsageTracking":                         {reset: "CSS.stopRuleUsageTracking", alone: true},
	"CSS.trackComputedStyleUpdates":                      {reset: "CSS.trackComputedStyleUpdates", with: `{"propertiesToTrack":[]}`},
	"CSS.trackComputedStyleUpdatesForNode":               {reset: "CSS.trackComputedStyleUpdatesForNode"},
	"DOM.forceShowInterest":                              {reset: "DOM.forceShowInterest", with: `{"enable":false}`, each: "nodeId"},
	"DOM.forceShowPopover":                               {reset: "DOM.forceShowPopover", with: `{"enable":false}`, each: "nodeId", alone: true},
	"DOM.setNodeStackTracesEnabled":                      {reset: "DOM.setNodeStackTracesEnabled", with: `{"enable":false}`},
	"DOM.setTextMarker":                                  {reset: "DOM.clearTextMarkers"},
	"DeviceOrientation.setDeviceOrientationOverride":     {reset: "DeviceOrientation.clearDeviceOrientationOverride"},
	"DigitalCredentials.setVirtualWalletBehavior":        {reset: "DigitalCredentials.setVirtualWalletBehavior", with: `{"action":"clear"}`, each: "frameId"},
	"Emulation.setAutoDarkModeOverride":                  {reset: "Emulation.setAutoDarkModeOverride"},
	"Emulation.setAutomationOverride":                    {reset: "Emulation.setAutomationOverride", with: `{"enabled":false}`},
	"Emulation.setCPUPerformanceOverride":                {reset: "Emulation.setCPUPerformanceOverride"},
	"Emulation.setCPUThrottlingRate":                     {reset: "Emulation.setCPUThrottlingRate", with: `{"rate":1}`},
	"Emulation.setDataSaverOverride":                     {reset: "Emulation.setDataSaverOverride"},
	"Emulation.setDefaultBackgroundColorOverride":        {reset: "Emulation.setDefaultBackgroundColorOverride"},
	"Emulation.setDeviceMetricsOverride":                 {reset: "Emulation.clearDeviceMetricsOverride"},
	"Emulation.setDevicePostureOverride":                 {reset: "Emulation.clearDevicePostureOverride"},
	"Emulation.setDisabledImageTypes":                    {reset: "Emulation.setDisabledImageTypes", with: `{"imageTypes":[]}`},
	"Emulation.setDisplayFeaturesOverride":               {reset: "Emulation.clearDisplayFeaturesOverride"},
	"Emulation.setDocumentCookieDisabled":                {reset: "Emulation.setDocumentCookieDisabled", with: `{"disabled":false}`},
	"Emulation.setEmitTouchEventsForMouse":               {reset: "Emulation.setEmitTouchEventsForMouse", with: `{"enabled":false}`},
	"Emulation.setEmulatedMedia":                         {reset: "Emulation.setEmulatedMedia", with: `{"media":"","features":[]}`},
	"Emulation.setEmulatedOSTextScale":                   {reset: "Emulation.setEmulatedOSTextScale"},
	"Emulation.setEmulatedVisionDeficiency":              {reset: "Emulation.setEmulatedVisionDeficiency", with: `{"type":"none"}`},
	"Emulation.setFocusEmulationEnabled":                 {reset: "Emulation.setFocusEmulationEnabled", with: `{"enabled":false}`},
	"Emulation.setGeolocationOverride":                   {reset: "Emulation.clearGeolocationOverride"},
	"Emulation.setIdleOverride":                          {reset: "Emulation.clearIdleOverride"},
	"Emulation.setLocaleOverride":                        {reset: "Emulation.setLocaleOverride"},
	"Emulation.setNavigatorOverrides":                    {reset: "Emulation.setNavigatorOverrides", with: `{"platform":""}`},
	"Emulation.setPageScaleFactor":                       {reset: "Emulation.resetPageScaleFactor"},
	"Emulation.setPressureSourceOverrideEnabled":         {reset: "Emulation.setPressureSourceOverrideEnabled", with: `{"enabled":false}`, each: "source"},
	"Emulation.setSafeAreaInsetsOverride":                {reset: "Emulation.setSafeAreaInsetsOverride", with: `{"insets":{}}`},
	"Emulation.setScriptExecutionDisabled":               {reset: "Emulation.setScriptExecutionDisabled", with: `{"value":false}`},
	"Emulation.setScrollbarsHidden":                      {reset: "Emulation.setScrollbarsHidden", with: `{"hidden":false}`},
	"Emulation.setSensorOverrideEnabled":                 {reset: "Emulation.setSensorOverrideEnabled", with: `{"enabled":false}`, each: "type"},
	"Emulation.setSmallViewportHeightDifferenceOverride": {reset: "Emulation.setSmallViewportHeightDifferenceOverride", with: `{"difference":0}`},
	"Emulation.setTimezoneOverride":                      {reset: "Emulation.setTimezoneOverride", with: `{"timezoneId":""}`},
	"Emulation.setTouchEmulationEnabled":                 {reset: "Emulation.setTouchEmulationEnabled", with: `{"enabled":false}`},
	"Emulation.setUserAgentOverride":                     {reset: "Emulation.setUserAgentOverride", with: `{"userAgent":"","acceptLanguage":""}`},
	"Emulation.setVirtualKeyboardGeometryOverride":       {reset: "Emulation.setVirtualKeyboardGeometryOverride"},
	"Fetch.enable":                                       {reset: "Fetch.disable", alone: true},
	"FindInPage.findFirst":                               {reset: "FindInPage.stop"},
	"HeapProfiler.startSampling":                         {reset: "HeapProfiler.stopSampling", alone: true},
	"HeapProfiler.startTrackingHeapObjects":              {reset: "HeapProfiler.stopTrackingHeapObjects", alone: true},
	"Input.setIgnoreInputEvents":                         {reset: "Input.setIgnoreInputEvents", with: `{"ignore":false}`},
	"Input.setInterceptDrags":                            {reset: "Input.setInterceptDrags", with: `{"enabled":false}`},
	"Log.startViolationsReport":                          {reset: "Log.stopViolationsReport"},
	"Memory.setPressureNotificationsSuppressed":          {reset: "Memory.setPressureNotificationsSuppressed", with: `{"suppressed":false}`},
	"Memory.startSampling":                               {reset: "Memory.stopSampling"},
	"Network.configureDurableMessages":                   {reset: "Network.configureDurableMessages"},
	"Network.emulateNetworkConditions":                   {reset: "Network.emulateNetworkConditions", with: `{"offline":false,"latency":0,"downloadThroughput":-1,"uploadThroughput":-1}`},
	"Network.emulateNetworkConditionsByRule":             {reset: "Network.emulateNetworkConditionsByRule", with: `{"offline":false,"matchedNetworkConditions":[]}`, alone: true},
	"Network.enableDeviceBoundSessions":                  {reset: "Network.enableDeviceBoundSessions", with: `{"enable":false}`},
	"Network.enableReportingApi":                         {reset: "Network.enableReportingApi", with: `{"enable":false}`},
	"Network.overrideNetworkState":                       {reset: "Network.overrideNetworkState", with: `{"offline":false,"latency":0,"downloadThroughput":-1,"uploadThroughput":-1}`},
	"Network.setAttachDebugStack":                        {reset: "Network.setAttachDebugStack", with: `{"enabled":false}`},
	"Network.setBlockedURLs":                             {reset: "Network.setBlockedURLs", with: `{"urls":[]}`},
	"Network.setBypassServiceWorker":                     {reset: "Network.setBypassServiceWorker", with: `{"bypass":false}`},
	"Network.setCookieControls":                          {reset: "Network.setCookieControls", with: `{"enableThirdPartyCookieRestriction":false}`},
	"Network.setExtraHTTPHeaders":                        {reset: "Network.setExtraHTTPHeaders", with: `{"headers":{}}`},
	"Overlay.highlightFrame":                             {reset: "Overlay.hideHighlight"},
	"Overlay.highlightNode":                              {reset: "Overlay.hideHighlight"},
	"Overlay.highlightQuad":                              {reset: "Overlay.hideHighlight"},
	"Overlay.highlightRect":                              {reset: "Overlay.hideHighlight"},
	"Overlay.highlightSourceOrder":                       {reset: "Overlay.hideHighlight"},
	"Overlay.setInspectMode":                             {reset: "Overlay.setInspectMode", with: `{"mode":"none","highlightConfig":{}}`},
	"Overlay.setShowAdHighlights":                        {reset: "Overlay.setShowAdHighlights", with: `{"show":false}`},
	"Overlay.setShowContainerQueryOverlays":              {reset: "Overlay.setShowContainerQueryOverlays", with: `{"containerQueryHighlightConfigs":[]}`},
	"Overlay.setShowDebugBorders":                        {reset: "Overlay.setShowDebugBorders", with: `{"show":false}`},
	"Overlay.setShowDisplayCutout":                       {reset: "Overlay.setShowDisplayCutout"},
	"Overlay.setShowFPSCounter":                          {reset: "Overlay.setShowFPSCounter", with: `{"show":false}`},
	"Overlay.setShowFlexOverlays":                        {reset: "Overlay.setShowFlexOverlays", with: `{"flexNodeHighlightConfigs":[]}`},
	"Overlay.setShowGridOverlays":                        {reset: "Overlay.setShowGridOverlays", with: `{"gridNodeHighlightConfigs":[]}`},
	"Overlay.setShowHinge":                               {reset: "Overlay.setShowHinge"},
	"Overlay.setShowInspectedElementAnchor":              {reset: "Overlay.setShowInspectedElementAnchor", with: `{"inspectedElementAnchorConfig":{}}`},
	"Overlay.setShowIsolatedElements":                    {reset: "Overlay.setShowIsolatedElements", with: `{"isolatedElementHighlightConfigs":[]}`},
	"Overlay.setShowLayoutShiftRegions":                  {reset: "Overlay.setShowLayoutShiftRegions", with: `{"result":false}`},
	"Overlay.setShowPaintRects":                          {reset: "Overlay.setShowPaintRects", with: `{"result":false}`},
	"Overlay.setShowScrollBottleneckRects":               {reset: "Overlay.setShowScrollBottleneckRects", with: `{"show":false}`},
	"Overlay.setShowScrollSnapOverlays":                  {reset: "Overlay.setShowScrollSnapOverlays", with: `{"scrollSnapHighlightConfigs":[]}`},
	"Overlay.setShowViewportSizeOnResize":                {reset: "Overlay.setShowViewportSizeOnResize", with: `{"show":false}`},
	"Overlay.setShowWindowControlsOverlay":               {reset: "Overlay.setShowWindowControlsOverlay"},
	"Page.setAdBlockingEnabled":                          {reset: "Page.setAdBlockingEnabled", with: `{"enabled":false}`},
	"Page.setBypassCSP":                                  {reset: "Page.setBypassCSP", with: `{"enabled":false}`},
	"Page.setDownloadBehavior":                           {reset: "Page.setDownloadBehavior", with: `{"behavior":"default"}`},
	"Page.setInterceptFileChooserDialog":                 {reset: "Page.setInterceptFileChooserDialog", with: `{"enabled":false}`},
	"Page.setLifecycleEventsEnabled":                     {reset: "Page.setLifecycleEventsEnabled", with: `{"enabled":false}`},
	"Page.setPrerenderingAllowed":                        {reset: "Page.setPrerenderingAllowed", with: `{"isAllowed":true}`},
	"Page.setRPHRegistrationMode":                        {reset: "Page.setRPHRegistrationMode", with: `{"mode":"none"}`},
	"Page.setSPCTransactionMode":                         {reset: "Page.setSPCTransactionMode", with: `{"mode":"none"}`},
	"Page.setWebLifecycleState":                          {reset: "Page.setWebLifecycleState", with: `{"state":"active"}`},
	"Page.startScreenRecording":                          {reset: "Page.stopScreenRecording", alone: true},
	"Page.startScreencast":                               {reset: "Page.stopScreencast"},
	"PerformanceTimeline.enable":                         {reset: "PerformanceTimeline.enable", with: `{"eventTypes":[]}`},
	"Profiler.setSamplingInterval":                       {reset: "Profiler.setSamplingInterval", with: `{"interval":0}`},
	"Profiler.start":                                     {reset: "Profiler.stop", alone: true},
	"Profiler.startPreciseCoverage":                      {reset: "Profiler.stopPreciseCoverage", alone: true},
	"Runtime.addBinding":                                 {reset: "Runtime.removeBinding", each: "name", any: true},
	"Security.setIgnoreCertificateErrors":                {reset: "Security.setIgnoreCertificateErrors", with: `{"ignore":false}`},
	"Security.setOverrideCertificateErrors":              {reset: "Security.setOverrideCertificateErrors", with: `{"override":false}`},
	"Storage.overrideQuotaForOrigin":                     {reset: "Storage.overrideQuotaForOrigin", each: "origin"},
	"Storage.setStorageBucketTracking":                   {reset: "Storage.setStorageBucketTracking", with: `{"enable":false}`, each: "storageKey"},
	"Storage.trackCacheStorageForOrigin":                 {reset: "Storage.untrackCacheStorageForOrigin", each: "origin"},
	"Storage.trackCacheStorageForStorageKey":             {reset: "Storage.untrackCacheStorageForStorageKey", each: "storageKey"},
	"Storage.trackIndexedDBForOrigin":                    {reset: "Storage.untrackIndexedDBForOrigin", each: "origin"},
	"Storage.trackIndexedDBForStorageKey":                {reset: "Storage.untrackIndexedDBForStorageKey", each: "storageKey"},
	"Tracing.start":                                      {reset: "Tracing.end", alone: true},
}

// resets are the settings by their reset command, if that is a command of its own.
var resets = func() map[string]setting {
	all := map[string]setting{}
	for method, st := range settings {
		if st.reset != method {
			all[st.reset] = st
		}
	}
	return all
}()

// aliases are commands with the same effect as another one.
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

// plain returns the name of a command in the tables.
func plain(method string) string {
	if other, ok := aliases[method]; ok {
		return other
	}
	return method
}

// forHolders are events that only sessions with the lease of a command's setting
// receive.
var forHolders = map[string]string{
	"Fetch.authRequired":               "Fetch.enable",
	"Fetch.requestPaused":              "Fetch.enable",
	"Overlay.inspectModeCanceled":      "Overlay.setInspectMode",
	"Overlay.inspectNodeRequested":     "Overlay.setInspectMode",
	"Overlay.screenshotRequested":      "Overlay.setInspectMode",
	"Page.lifecycleEvent":              "Page.setLifecycleEventsEnabled",
	"Page.screencastFrame":             "Page.startScreencast",
	"Page.screencastVisibilityChanged": "Page.startScreencast",
}

// settingOf returns the setting that a command changes; off reports that the
// command resets it. X.enable makes a setting too, unless the debugger has the
// domain on.
func settingOf(m command) (st setting, off, ok bool) {
	method := plain(m.Method)
	if st, ok = settings[method]; ok {
		st = st.one(m.Params)
		return st, st.reset == method && resembles(m.Params, st.params()), true
	}
	if st, ok = resets[method]; ok {
		return st.one(m.Params), true, true
	}
	domain, name, _ := strings.Cut(method, ".")
	if name != "enable" && name != "disable" || debuggers[domain] {
		return setting{}, false, false
	}
	return setting{reset: domain + ".disable", any: true}, name == "disable", true
}

// one returns the one of several settings that a command's parameters name.
func (st setting) one(params json.Value) setting {
	var given map[string]any
	if st.each == "" || decode(params, &given) != nil || given[st.each] == nil {
		return st // without its name, the page refuses the command
	}
	name := `{"` + st.each + `":` + string(encode(given[st.each]))
	if st.with == "" {
		st.with = name + "}"
	} else {
		st.with = name + "," + st.with[1:]
	}
	return st
}

// resembles reports whether a command's parameters amount to those of a reset.
// Extra parameters are allowed.
func resembles(params, reset json.Value) bool {
	var given, want map[string]any
	if decode(params, &given) != nil || decode(reset, &want) != nil {
		return false
	}
	for name, value := range want {
		// A mode that highlights nothing may come with any highlight configuration.
		if name != "highlightConfig" && !reflect.DeepEqual(given[name], value) && !(value == "" && given[name] == nil) {
			return false
		}
	}
	return len(want) > 0 || len(given) == 0
}

// alike reports whether two commands request the same value.
func alike(a, b command) bool {
	var one, other any
	return plain(a.Method) == plain(b.Method) && decode(a.Params, &one) == nil && decode(b.Params, &other) == nil && reflect.DeepEqual(one, other)
}

// asDefault reports whether a command only sets a default that Playwright sends to
// each page as it connects. If another client has the lease, such a command changes
// nothing and succeeds: Playwright would otherwise give up the page.
func asDefault(m command) bool {
	var p struct {
		Behavior string `json:"behavior"`
		Events   bool   `json:"eventsEnabled"`
		Media    string `json:"media"`
		Features []struct {
			Value string `json:"value"`
		} `json:"features"`
	}
	if decode(m.Params, &p) != nil {
		return false
	}
	switch m.Method {
	case "Browser.setDownloadBehavior":
		return p.Behavior == "allowAndName" && p.Events
	case "Emulation.setEmulatedMedia":
		for _, f := range p.Features {
			switch f.Value {
			case "", "light", "no-preference", "none":
			default:
				return false
			}
		}
		return p.Media == ""
	}
	return false
}
