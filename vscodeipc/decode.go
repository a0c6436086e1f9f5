package vscodeipc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// decodeStrict stores what a window sent in the value that into points to.
func decodeStrict(raw json.RawMessage, target any) error {
	if len(raw) == 0 {
		return fmt.Errorf("%w: a value is missing", errIncompatible)
	}
	if fault := decodeValue(raw, reflect.ValueOf(target).Elem(), "", anyLength); fault != nil {
		return fmt.Errorf("%w: %s", errIncompatible, strings.TrimPrefix(fault.Message, "/"))
	}
	return nil
}

// bounds are those of a member's tags.
type bounds struct{ min, max int64 }

var anyLength = bounds{0, math.MaxInt64}

// decodeValue stores one value by the rules of the protocol; path is its place. They
// differ from those of encoding/json:
//   - Names match exactly.
//   - null is valid only where the schema allows it.
//   - An integer may have any JSON notation.
//   - A member without "omitempty" is required.
//   - A member with the tag min is at least that: an integer and each integer of a list
//     by its value, a string and a list by its length.
//   - A list with the tag max has at most so many items.
//
// Tests compare these rules with the schema.
func decodeValue(raw json.RawMessage, v reflect.Value, path string, allowed bounds) *Error {
	if u, ok := v.Addr().Interface().(json.Unmarshaler); ok {
		if err := u.UnmarshalJSON(raw); err != nil {
			return errPayload(path, err.Error())
		}
		return nil
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return decodeValue(raw, v.Elem(), path, allowed)
	case reflect.Struct:
		return decodeMembers(raw, v, path)
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Uint8 {
			return decodeItems(raw, v, path, allowed)
		}
		if err := json.Unmarshal(raw, v.Addr().Interface()); err != nil {
			return errPayload(path, "base64")
		}
	case reflect.String:
		s, ok := decodeString(raw)
		if !ok || int64(len(s)) < allowed.min {
			return errPayload(path, "a string"+notEmpty(allowed.min))
		}
		v.SetString(s)
	case reflect.Int, reflect.Int64: // the schema has no negative integer
		n, ok := decodeInteger(raw, allowed.min)
		if !ok {
			return errPayload(path, fmt.Sprintf("an integer from %d", allowed.min))
		}
		v.SetInt(n)
	default: // booleans, and the caller's type for a result
		if err := json.Unmarshal(raw, v.Addr().Interface()); err != nil || string(raw) == "null" &&
			v.Kind() == reflect.Bool {
			return errPayload(path, "a "+v.Type().String())
		}
	}
	return nil
}

func decodeItems(raw json.RawMessage, v reflect.Value, path string, allowed bounds) *Error {
	list, ok := decodeList(raw)
	switch n := int64(len(list)); {
	case !ok || n < allowed.min:
		return errPayload(path, "a list"+notEmpty(allowed.min))
	case n > allowed.max:
		return errPayload(path, fmt.Sprintf("a list of at most %d items", allowed.max))
	}
	if v.Type().Elem().Kind() != reflect.Int {
		allowed = anyLength
	}
	v.Set(reflect.MakeSlice(v.Type(), len(list), len(list)))
	for i, item := range list {
		if fault := decodeValue(item, v.Index(i), fmt.Sprintf("%s/%d", path, i), allowed); fault != nil {
			return fault
		}
	}
	return nil
}

func decodeMembers(raw json.RawMessage, v reflect.Value, path string) *Error {
	if raw == nil && v.NumField() == 0 {
		return nil // a payload without members may be left out
	}
	members, ok := decodeObject(raw)
	if !ok {
		return errPayload(path, "an object")
	}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, option, _ := strings.Cut(field.Tag.Get("json"), ",")
		value, present := members[name]
		switch {
		case !present && option == "":
			return errPayload(path+"/"+name, "there")
		case !present:
			continue
		case string(value) == "null" && isNullable(field):
			v.Field(i).SetZero()
			continue
		}
		if fault := decodeValue(value, v.Field(i), path+"/"+name, boundsOf(field.Tag)); fault != nil {
			return fault
		}
	}
	return nil
}

// isNullable reports whether null stands for the zero value of a member.
func isNullable(field reflect.StructField) bool {
	optional := strings.HasSuffix(field.Tag.Get("json"), ",omitempty")
	return field.Type.Kind() == reflect.Pointer && !optional || field.Tag.Get("null") != ""
}

func boundsOf(tag reflect.StructTag) bounds {
	b := anyLength
	b.min, _ = strconv.ParseInt(tag.Get("min"), 10, 64)
	if limit, err := strconv.ParseInt(tag.Get("max"), 10, 64); err == nil {
		b.max = limit
	}
	return b
}

func errPayload(path, must string) *Error {
	return errorf(CodeBadPayload, map[string]any{"path": path}, "%s must be %s", path, must)
}

func notEmpty(minimum int64) string {
	if minimum > 0 {
		return " that is not empty"
	}
	return ""
}

const maxInteger = 1<<53 - 1

// id is a request's id in the JSON of its response: a string, a number, or null.
type id string

const noID id = "null"

func intID(n int64) id { return id(strconv.FormatInt(n, 10)) }

func (i id) MarshalJSON() ([]byte, error) { return []byte(i), nil }

func (i *id) UnmarshalJSON(raw []byte) (err error) {
	var ok bool
	if *i, ok = decodeID(raw); !ok {
		err = errors.New("the id of a request")
	}
	return err
}

func decodeID(raw json.RawMessage) (id, bool) {
	if n, ok := decodeInteger(raw, 0); ok {
		return intID(n), n <= maxInteger
	}
	s, ok := decodeString(raw)
	if !ok || s == "" || utf8.RuneCountInString(s) > 64 {
		return noID, false
	}
	// Half of a surrogate pair is not valid here: the response would have an id that the
	// client did not choose.
	text, err := json.Marshal(s)
	return id(text), err == nil && jsontext.Value(raw).IsValid()
}

// decodeInteger decodes an integer in any notation: 1.0 and 1e0 are 1. Integers above
// maxInteger become maxInteger+1.
func decodeInteger(raw json.RawMessage, minimum int64) (int64, bool) {
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
	return min(n, maxInteger+1), n >= minimum
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

func decodeList(raw json.RawMessage) (list []json.RawMessage, ok bool) {
	if len(raw) == 0 || raw[0] != '[' {
		return nil, false
	}
	return list, json.Unmarshal(raw, &list) == nil
}

func decodeObject(raw json.RawMessage) (members map[string]json.RawMessage, ok bool) {
	if len(raw) == 0 || raw[0] != '{' {
		return nil, false
	}
	return members, json.Unmarshal(raw, &members) == nil
}
