package cdpproxy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// This reads JSON (RFC 8259) just far enough to find the members of an object and
// to know that all of it is well-formed: every message of every client passes
// here, and encoding/json takes five times as long to say yes.

var errMalformed = errors.New("malformed JSON")

// maxMembers bounds what comparing each key with all before it can cost. No CDP
// command takes half as many parameters.
const maxMembers = 64

// maxDepth bounds the nesting; Chromium takes less.
const maxDepth = 1000

// Members calls each with every member of the JSON object text, its key decoded;
// the value is a part of text. Where it returns an error, what each was told may
// be wrong. A key that stands twice is an error: readers differ in which one they
// take.
func Members(text []byte, each func(key string, value []byte) error) error {
	i := skipSpace(text, 0)
	if i == len(text) || text[i] != '{' {
		return errors.New("not a JSON object")
	}
	var few [8]string // no allocation for what is usual
	seen := few[:0]
	end, err := skipObject(text, i, 0, func(key, value []byte) error {
		name, err := decodeKey(key)
		if err != nil {
			return err
		}
		if slices.Contains(seen, name) {
			return fmt.Errorf("the key %q stands twice", name)
		}
		if len(seen) == maxMembers {
			return fmt.Errorf("more than %d members", maxMembers)
		}
		seen = append(seen, name)
		return each(name, value)
	})
	if err == nil && skipSpace(text, end) != len(text) {
		err = errMalformed
	}
	return err
}

// The functions below return the index behind what begins at i.

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

func skipValue(b []byte, i, depth int) (int, error) {
	if i == len(b) || depth > maxDepth {
		return i, errMalformed
	}
	switch c := b[i]; {
	case c == '"':
		return skipString(b, i)
	case c == '{':
		return skipObject(b, i, depth, nil)
	case c == '[':
		return skipArray(b, i, depth)
	case c == '-' || isDigit(c):
		return skipNumber(b, i)
	case c == 't':
		return skipWord(b, i, "true")
	case c == 'f':
		return skipWord(b, i, "false")
	case c == 'n':
		return skipWord(b, i, "null")
	}
	return i, errMalformed
}

// skipObject calls each, unless that is nil, with every member as it stands.
func skipObject(b []byte, i, depth int, each func(key, value []byte) error) (int, error) {
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == '}' {
		return i + 1, nil
	}
	for {
		if i == len(b) || b[i] != '"' {
			return i, errMalformed
		}
		keyEnd, err := skipString(b, i)
		if err != nil {
			return i, err
		}
		colon := skipSpace(b, keyEnd)
		if colon == len(b) || b[colon] != ':' {
			return i, errMalformed
		}
		value := skipSpace(b, colon+1)
		valueEnd, err := skipValue(b, value, depth+1)
		if err != nil {
			return i, err
		}
		if each != nil {
			if err := each(b[i:keyEnd], b[value:valueEnd]); err != nil {
				return i, err
			}
		}
		next, more, err := skipComma(b, valueEnd, '}')
		if err != nil || !more {
			return next, err
		}
		i = next
	}
}

func skipArray(b []byte, i, depth int) (int, error) {
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == ']' {
		return i + 1, nil
	}
	for {
		end, err := skipValue(b, i, depth+1)
		if err != nil {
			return i, err
		}
		next, more, err := skipComma(b, end, ']')
		if err != nil || !more {
			return next, err
		}
		i = next
	}
}

// skipComma skips what stands behind a member: a comma, with more to come, or
// the end.
func skipComma(b []byte, i int, end byte) (next int, more bool, err error) {
	i = skipSpace(b, i)
	switch {
	case i == len(b):
		return i, false, errMalformed
	case b[i] == end:
		return i + 1, false, nil
	case b[i] == ',':
		return skipSpace(b, i+1), true, nil
	}
	return i, false, errMalformed
}

// skipString skips eight bytes at a time where none of them is special: scripts
// are long strings.
func skipString(b []byte, i int) (int, error) {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for i++; i < len(b); {
		for i+8 <= len(b) {
			w := binary.LittleEndian.Uint64(b[i:])
			quote, escape := w^(ones*'"'), w^(ones*'\\')
			special := (w-ones*0x20)&^w | (quote-ones)&^quote | (escape-ones)&^escape
			if special&highs != 0 {
				break
			}
			i += 8
		}
		if i == len(b) {
			break
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1, nil
		case c < 0x20:
			return i, errMalformed
		case c == '\\':
			n := escapeLength(b[i:])
			if n == 0 {
				return i, errMalformed
			}
			i += n
		default:
			i++
		}
	}
	return i, errMalformed
}

// escapeLength is the length of the escape sequence that b begins with, 0 if
// there is none.
func escapeLength(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) < 6 {
			return 0
		}
		for _, c := range b[2:6] {
			if !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'f') {
				return 0
			}
		}
		return 6
	}
	return 0
}

func skipNumber(b []byte, i int) (int, error) {
	if b[i] == '-' {
		i++
	}
	first := i
	i = skipDigits(b, i)
	if i == first || b[first] == '0' && i > first+1 {
		return i, errMalformed
	}
	if i < len(b) && b[i] == '.' {
		fraction := i + 1
		if i = skipDigits(b, fraction); i == fraction {
			return i, errMalformed
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		exponent := i
		if i = skipDigits(b, exponent); i == exponent {
			return i, errMalformed
		}
	}
	return i, nil
}

func skipDigits(b []byte, i int) int {
	for i < len(b) && isDigit(b[i]) {
		i++
	}
	return i
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func skipWord(b []byte, i int, word string) (int, error) {
	if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
		return i, errMalformed
	}
	return i + len(word), nil
}
