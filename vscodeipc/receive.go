package vscodeipc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
)

// decodeStrict stores a message's value in what into points to, by the rules of the
// protocol. They differ from those of encoding/json:
//   - Names match exactly.
//   - null is valid only where the schema allows it.
//   - An integer may have any JSON notation.
//   - A member without "omitempty" is required.
//
// A test compares these tags with the schema.
func decodeStrict(raw json.RawMessage, into any) error {
	if len(raw) == 0 {
		return fmt.Errorf("%w: a value is missing", ErrIncompatible)
	}
	if path, must := decodeValue(raw, reflect.ValueOf(into).Elem(), ""); must != "" {
		return fmt.Errorf("%w: %s must be %s", ErrIncompatible, strings.TrimPrefix(path, "/"), must)
	}
	return nil
}

// decodeValue stores one value. On a mismatch, fault is the place of the value and must
// is the type that it must have.
func decodeValue(raw json.RawMessage, v reflect.Value, path string) (fault, must string) {
	if v.Type() == reflect.TypeFor[json.RawMessage]() {
		v.SetBytes(bytes.Clone(raw))
		return "", ""
	}
	if u, ok := v.Addr().Interface().(json.Unmarshaler); ok {
		if err := u.UnmarshalJSON(raw); err != nil {
			return path, err.Error()
		}
		return "", ""
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return decodeValue(raw, v.Elem(), path)
	case reflect.Struct:
		return decodeMembers(raw, v, path)
	case reflect.Slice:
		list, ok := decodeList(raw)
		if !ok {
			return path, "a list"
		}
		v.Set(reflect.MakeSlice(v.Type(), len(list), len(list)))
		for i, item := range list {
			if fault, must := decodeValue(item, v.Index(i), fmt.Sprintf("%s/%d", path, i)); must != "" {
				return fault, must
			}
		}
	case reflect.String:
		s, ok := decodeString(raw)
		if !ok {
			return path, "a string"
		}
		v.SetString(s)
	case reflect.Int, reflect.Int64: // the schema has no negative integer
		n, ok := decodeInteger(raw, 0)
		if !ok {
			return path, "an integer from 0"
		}
		v.SetInt(n)
	default: // booleans, and the caller's type for a result
		if err := json.Unmarshal(raw, v.Addr().Interface()); err != nil || string(raw) == "null" && v.Kind() == reflect.Bool {
			return path, "a " + v.Type().String()
		}
	}
	return "", ""
}

func decodeMembers(raw json.RawMessage, v reflect.Value, path string) (fault, must string) {
	members, ok := decodeObject(raw)
	if !ok {
		return path, "an object"
	}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, option, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" || !field.IsExported() {
			continue
		}
		if name == "" {
			name = field.Name
		}
		at := path + "/" + name
		value, given := members[name]
		switch {
		case !given && option == "":
			return at, "there"
		case !given:
			continue
		case string(value) == "null" && option == "" && field.Type.Kind() == reflect.Pointer:
			v.Field(i).SetZero()
			continue
		}
		if fault, must := decodeValue(value, v.Field(i), at); must != "" {
			return fault, must
		}
	}
	return "", ""
}

// UnmarshalJSON reads what the user allows and never fails: a value that is missing,
// unknown or of another type counts as the least, AccessView.
func (a *Access) UnmarshalJSON(raw []byte) error {
	members, _ := decodeObject(raw)
	mode, _ := decodeString(members["mode"])
	a.Mode, a.Stopped = AccessMode(mode), []string{}
	if path, must := decodeValue(members["stopped"], reflect.ValueOf(&a.Stopped).Elem(), ""); path != "" || must != "" {
		a.Mode = AccessView
	}
	*a = a.normal()
	return nil
}

func (a Access) normal() Access {
	switch a.Mode {
	case AccessFull, AccessAsk, AccessView:
	default:
		a.Mode = AccessView
	}
	if a.Stopped == nil {
		a.Stopped = []string{}
	}
	return a
}

// loopback is the schema's pattern for the URL of an endpoint.
var loopback = regexp.MustCompile(`^ws://(127\.0\.0\.1|localhost|\[::1\]):[0-9]{1,5}/`)

// accept prepares a received state for use. It refuses an endpoint that is not on
// loopback: a window must not lead a client to another machine.
func (s *State) accept() error {
	*s = s.normal()
	if s.Browser != nil && !loopback.MatchString(s.Browser.URL) {
		return fmt.Errorf("%w: the address of its browser is not ws://127.0.0.1:PORT/…", ErrIncompatible)
	}
	for _, p := range s.Pages {
		if !loopback.MatchString(p.URL) {
			return fmt.Errorf("%w: the address of its page %q is not ws://127.0.0.1:PORT/…", ErrIncompatible, p.Name)
		}
	}
	return nil
}

// fits checks that a window is the one that its address names. Otherwise it would get
// requests for another workspace.
func (h *Hello) fits(a Address) error {
	key := a.Key()
	switch {
	case key == "":
		return nil
	case strings.HasPrefix(key, "pid-"):
		if h.Workspace != nil {
			return fmt.Errorf("%w: its address is that of a window without a folder, but its hello names the workspace %q", ErrIncompatible, *h.Workspace)
		}
	case h.Workspace == nil:
		return fmt.Errorf("%w: its address is that of a workspace, but its hello names none", ErrIncompatible)
	case Hash(*h.Workspace) != key:
		return fmt.Errorf("%w: its hello names the workspace %q, but its address is another's", ErrIncompatible, *h.Workspace)
	}
	return nil
}
