package policy

import (
	"regexp"
	"strings"
	"sync"
)

// conditions are functions of the parameters that change an operation's class from the
// one in the table. A condition that makes it read-only is false when in doubt; one that
// makes it destructive is then true.
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

// sourceURL names code for debuggers; it has a line of its own.
var sourceURL = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\n//# sourceURL=[^\r\n\x{2028}\x{2029}]*\n?$`)
})

// namedBytes bounds a source that may consist of only a name.
const namedBytes = 1000

// isEmpty: no code, or only its name.
func isEmpty(args arguments) bool {
	source, ok := args.text("source")
	return ok && len(source) < namedBytes && strings.TrimSpace(sourceURL().ReplaceAllString("\n"+source, "")) == ""
}

// isUnchanged: only the request's id.
func isUnchanged(args arguments) bool {
	return len(args) == 1 && args["requestId"] != nil
}

func isOff(args arguments) bool { return args.is("enabled", "false") }

// isViewport: a picture of only the visible part of the page.
func isViewport(args arguments) bool {
	return args["captureBeyondViewport"] == nil || args.is("captureBeyondViewport", "false")
}

// isOfDebugger: a group of objects that includes the debugger's own: those of its
// console, or V8's for the frames of a pause.
func isOfDebugger(args arguments) bool {
	group, _ := args.text("objectGroup")
	return group == "console" || group == "backtrace"
}

// The conditions of tools. Zero values are left out of their encoded arguments.

func hasNoExpression(args arguments) bool { return args["expression"] == nil }

func isAsShown(args arguments) bool { return args["target"] == nil && args["fullPage"] == nil }

func isList(args arguments) bool { return args.is("action", `"list"`) }

func isNoReload(args arguments) bool { return args["reload"] == nil }
