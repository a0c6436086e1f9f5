package virtual

import json "github.com/chromedp/cdproto/cdp/jsonv2"

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

// ofDebugger reports whether a group of objects is one that the debugger's own are
// in: those of its console, and V8's of the frames of a pause.
func ofDebugger(params json.Value) bool {
	var p struct {
		Group string `json:"objectGroup"`
	}
	_ = json.Unmarshal(params, &p, lenient)
	return p.Group == "console" || p.Group == "backtrace"
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
