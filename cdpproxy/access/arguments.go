package access

import (
	"bytes"
	"encoding/json"

	"browser-coordinator/cdpproxy"
)

// arguments are the parameters of a command, each once. Nil: they cannot be read.
type arguments []argument

type argument struct {
	name  string
	value []byte
}

// read reads params, which are valid JSON.
func read(params json.RawMessage) arguments {
	args := make(arguments, 0, 8)
	err := cdpproxy.Members(params, func(name string, value []byte) error {
		args = append(args, argument{name, value})
		return nil
	})
	if err != nil {
		return nil
	}
	return args
}

// get returns nil if there is none of that name.
func (a arguments) get(name string) []byte {
	for i := range a {
		if a[i].name == name {
			return a[i].value
		}
	}
	return nil
}

// is reports whether there is one that is literally this.
func (a arguments) is(name, literal string) bool { return string(a.get(name)) == literal }

// text returns one that is a string.
func (a arguments) text(name string) (string, bool) { return decodeText(a.get(name)) }

// decodeText decodes a JSON string.
func decodeText(value []byte) (s string, ok bool) {
	if len(value) < 2 || value[0] != '"' {
		return "", false
	}
	if bytes.IndexByte(value, '\\') < 0 {
		return string(value[1 : len(value)-1]), true
	}
	ok = json.Unmarshal(value, &s) == nil
	return s, ok
}
