package vscodeipc

import (
	"bytes"
	"encoding/json"
)

// envelope is a line of either direction with its members as they stand there;
// nil where one is missing. They share the line's memory.
type envelope struct {
	id, kind, version, payload json.RawMessage
	success, fault, seq        json.RawMessage
}

// scanEnvelope finds the members of a line, by exact name; it reports whether the
// line is a JSON object. Each message passes here once, so that it makes no map.
func scanEnvelope(line []byte) (e envelope, ok bool) {
	line = skipSpace(line)
	if len(line) == 0 || line[0] != '{' || !json.Valid(line) {
		return e, false
	}
	// The line is valid, so that the rest needs to tell apart very little.
	for rest := line[1:]; ; {
		key := bytes.IndexByte(rest, '"')
		if key < 0 {
			return e, true // it was {}
		}
		rest = rest[key:]
		end := valueEnd(rest)
		member := e.member(rest[:end])
		rest = skipSpace(skipSpace(rest[end:])[1:]) // over the colon
		end = valueEnd(rest)
		if member != nil {
			*member = rest[:end:end]
		}
		rest = skipSpace(rest[end:])
		if rest[0] == '}' {
			return e, true
		}
	}
}

// member gives the place of a member that is known.
func (e *envelope) member(key json.RawMessage) *json.RawMessage {
	name := []byte(key[1 : len(key)-1])
	if bytes.IndexByte(name, '\\') >= 0 { // "\u0069d" is "id" too
		decoded, _ := decodeString(key)
		name = []byte(decoded)
	}
	switch string(name) {
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

// valueEnd gives the length of the value that valid JSON begins with.
func valueEnd(b []byte) int {
	switch b[0] {
	case '"':
		return stringEnd(b)
	case '{', '[':
		depth := 0
		for i := 0; ; i++ {
			switch b[i] {
			case '"':
				i += stringEnd(b[i:]) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
	}
	for i, c := range b {
		switch c {
		case ',', ']', '}', ' ', '\t', '\r', '\n':
			return i
		}
	}
	return len(b)
}

// skipSpace takes away what JSON calls white space.
func skipSpace(b []byte) []byte {
	for i, c := range b {
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return b[i:]
		}
	}
	return nil
}

func stringEnd(b []byte) int {
	for i := 1; ; i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}
