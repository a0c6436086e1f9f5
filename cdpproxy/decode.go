package cdpproxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// ParseCommand reads a CDP command at least as strictly as Chromium. Keys match
// exactly once they are decoded, and occur once, so that a rule and the browser see
// the same method. ID and Params are parts of text.
func ParseCommand(text []byte) (*Message, error) {
	m := new(Message)
	if err := decode(text, m); err != nil {
		return nil, err
	}
	return m, nil
}

// errNotUTF8: Chromium refuses such a message too. The error must not repeat any of
// it.
var errNotUTF8 = errors.New("not UTF-8")

// decode is ParseCommand into m. It reuses the strings of m that are equal: a
// client uses few methods in few sessions.
func decode(text []byte, m *Message) error {
	m.ID, m.Params = nil, nil
	if !utf8.Valid(text) {
		return errNotUTF8
	}
	var method, session []byte
	err := Members(text, func(key string, value []byte) error {
		switch key {
		case "id":
			m.ID = value
		case "method":
			method = value
		case "params":
			m.Params = value
		case "sessionId":
			session = value
		} // Chromium refuses any other
		return nil
	})
	if err != nil {
		return err
	}
	if m.Method, err = decodeAgain(method, m.Method); err != nil {
		return fmt.Errorf("method: %w", err)
	}
	if session == nil {
		m.Session = ""
	} else if m.Session, err = decodeAgain(session, m.Session); err != nil {
		return fmt.Errorf("sessionId: %w", err)
	}
	return nil
}

// decodeAgain decodes a JSON string, which often equals the previous one.
func decodeAgain(b []byte, before string) (string, error) {
	if len(b) == len(before)+2 && b[0] == '"' && string(b[1:len(b)-1]) == before && bytes.IndexByte(b, '\\') < 0 {
		return before, nil
	}
	return decodeString(b)
}

// kept returns a copy of m for its response. It does not share memory with the text
// of m.
func (m *Message) kept() *Message {
	k := *m
	k.ID, k.Params = bytes.Clone(m.ID), nil
	return &k
}

// forget releases the text of m.
func (m *Message) forget() { m.ID, m.Params = nil, nil }

// decodeKey is decodeString without an allocation for the keys of every command.
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
