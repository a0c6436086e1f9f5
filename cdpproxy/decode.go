package cdpproxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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
