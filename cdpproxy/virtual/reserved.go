package virtual

import (
	"strings"
	"sync"

	"github.com/chromedp/cdproto/cdp/jsonv2"
)

// reserved are the commands that belong to the debugger in the session that it shares.
const reserved = `
DOMDebugger: setBreakOnCSPViolation setDOMBreakpoint setEventListenerBreakpoint setInstrumentationBreakpoint
DOMDebugger: setXHRBreakpoint
Debugger: continueToLocation pause pauseOnAsyncCall removeBreakpoint restartFrame resume
Debugger: setBreakpoint setBreakpointByUrl setBreakpointOnFunctionCall setInstrumentationBreakpoint
Debugger: setReturnValue setScriptSource setVariableValue stepInto stepOut stepOver
EventBreakpoints: setInstrumentationBreakpoint`

// withoutEffect are commands that succeed without effect: the debugger depends on what they
// would change.
const withoutEffect = `
DOMDebugger: removeDOMBreakpoint removeEventListenerBreakpoint removeInstrumentationBreakpoint removeXHRBreakpoint
Debugger: setAsyncCallStackDepth setBlackboxExecutionContexts setBlackboxPatterns setBlackboxedRanges
Debugger: setBreakpointsActive setPauseOnExceptions setSkipAllPauses
EventBreakpoints: removeInstrumentationBreakpoint
Network: setCacheDisabled
Overlay: setPausedInDebuggerMessage
Page: waitForDebugger
Runtime: discardConsoleEntries runIfWaitingForDebugger setAsyncCallStackDepth
Runtime: setCustomObjectFormatterEnabled setMaxCallStackSizeToCapture
ServiceWorker: setForceUpdateOnPageLoad`

// lasting are commands whose effect nothing resets before the session ends.
const lasting = `Emulation: setHardwareConcurrencyOverride setVirtualTimePolicy`

const (
	reservedReason = "the debugger of this window drives this page: set breakpoints, step and resume there. Another " +
		"client may look, not steer, because it would share the debugger's own session"
	lastingReason = "in the session that the debugger shares nothing could take this back when this client leaves"
)

// restriction is what becomes of a command that a client may not send to the shared session.
type restriction struct {
	reason string // of the error; empty: it succeeds without effect
}

var restrictions = sync.OnceValue(func() map[string]restriction {
	all := map[string]restriction{}
	for list, reason := range map[string]string{reserved: reservedReason, withoutEffect: "", lasting: lastingReason} {
		for line := range strings.Lines(strings.TrimSpace(list)) {
			domain, names, _ := strings.Cut(line, ":")
			for name := range strings.FieldsSeq(names) {
				all[domain+"."+name] = restriction{reason}
			}
		}
	}
	return all
})

// restrict returns the restriction of a command. The groups of objects that belong to the
// debugger, those of its console and of the frames of a pause, are not released.
func restrict(method string, params []byte) (r restriction, restricted bool) {
	if method == "Runtime.releaseObjectGroup" {
		var group struct {
			Name string `json:"objectGroup"`
		}
		err := jsonv2.Unmarshal(params, &group, jsonv2.AllowInvalidUTF8(true))
		return r, err != nil || group.Name == "console" || group.Name == "backtrace"
	}
	r, restricted = restrictions()[method]
	return r, restricted
}
