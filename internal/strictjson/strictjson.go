// Package strictjson reads JSON objects whose sender may want two readers to disagree: a
// rule here, and the browser that gets the text. No key may occur twice.
//
//	err := strictjson.Members(text, func(key string, value []byte) error { … })
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

var errMalformed = errors.New("malformed JSON")

const (
	// maxMembers bounds the cost of the comparison of each key with those before it. No
	// CDP command has half as many parameters.
	maxMembers = 64
	// maxDepth bounds the nesting. Chromium refuses more than 300.
	maxDepth = 1000
)

// String decodes a JSON string. Half a surrogate pair becomes U+FFFD.
func String(b []byte) (string, error) {
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

// Members calls each with every member of the JSON object text, its key decoded;
// the value is a part of text. When it returns an error, the members that each has
// received may be wrong. A duplicate key is an error: parsers differ in which one
// they take. Nested objects are not compared, and escapes of half a surrogate pair are
// accepted, as by Chromium.
func Members(text []byte, each func(key string, value []byte) error) error {
	r := reader{text: text}
	if r.space(); !r.take('{') {
		return errors.New("not a JSON object")
	}
	var few [8]string // avoids an allocation in the usual case
	names := few[:0]
	for r.space(); !r.take('}'); r.space() {
		if len(names) > 0 && !r.take(',') {
			return errMalformed
		}
		r.space()
		key := r.offset
		if !r.str() {
			return errMalformed
		}
		name, err := String(text[key:r.offset])
		if err != nil {
			return err
		}
		if r.space(); !r.take(':') {
			return errMalformed
		}
		r.space()
		value := r.offset
		if !r.value(1) {
			return errMalformed
		}
		if slices.Contains(names, name) {
			return fmt.Errorf("the key %.80q stands twice", name)
		}
		if len(names) == maxMembers {
			return fmt.Errorf("more than %d members", maxMembers)
		}
		names = append(names, name)
		if err := each(name, text[value:r.offset]); err != nil {
			return err
		}
	}
	if r.space(); r.offset < len(text) {
		return errMalformed
	}
	return nil
}

// reader reads JSON (RFC 8259) without decoding it. A library does this too, but a
// command of a client waits for it while its code is in no cache of the processor: that
// took a tenth of an evaluate. Its methods report whether the text
// fits.
type reader struct {
	text   []byte
	offset int
}

// peek returns the next byte; 0 at the end, which fits nowhere in JSON.
func (r *reader) peek() byte {
	if r.offset < len(r.text) {
		return r.text[r.offset]
	}
	return 0
}

func (r *reader) take(c byte) bool {
	if r.peek() != c {
		return false
	}
	r.offset++
	return true
}

func (r *reader) space() {
	for c := r.peek(); c == ' ' || c == '\t' || c == '\n' || c == '\r'; c = r.peek() {
		r.offset++
	}
}

func (r *reader) value(depth int) bool {
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
func (r *reader) list(opening, closing byte, depth int) bool {
	r.offset++
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

func (r *reader) literal(text string) bool {
	fits := bytes.HasPrefix(r.text[r.offset:], []byte(text))
	r.offset += len(text)
	return fits
}

func (r *reader) number() bool {
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

func (r *reader) digits() bool {
	start := r.offset
	for c := r.peek(); '0' <= c && c <= '9'; c = r.peek() {
		r.offset++
	}
	return r.offset > start
}

func (r *reader) str() bool {
	if !r.take('"') {
		return false
	}
	for r.offset < len(r.text) {
		c := r.text[r.offset]
		r.offset++
		switch {
		case c == '"':
			return true
		case c < ' ':
			return false
		case c == '\\':
			escape := r.peek()
			r.offset++
			if escape == 'u' {
				for range 4 {
					if !strings.ContainsRune("0123456789abcdefABCDEF", rune(r.peek())) {
						return false
					}
					r.offset++
				}
			} else if escape == 0 || strings.IndexByte(`"\/bfnrt`, escape) < 0 {
				return false
			}
		}
	}
	return false
}
