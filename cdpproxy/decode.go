package cdpproxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// decode reads a CDP command. It is at least as strict as Chromium: keys match
// exactly once they are decoded, and stand once, so that nobody can show the
// rule one method and the browser another. What it returns does not share
// memory with text.
func decode(text []byte, m *Message) error {
	// After this the walk below meets nothing but well-formed JSON.
	if !json.Valid(text) {
		return errors.New("malformed JSON")
	}
	text = trimSpace(text)
	if text[0] != '{' {
		return errors.New("a CDP message is a JSON object")
	}
	var id, method, params, session []byte
	for text = trimSpace(text[1:]); text[0] != '}'; {
		n := valueLength(text)
		key, err := decodeString(text[:n])
		if err != nil {
			return err
		}
		text = trimSpace(text[n:])
		text = trimSpace(text[1:]) // the colon
		n = valueLength(text)
		value := text[:n]
		if text = trimSpace(text[n:]); text[0] == ',' {
			text = trimSpace(text[1:])
		}
		var field *[]byte
		switch key {
		case "id":
			field = &id
		case "method":
			field = &method
		case "params":
			field = &params
		case "sessionId":
			field = &session
		default:
			continue // Chromium refuses it
		}
		if *field != nil {
			return fmt.Errorf("the key %q stands twice", key)
		}
		*field = value
	}
	var err error
	if m.Method, err = decodeString(method); err != nil {
		return fmt.Errorf("method: %w", err)
	}
	if session != nil {
		if m.Session, err = decodeString(session); err != nil {
			return fmt.Errorf("sessionId: %w", err)
		}
	}
	m.ID, m.Params = bytes.Clone(id), bytes.Clone(params)
	return nil
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
	depth, inString := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case inString:
			if c == '\\' {
				i++
			} else if c == '"' {
				if inString = false; depth == 0 {
					return i + 1
				}
			}
		case c == '"':
			inString = true
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

func trimSpace(b []byte) []byte {
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	return b
}

// isSpace knows JSON's white space, which is less than Unicode's.
func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }
