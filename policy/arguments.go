package policy

import "browser-coordinator/internal/strictjson"

// arguments are the parameters of an operation. Nil: unreadable.
type arguments map[string][]byte

// read reads a JSON object. A repeated name makes it unreadable: readers differ in which
// value they use.
func read(object []byte) arguments {
	args := arguments{}
	err := strictjson.Members(object, func(name string, value []byte) error {
		args[name] = value
		return nil
	})
	if err != nil {
		return nil
	}
	return args
}

// is reports whether the parameter has literally this value.
func (a arguments) is(name, literal string) bool { return string(a[name]) == literal }

// text returns a parameter that is a string.
func (a arguments) text(name string) (string, bool) {
	s, err := strictjson.String(a[name])
	return s, err == nil
}
