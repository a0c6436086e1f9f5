package vscodeipc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// encoding/json matches member names in any case and accepts null for every type. The
// protocol does neither (spec 6), so requests are decoded here by exact name.

const maxInteger = 1<<53 - 1

// id is a request's id: a string, a number, or none, which is the zero value.
type id struct {
	kind   byte // 's', 'n' or 0
	text   string
	number int64
}

var noID id

func intID(n int64) id { return id{kind: 'n', number: n} }

// append adds the id's JSON to b.
func (i id) append(b []byte) []byte {
	switch i.kind {
	case 'n':
		return strconv.AppendInt(b, i.number, 10)
	case 's':
		text, _ := json.Marshal(i.text) // of a string, which never fails
		return append(b, text...)
	}
	return append(b, "null"...)
}

func (i id) String() string { return string(i.append(nil)) }

func (i id) MarshalJSON() ([]byte, error) { return i.append(nil), nil }

func decodeID(raw json.RawMessage) (id, bool) {
	if n, ok := decodeInteger(raw, 0); ok {
		if n > maxInteger {
			return noID, false
		}
		return intID(n), true
	}
	s, ok := decodeString(raw)
	if !ok || s == "" || utf8.RuneCountInString(s) > 64 {
		return noID, false
	}
	if strings.ContainsRune(s, utf8.RuneError) && hasLoneSurrogate(raw) {
		return noID, false // the response would have an id that the client did not choose
	}
	return id{kind: 's', text: s}, true
}

// hasLoneSurrogate reports whether valid JSON contains half of a surrogate pair as an
// escape, which encoding/json would replace by another character.
func hasLoneSurrogate(raw []byte) bool {
	afterHigh := false
	for i := 0; i < len(raw); i++ {
		unit := uint64(0)
		if raw[i] == '\\' {
			if i++; raw[i] == 'u' {
				unit, _ = strconv.ParseUint(string(raw[i+1:i+5]), 16, 16)
				i += 4
			}
		}
		if low := unit >= 0xdc00 && unit <= 0xdfff; low != afterHigh {
			return true
		}
		afterHigh = unit >= 0xd800 && unit < 0xdc00
	}
	return afterHigh
}

// decodeInteger decodes an integer in any notation: 1.0 and 1e0 are 1. Integers above
// maxInteger become maxInteger+1.
func decodeInteger(raw json.RawMessage, least int64) (int64, bool) {
	if len(raw) == 0 || raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
		return 0, false
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		f, err := strconv.ParseFloat(string(raw), 64)
		if err != nil || f != math.Trunc(f) {
			return 0, false
		}
		n = int64(max(-1, min(f, maxInteger+1)))
	}
	return min(n, maxInteger+1), n >= least
}

// decodeString decodes a string from JSON that is known to be valid.
func decodeString(raw json.RawMessage) (s string, ok bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), true
	}
	return s, json.Unmarshal(raw, &s) == nil
}

// decodeKind is decodeString without a copy for the known types.
func decodeKind(raw json.RawMessage) (string, bool) {
	for _, known := range requestTypes {
		if len(raw) == len(known)+2 && string(raw[1:len(raw)-1]) == known {
			return known, raw[0] == '"'
		}
	}
	return decodeString(raw)
}

func decodeList(raw json.RawMessage) (list []json.RawMessage, ok bool) {
	if len(raw) == 0 || raw[0] != '[' {
		return nil, false
	}
	return list, json.Unmarshal(raw, &list) == nil
}

type object map[string]json.RawMessage

func decodeObject(raw json.RawMessage) (o object, ok bool) {
	if len(raw) == 0 || raw[0] != '{' {
		return nil, false
	}
	return o, json.Unmarshal(raw, &o) == nil
}

// request is a request with a valid envelope.
type request struct {
	id      id
	kind    string
	version int
	payload json.RawMessage // nil when left out
}

// decodeRequest makes the first checks of spec 6, up to that of the version. The request
// has an id, or noID, even if there is an error.
func decodeRequest(line []byte) (request, *Error) {
	r := request{id: noID}
	if !utf8.Valid(line) {
		return r, errorf(CodeMalformed, nil, "the line is not UTF-8")
	}
	e, valid := scanEnvelope(line)
	if !valid {
		return r, errorf(CodeMalformed, nil, "the line is not a JSON object")
	}
	var ok bool
	if r.id, ok = decodeID(e.id); !ok {
		return r, errorf(CodeMalformed, nil, "id must be a string of 1 to 64 characters, none of them half of a surrogate pair, or an integer from 0 to %d", maxInteger)
	}
	if r.kind, ok = decodeKind(e.kind); !ok || r.kind == "" {
		return r, errorf(CodeMalformed, nil, "type must be a string that is not empty")
	}
	version, ok := decodeInteger(e.version, 1)
	if !ok {
		return r, errorf(CodeMalformed, nil, "version must be an integer from 1")
	}
	if r.version = int(version); !slices.Contains(supported, r.version) {
		return r, errUnsupported("version %d is not supported", version)
	}
	r.payload = e.payload
	return r, nil
}

func errUnsupported(format string, args ...any) *Error {
	return errorf(CodeUnsupportedVersion, map[string]any{"supported": supported}, format, args...)
}

func errPayload(path, must string) *Error {
	return errorf(CodeBadPayload, map[string]any{"path": path}, "%s must be %s", path, must)
}

// payloadObject returns the payload's members. The payload may be absent in requests
// without required members.
func (r request) payloadObject() (object, *Error) {
	if r.payload == nil {
		if r.kind == "ping" || r.kind == "state" {
			return nil, nil
		}
		return nil, errPayload("/payload", "an object")
	}
	o, ok := decodeObject(r.payload)
	if !ok {
		return nil, errPayload("/payload", "an object")
	}
	return o, nil
}

func decodeHello(p object) (helloRequest, *Error) {
	var h helloRequest
	client, ok := decodeObject(p["client"])
	if !ok {
		return h, errPayload("/payload/client", "an object")
	}
	if h.Client.Name, ok = decodeString(client["name"]); !ok || h.Client.Name == "" {
		return h, errPayload("/payload/client/name", "a string that is not empty")
	}
	if h.Client.Version, ok = decodeString(client["version"]); !ok {
		return h, errPayload("/payload/client/version", "a string")
	}
	versions, ok := decodeList(p["versions"])
	if !ok || len(versions) == 0 {
		return h, errPayload("/payload/versions", "a list that is not empty")
	}
	for i, raw := range versions {
		v, ok := decodeInteger(raw, 1)
		if !ok {
			return h, errPayload(fmt.Sprintf("/payload/versions/%d", i), "an integer from 1")
		}
		h.Versions = append(h.Versions, int(v))
	}
	return h, nil
}

func decodeEvents(p object) ([]string, *Error) {
	list, ok := decodeList(p["events"])
	if !ok || len(list) == 0 {
		return nil, errPayload("/payload/events", "a list that is not empty")
	}
	events := make([]string, len(list))
	for i, raw := range list {
		if events[i], ok = decodeString(raw); !ok {
			return nil, errPayload(fmt.Sprintf("/payload/events/%d", i), "a string")
		}
	}
	return events, nil
}

func decodeListen(p object) (l listenRequest, fault *Error) {
	if l.Events, fault = decodeEvents(p); fault != nil {
		return l, fault
	}
	raw, given := p["resume"]
	if !given {
		return l, nil
	}
	members, ok := decodeObject(raw)
	if !ok {
		return l, errPayload("/payload/resume", "an object")
	}
	var resume Resume
	if resume.Session, ok = decodeString(members["session"]); !ok || resume.Session == "" {
		return l, errPayload("/payload/resume/session", "a string that is not empty")
	}
	if resume.Seq, ok = decodeInteger(members["seq"], 0); !ok {
		return l, errPayload("/payload/resume/seq", "an integer from 0")
	}
	l.Resume = &resume
	return l, nil
}

func decodeCall(p object) (c callRequest, fault *Error) {
	var ok bool
	if c.Command, ok = decodeString(p["command"]); !ok || c.Command == "" {
		return c, errPayload("/payload/command", "a string that is not empty")
	}
	c.Arg = p["arg"]
	return c, nil
}

func decodeCancel(p object) (id, *Error) {
	which, ok := decodeID(p["id"])
	if !ok {
		return noID, errPayload("/payload/id", "the id of a request")
	}
	return which, nil
}
