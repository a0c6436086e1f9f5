package cdpproxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// ParseCommand reads a CDP command at least as strictly as Chromium. Keys match
// exactly once they are decoded, and occur once, so that a rule and the browser see
// the same method. ID and Params are parts of text. With an error it returns what was
// read before that, but no long ID: the client gets it back.
func ParseCommand(text []byte) (*Message, error) {
	m, err := parseCommand(text)
	if err != nil && len(m.ID) > maxBeside/2 {
		m.ID = nil
	}
	return m, err
}

func parseCommand(text []byte) (*Message, error) {
	m := new(Message)
	if !utf8.Valid(text) {
		return m, errNotUTF8
	}
	var method []byte
	err := Members(text, func(key string, value []byte) (err error) {
		switch key {
		case "id":
			m.ID = value
		case "method":
			method = value
		case "params":
			m.Params = value
		case "sessionId":
			if m.Session, err = decodeString(value); err != nil {
				return fmt.Errorf("sessionId: %w", err)
			}
		} // Chromium refuses any other
		return nil
	})
	if err != nil {
		return m, err
	}
	if m.Method, err = decodeString(method); err != nil {
		return m, fmt.Errorf("method: %w", err)
	}
	if len(text)-len(m.Params) > maxBeside {
		return m, fmt.Errorf("more than %d kB beside the parameters", maxBeside>>10)
	}
	return m, nil
}

// maxBeside bounds what a command has beside its parameters: the policy bounds only these,
// and Chromium reads all of a message while its other clients wait.
const maxBeside = 64 << 10

// errNotUTF8: Chromium refuses such a message too. The error must not repeat any of
// it.
var errNotUTF8 = errors.New("not UTF-8")

// decodeString decodes a JSON string.
func decodeString(b []byte) (string, error) {
	if len(b) < 2 || b[0] != '"' {
		return "", errors.New("a string is missing")
	}
	if bytes.IndexByte(b, '\\') < 0 {
		return string(b[1 : len(b)-1]), nil
	}
	var s string
	err := json.Unmarshal(b, &s)
	return s, err
}

var errMalformed = errors.New("malformed JSON")

const (
	// maxMembers bounds the cost of the comparison of each key with those before it. No
	// CDP command has half as many parameters.
	maxMembers = 64
	// maxDepth bounds the nesting. Chromium refuses more than 300.
	maxDepth = 1000
)

// Members calls each with every member of the JSON object text, its key decoded;
// the value is a part of text. When it returns an error, the members that each has
// received may be wrong. A duplicate key is an error: parsers differ in which one
// they take. Nested objects are not compared, and escapes of half a surrogate pair are
// accepted, as by Chromium.
func Members(text []byte, each func(key string, value []byte) error) error {
	r := jsonReader{text: text}
	if r.space(); !r.take('{') {
		return errors.New("not a JSON object")
	}
	var few [8]string // avoids an allocation in the usual case
	seen := few[:0]
	for r.space(); !r.take('}'); r.space() {
		if len(seen) > 0 && !r.take(',') {
			return errMalformed
		}
		r.space()
		key := r.at
		if !r.str() {
			return errMalformed
		}
		name, err := decodeString(text[key:r.at])
		if err != nil {
			return err
		}
		if r.space(); !r.take(':') {
			return errMalformed
		}
		r.space()
		value := r.at
		if !r.value(1) {
			return errMalformed
		}
		if slices.Contains(seen, name) {
			return fmt.Errorf("the key %.80q stands twice", name)
		}
		if len(seen) == maxMembers {
			return fmt.Errorf("more than %d members", maxMembers)
		}
		seen = append(seen, name)
		if err := each(name, text[value:r.at]); err != nil {
			return err
		}
	}
	if r.space(); r.at < len(text) {
		return errMalformed
	}
	return nil
}

// jsonReader reads JSON (RFC 8259) without decoding it. A library does this too, but a
// command of a client waits for it while its code is in no cache of the processor: that
// took a tenth of an evaluate. Its methods report whether the text
// fits.
type jsonReader struct {
	text []byte
	at   int
}

// peek returns the next byte; 0 at the end, which fits nowhere in JSON.
func (r *jsonReader) peek() byte {
	if r.at < len(r.text) {
		return r.text[r.at]
	}
	return 0
}

func (r *jsonReader) take(c byte) bool {
	if r.peek() != c {
		return false
	}
	r.at++
	return true
}

func (r *jsonReader) space() {
	for c := r.peek(); c == ' ' || c == '\t' || c == '\n' || c == '\r'; c = r.peek() {
		r.at++
	}
}

func (r *jsonReader) value(depth int) bool {
	switch c := r.peek(); c {
	case '"':
		return r.str()
	case '{', '[':
		return depth < maxDepth && r.list(c, c+2, depth+1) // in ASCII a closing bracket is two after the opening one
	case 't':
		return r.literal("true")
	case 'f':
		return r.literal("false")
	case 'n':
		return r.literal("null")
	}
	return r.number()
}

// list reads an object or an array.
func (r *jsonReader) list(opening, closing byte, depth int) bool {
	r.at++
	if r.space(); r.take(closing) {
		return true
	}
	for {
		r.space()
		if opening == '{' {
			if !r.str() {
				return false
			}
			if r.space(); !r.take(':') {
				return false
			}
			r.space()
		}
		if !r.value(depth) {
			return false
		}
		if r.space(); r.take(closing) {
			return true
		}
		if !r.take(',') {
			return false
		}
	}
}

func (r *jsonReader) literal(text string) bool {
	fits := bytes.HasPrefix(r.text[r.at:], []byte(text))
	r.at += len(text)
	return fits
}

func (r *jsonReader) number() bool {
	r.take('-')
	if !r.take('0') && !r.digits() {
		return false
	}
	if r.take('.') && !r.digits() {
		return false
	}
	if r.take('e') || r.take('E') {
		if !r.take('+') {
			r.take('-')
		}
		return r.digits()
	}
	return true
}

func (r *jsonReader) digits() bool {
	start := r.at
	for c := r.peek(); '0' <= c && c <= '9'; c = r.peek() {
		r.at++
	}
	return r.at > start
}

func (r *jsonReader) str() bool {
	if !r.take('"') {
		return false
	}
	for r.at < len(r.text) {
		c := r.text[r.at]
		r.at++
		switch {
		case c == '"':
			return true
		case c < ' ':
			return false
		case c == '\\':
			escape := r.peek()
			r.at++
			if escape == 'u' {
				for range 4 {
					if !strings.ContainsRune("0123456789abcdefABCDEF", rune(r.peek())) {
						return false
					}
					r.at++
				}
			} else if escape == 0 || strings.IndexByte(`"\/bfnrt`, escape) < 0 {
				return false
			}
		}
	}
	return false
}
