package vscodeipc

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// envelope is a line of either direction, with its members as raw JSON; nil if absent.
type envelope struct {
	id, kind, version, payload json.RawMessage
	success, fault, seq        json.RawMessage
}

// scanEnvelope finds the members of a line by exact name, and reports whether the line
// is a JSON object. The last member of a name counts.
func scanEnvelope(line []byte) (e envelope, ok bool) {
	members, ok := decodeObject(bytes.TrimLeft(line, " \t\r"))
	return envelope{
		id: members["id"], kind: members["type"], version: members["version"], payload: members["payload"],
		success: members["success"], fault: members["error"], seq: members["seq"],
	}, ok
}

// request is a request with a valid envelope.
type request struct {
	id      id
	kind    string
	payload json.RawMessage
}

// decodeRequest makes the first checks of spec 6, up to that of the version. The request
// has an id, or noID, even if there is an error.
func decodeRequest(line []byte) (request, *Error) {
	r := request{id: noID}
	if !utf8.Valid(line) {
		return r, errorf(codeMalformed, nil, "the line is not UTF-8")
	}
	e, ok := scanEnvelope(line)
	if !ok {
		return r, errorf(codeMalformed, nil, "the line is not a JSON object")
	}
	if r.id, ok = decodeID(e.id); !ok {
		r.id = noID
		return r, errorf(codeMalformed, nil, "id must be a string of 1 to 64 characters, none of them half of a "+
			"surrogate pair, or an integer from 0 to %d", maxInteger)
	}
	if r.kind, ok = decodeString(e.kind); !ok || r.kind == "" {
		return r, errorf(codeMalformed, nil, "type must be a string that is not empty")
	}
	spoken, ok := decodeInteger(e.version, 1)
	if !ok {
		return r, errorf(codeMalformed, nil, "version must be an integer from 1")
	}
	if spoken != version {
		older := "the client"
		if spoken > version {
			older = "the window"
		}
		return r, errorf(codeUnsupportedVersion, map[string]any{"supported": []int{version}},
			"incompatible: the window speaks version %d of the window protocol and the request version %d; update %s",
			version, spoken, older)
	}
	r.payload = e.payload
	return r, nil
}
