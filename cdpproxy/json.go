package cdpproxy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

var errMalformed = errors.New("malformed JSON")

// maxMembers bounds the cost of the comparison of each key with those before it. No
// CDP command has half as many parameters.
const maxMembers = 64

// Members calls each with every member of the JSON object text, its key decoded;
// the value is a part of text. When it returns an error, the members that each has
// received may be wrong. A duplicate key is an error: parsers differ in which one
// they take.
func Members(text []byte, each func(key string, value []byte) error) error {
	// The decoder reads a bytes.Buffer in place. Nested objects are not compared, and
	// escapes of half a surrogate pair are accepted, as by Chromium.
	in := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
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
		name, err := decodeKey(key)
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
