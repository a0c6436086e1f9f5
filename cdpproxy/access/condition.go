package access

import (
	"regexp"
	"strings"
	"sync"
)

// conditions are the parameters with which a command reads that acts otherwise.
// Each says no where it is not sure.
var conditions = map[string]func(arguments) bool{
	"checked":   isChecked,
	"empty":     isEmpty,
	"unchanged": isUnchanged,
	"off":       isOff,
}

// isChecked: V8 stops the code at its first side effect, or the code is known.
//
// The check ends when the code has returned. A promise that is resolved with an
// object that has a "then" calls that afterwards, unchecked, so nothing here may
// make or await one. What stays open: a page's own async function that gives back
// what it was given.
func isChecked(args arguments) bool {
	code, other := args.get("expression"), args.get("functionDeclaration")
	if code == nil {
		code = other
	} else if other != nil {
		return false // one of them only hides the other
	}
	checked := args.is("throwOnSideEffect", "true")
	if !checked && len(code) > knownBytes {
		return false // without decoding it
	}
	text, ok := decodeText(code)
	if !ok {
		return false
	}
	if isKnown(text) {
		return true
	}
	awaits := args.get("awaitPromise") != nil && !args.is("awaitPromise", "false") ||
		args.get("replMode") != nil && !args.is("replMode", "false")
	return checked && !awaits && !strings.Contains(text, "async")
}

// knownBytes bounds code that is known, with its name.
const knownBytes = 1000

// isKnown: code that clients send for looking, letter for letter.
func isKnown(code string) bool {
	if len(code) > knownBytes {
		return false
	}
	code = sourceURL().ReplaceAllString(code, "")
	switch strings.Join(strings.Fields(code), " ") {
	case "document.title", "document.location.toString()", "location.href", // chromedp
		"() => { return document.title; }": // Puppeteer
		return true
	}
	return false
}

// sourceURL names code for debuggers; it stands in a line of its own.
var sourceURL = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\n//# sourceURL=[^\r\n\x{2028}\x{2029}]*\n?$`)
})

// isEmpty: no code, or nothing but its name.
func isEmpty(args arguments) bool {
	source, ok := args.text("source")
	return ok && len(source) < knownBytes && strings.TrimSpace(sourceURL().ReplaceAllString("\n"+source, "")) == ""
}

// isUnchanged: nothing but the request's id.
func isUnchanged(args arguments) bool {
	return len(args) == 1 && args.get("requestId") != nil
}

func isOff(args arguments) bool { return args.is("enabled", "false") }
