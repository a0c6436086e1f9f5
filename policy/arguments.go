package policy

import json "github.com/chromedp/cdproto/cdp/jsonv2"

// arguments are the parameters of an operation. Nil: unreadable.
type arguments map[string]json.Value

// lenient accepts lone surrogates, which clients may send.
var lenient = json.AllowInvalidUTF8(true)

// read reads a JSON object. A repeated name makes it unreadable: readers differ in which
// value they use.
func read(object []byte) arguments {
	var args arguments
	if err := json.Unmarshal(object, &args, lenient); err != nil {
		return nil
	}
	return args
}

// is reports whether the parameter has literally this value.
func (a arguments) is(name, literal string) bool { return string(a[name]) == literal }

// text returns a parameter that is a string.
func (a arguments) text(name string) (string, bool) { return decodeText(a[name]) }

// decodeText decodes a JSON string.
func decodeText(value []byte) (s string, ok bool) {
	if len(value) < 2 || value[0] != '"' {
		return "", false
	}
	ok = json.Unmarshal(value, &s, lenient) == nil
	return s, ok
}
