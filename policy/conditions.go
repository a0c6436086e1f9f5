package policy

import (
	"regexp"
	"strings"
	"sync"
)

// conditions are the parameters with which an operation differs from what the table
// says of it alone. One that makes it read-only is false where it is not sure, one that
// makes it destructive is true there.
var conditions = map[string]func(arguments) bool{
	"empty":         isEmpty,
	"unchanged":     isUnchanged,
	"off":           isOff,
	"viewport":      isViewport,
	"debug-url":     hasDebugURL,
	"debuggers":     isOfDebugger,
	"no-expression": hasNoExpression,
	"as-shown":      isAsShown,
	"list":          isList,
	"no-reload":     isNoReload,
}

// sourceURL names code for debuggers; it stands in a line of its own.
var sourceURL = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\n//# sourceURL=[^\r\n\x{2028}\x{2029}]*\n?$`)
})

// namedBytes bounds a source that may be nothing but a name.
const namedBytes = 1000

// isEmpty: no code, or nothing but its name.
func isEmpty(args arguments) bool {
	source, ok := args.text("source")
	return ok && len(source) < namedBytes && strings.TrimSpace(sourceURL().ReplaceAllString("\n"+source, "")) == ""
}

// isUnchanged: nothing but the request's id.
func isUnchanged(args arguments) bool {
	return len(args) == 1 && args["requestId"] != nil
}

func isOff(args arguments) bool { return args.is("enabled", "false") }

// isViewport: a picture of no more than the page shows.
func isViewport(args arguments) bool {
	return args["captureBeyondViewport"] == nil || args.is("captureBeyondViewport", "false")
}

// isOfDebugger: a group of objects that the debugger's own are in, those of its console
// or V8's of the frames of a pause.
func isOfDebugger(args arguments) bool {
	group, _ := args.text("objectGroup")
	return group == "console" || group == "backtrace"
}

// The conditions of tools. Their arguments are encoded without those that are zero.

func hasNoExpression(args arguments) bool { return args["expression"] == nil }

func isAsShown(args arguments) bool { return args["target"] == nil && args["fullPage"] == nil }

func isList(args arguments) bool { return args.is("action", `"list"`) }

func isNoReload(args arguments) bool { return args["reload"] == nil }
