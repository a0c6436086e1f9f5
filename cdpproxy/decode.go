package cdpproxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// ParseCommand reads a CDP command at least as strictly as Chromium. Keys match
// exactly once they are decoded, and occur once, so that a rule and the browser see
// the same method. ID and Params are parts of text. With an error it returns what was
// read before that.
func ParseCommand(text []byte) (*Message, error) {
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
		if len(m.ID) > maxBeside/2 { // the client gets it back
			m.ID = nil
		}
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

// maxMembers bounds the cost of the comparison of each key with those before it. No
// CDP command has half as many parameters.
const maxMembers = 64

// decoders are used again: to make one takes as long as to read a message.
var decoders = sync.Pool{New: func() any { return new(decoder) }}

type decoder struct {
	jsontext.Decoder
	text bytes.Buffer
}

// Members calls each with every member of the JSON object text, its key decoded;
// the value is a part of text. When it returns an error, the members that each has
// received may be wrong. A duplicate key is an error: parsers differ in which one
// they take.
func Members(text []byte, each func(key string, value []byte) error) error {
	d := decoders.Get().(*decoder)
	if len(text) <= smallMessage { // else it would keep the text
		defer decoders.Put(d)
	}
	// The decoder reads a bytes.Buffer in place. Nested objects are not compared, and
	// escapes of half a surrogate pair are accepted, as by Chromium.
	d.text = *bytes.NewBuffer(text)
	d.Reset(&d.text, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	in := &d.Decoder
	if in.PeekKind() != '{' {
		return errors.New("not a JSON object")
	}
	if _, err := in.ReadToken(); err != nil {
		return errMalformed
	}
	var few [8]string // avoids an allocation in the usual case
	seen := few[:0]
	for in.PeekKind() != '}' {
		key, err := in.ReadValue()
		if err != nil {
			return errMalformed
		}
		name, err := decodeString(key)
		if err != nil {
			return err
		}
		value, err := in.ReadValue()
		if err != nil {
			return errMalformed
		}
		if slices.Contains(seen, name) {
			return fmt.Errorf("the key %q stands twice", name)
		}
		if len(seen) == maxMembers {
			return fmt.Errorf("more than %d members", maxMembers)
		}
		seen = append(seen, name)
		if err := each(name, value); err != nil {
			return err
		}
	}
	if _, err := in.ReadToken(); err != nil {
		return errMalformed
	}
	if _, err := in.ReadToken(); err != io.EOF {
		return errMalformed
	}
	return nil
}
