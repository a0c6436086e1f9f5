package access

import (
	"regexp"
	"strings"
	"sync"
)

// conditions are the parameters with which a command does otherwise than the table
// says of it alone. Each that makes it read says no where it is not sure, and each
// that makes it end something, yes.
var conditions = map[string]func(arguments) bool{
	"empty":     isEmpty,
	"unchanged": isUnchanged,
	"off":       isOff,
	"viewport":  isViewport,
	"debugurl":  endsByURL,
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
	return len(args) == 1 && args.get("requestId") != nil
}

func isOff(args arguments) bool { return args.is("enabled", "false") }

// isViewport: a picture of no more than the page shows.
func isViewport(args arguments) bool {
	return args.get("captureBeyondViewport") == nil || args.is("captureBeyondViewport", "false")
}
