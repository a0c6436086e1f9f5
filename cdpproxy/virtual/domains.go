package virtual

// debuggers are the domains that the debugger, or another extension through its
// shared CDP, has turned on for itself: they stay on. Other domains that clients
// turn on are turned off again when the last client has left them.
var debuggers = map[string]bool{
	"CSS": true, "Console": true, "DOM": true, "DOMDebugger": true, "Debugger": true, "EventBreakpoints": true,
	"HeapProfiler": true, "Inspector": true, "Log": true, "Network": true, "Overlay": true, "Page": true,
	"Performance": true, "Profiler": true, "Runtime": true, "ServiceWorker": true,
}

// unasked are the domains with events that need no enable.
var unasked = map[string]bool{
	"BackgroundService": true, "Browser": true, "Emulation": true, "Input": true, "Inspector": true,
	"Storage": true, "Tethering": true, "Tracing": true,
}
