package access

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// conditions are the parameters with which a command does otherwise than the table
// says of it alone. Each that makes it read says no where it is not sure, and each
// that makes it end something, yes.
var conditions = map[string]func(arguments) bool{
	"checked":   isChecked,
	"known":     isKnown,
	"empty":     isEmpty,
	"unchanged": isUnchanged,
	"off":       isOff,
	"debugurl":  endsByURL,
}

// isChecked: V8 stops the code at its first side effect and after a time, or the
// code is known.
//
// The check ends when the code has returned. A promise that is resolved with an
// object that has a "then" calls that afterwards, unchecked, so nothing here may
// make or await one. What stays open: a page's own async function that gives back
// what it was given.
//
// A loop without an end is no side effect, but the page's human notices it. Nor is
// the user activation that userGesture gives to the page.
func isChecked(args arguments) bool {
	if isKnown(args) {
		return true
	}
	if !args.is("throwOnSideEffect", "true") || !isShort(args) || isSet(args, "userGesture") ||
		isSet(args, "awaitPromise") || isSet(args, "replMode") || args.get("functionDeclaration") != nil {
		return false
	}
	text, ok := args.text("expression")
	return ok && !strings.Contains(text, "async")
}

// isSet: anything but false.
func isSet(args arguments, name string) bool {
	return args.get(name) != nil && !args.is(name, "false")
}

// longest is how long, in milliseconds, code that only reads may keep a page from
// all else. DevTools, which evaluates what is typed before it is sent, says 500.
const longest = 10_000

func isShort(args arguments) bool {
	ms, err := strconv.ParseFloat(string(args.get("timeout")), 64)
	return err == nil && ms > 0 && ms <= longest
}

// knownBytes bounds code that is known, with its name.
const knownBytes = 1000

// isKnown: code that clients send for looking, letter for letter. Puppeteer sends
// all that it evaluates with a userGesture, and could not tell a page's title if
// that counted. No other client needs one to look.
func isKnown(args arguments) bool {
	code, other := args.get("expression"), args.get("functionDeclaration")
	if code == nil {
		code = other
	} else if other != nil {
		return false // one of them only hides the other
	}
	if len(code) > knownBytes {
		return false // without decoding it
	}
	text, ok := decodeText(code)
	if !ok {
		return false
	}
	text = sourceURL().ReplaceAllString(text, "")
	switch strings.Join(strings.Fields(text), " ") {
	case "document.title", "document.location.toString()", "location.href": // chromedp
		return !isSet(args, "userGesture")
	case "() => { return document.title; }": // Puppeteer
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
