package policy

import (
	"regexp"
	"strings"
	"sync"
)

// conditions are functions of the parameters that change an operation's class from the
// one in the table, or its category. A condition that makes it read-only is false when in
// doubt; one that makes it destructive is then true.
var conditions = map[string]func(arguments) bool{
	"empty":     isEmpty,
	"debug-url": hasDebugURL,
	// Chromium gives these to no element, and its lookup ends the process
	"odd-pseudo": func(args arguments) bool {
		kind, _ := args.text("pseudoType")
		return kind == "interest-hint" || kind == "overscroll-area-parent"
	},
	// Chromium ends the process when a header or footer waits for a style sheet
	"sheet-in-template": func(args arguments) bool {
		if args["displayHeaderFooter"] == nil || args.is("displayHeaderFooter", "false") {
			return false
		}
		header, _ := args.text("headerTemplate")
		footer, _ := args.text("footerTemplate")
		all := strings.ToLower(header + footer)
		return strings.Contains(all, "<link") || strings.Contains(all, "@import")
	},
	// no javascript: URL, which is a script
	"web-url": func(args arguments) bool {
		url, _ := args.text("url")
		return strings.HasPrefix(url, "http://") || strings.HasPrefix(url, "https://")
	},
	// a group of objects that includes the debugger's own: those of its console, or V8's
	// for the frames of a pause
	"debuggers": func(args arguments) bool {
		group, _ := args.text("objectGroup")
		return group == "console" || group == "backtrace"
	},
}

// sourceURL names code for debuggers; it has a line of its own.
var sourceURL = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\n//# sourceURL=[^\r\n\x{2028}\x{2029}]*\n?$`)
})

// isEmpty reports whether there is no code, or only its name, in at most 1000 bytes.
func isEmpty(args arguments) bool {
	source, ok := args.text("source")
	return ok && len(source) < 1000 && strings.TrimSpace(sourceURL().ReplaceAllString("\n"+source, "")) == ""
}
