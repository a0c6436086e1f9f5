package vscodeipc

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// envelope is a line of either direction, with its members as raw JSON; nil if absent.
// They share the line's memory.
type envelope struct {
	id, kind, version, payload json.RawMessage
	success, fault, seq        json.RawMessage
}

// scanEnvelope finds the members of a line by exact name, and reports whether the line
// is a JSON object. It runs for every message, so it allocates no map.
func scanEnvelope(line []byte) (e envelope, ok bool) {
	// The decoder reads a bytes.Buffer in place.
	in := jsontext.NewDecoder(bytes.NewBuffer(line), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if in.PeekKind() != '{' {
		return e, false
	}
	if _, err := in.ReadToken(); err != nil {
		return e, false
	}
	for in.PeekKind() != '}' {
		name, err := in.ReadToken()
		if err != nil {
			return e, false
		}
		member := e.member(name.String())
		value, err := in.ReadValue()
		if err != nil {
			return e, false
		}
		if member != nil {
			*member = json.RawMessage(value)
		}
	}
	_, err := in.ReadToken()
	_, end := in.ReadToken()
	return e, err == nil && end == io.EOF
}

// member returns where the value of a known member is stored.
func (e *envelope) member(name string) *json.RawMessage {
	switch name {
	case "id":
		return &e.id
	case "type":
		return &e.kind
	case "version":
		return &e.version
	case "payload":
		return &e.payload
	case "success":
		return &e.success
	case "error":
		return &e.fault
	case "seq":
		return &e.seq
	}
	return nil
}
