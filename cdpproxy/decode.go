package cdpproxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// ParseCommand reads a CDP command as strictly as Chromium, or more: keys match
// exactly once they are decoded, and stand once, so that nobody can show a rule
// one method and the browser another. What it returns does not share memory with
// text.
func ParseCommand(text []byte) (*Message, error) {
	m := new(Message)
	if err := decode(text, m); err != nil {
		return nil, err
	}
	return m, nil
}

func decode(text []byte, m *Message) error {
	// After this the walk below meets nothing but well-formed JSON.
	if !json.Valid(text) {
		return errors.New("malformed JSON")
	}
	var method, session []byte
	err := Members(text, func(key string, value []byte) error {
		switch key {
		case "id":
			m.ID = bytes.Clone(value)
		case "method":
			method = value
		case "params":
			m.Params = bytes.Clone(value)
		case "sessionId":
			session = value
		} // Chromium refuses any other
		return nil
	})
	if err != nil {
		return err
	}
	if m.Method, err = decodeString(method); err != nil {
		return fmt.Errorf("method: %w", err)
	}
	if session != nil {
		if m.Session, err = decodeString(session); err != nil {
			return fmt.Errorf("sessionId: %w", err)
		}
	}
	return nil
}

// Members calls each with every member of the JSON object text, its key decoded;
// the value is a part of text. Text has to be valid JSON, as the Params of a
// Message are. A key that stands twice is an error: readers differ in which one
// they take.
func Members(text []byte, each func(key string, value []byte) error) error {
	text = trimSpace(text)
	if len(text) == 0 || text[0] != '{' {
		return errors.New("not a JSON object")
	}
	var few [8]string // no allocation for what is usual
	seen := few[:0]
	for text = trimSpace(text[1:]); text[0] != '}'; {
		n := valueLength(text)
		key, err := decodeKey(text[:n])
		if err != nil {
			return err
		}
		if slices.Contains(seen, key) {
			return fmt.Errorf("the key %q stands twice", key)
		}
		if len(seen) == maxMembers {
			return fmt.Errorf("more than %d members", maxMembers)
		}
		seen = append(seen, key)
		text = trimSpace(text[n:])
		text = trimSpace(text[1:]) // the colon
		n = valueLength(text)
		if err := each(key, text[:n]); err != nil {
			return err
		}
		if text = trimSpace(text[n:]); text[0] == ',' {
			text = trimSpace(text[1:])
		}
	}
	return nil
}

// maxMembers bounds what comparing each key with all before it can cost. No CDP
// command takes half as many parameters.
const maxMembers = 64

// decodeKey is decodeString without an allocation for what every command has.
func decodeKey(b []byte) (string, error) {
	switch string(b) {
	case `"id"`:
		return "id", nil
	case `"method"`:
		return "method", nil
	case `"params"`:
		return "params", nil
	case `"sessionId"`:
		return "sessionId", nil
	}
	return decodeString(b)
}

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

// valueLength is the length of the JSON value that b, which is valid, begins
// with.
func valueLength(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			i += stringLength(b[i:]) - 1
			if depth == 0 {
				return i + 1
			}
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth == 0 {
				return i // behind a number or a literal
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case depth == 0 && (c == ',' || c == ':' || isSpace(c)):
			return i
		}
	}
	return len(b)
}

// stringLength is the length of the JSON string that b begins with. Scripts are
// long strings: the search for the end is what reading a command costs.
func stringLength(b []byte) int {
	for i := 1; ; {
		end := bytes.IndexByte(b[i:], '"')
		escape := bytes.IndexByte(b[i:i+end], '\\')
		if escape < 0 {
			return i + end + 1
		}
		i += escape + 2 // behind what is escaped
	}
}

func trimSpace(b []byte) []byte {
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	return b
}

// isSpace knows JSON's white space, which is less than Unicode's.
func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }
