package policy

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Class is what an operation does.
type Class int

const (
	// Unknown: it is not in the tables. It is always denied.
	Unknown Class = iota
	// ReadOnly: it changes nothing that the page or the user could notice.
	ReadOnly
	// Mutating: it changes something.
	Mutating
	// Destructive: it ends the browser for everyone, or enables that.
	Destructive
)

var classNames = [...]string{Unknown: "unknown", ReadOnly: "read-only", Mutating: "mutating", Destructive: "destructive"}

func (c Class) String() string { return classNames[c] }

// Operation is a CDP command or a call of a tool.
type Operation struct {
	Name  string // the method, of the inner command where one carries another, or the tool
	Class Class
	// Category is the kind of action that the user can allow for a session, of a mutating
	// operation. It may be empty.
	Category string

	entry  *entry // nil: not in the tables
	params json.RawMessage
	detail string
}

// nesting bounds how deep commands may be nested.
const nesting = 4

// Command classifies a CDP command. A method that is not in the table is mutating, since
// browsers get new ones all the time. A command with unreadable or ambiguous parameters
// is destructive. The operation refers to params.
func Command(method string, params json.RawMessage) Operation {
	for range nesting {
		e := methods()[method]
		if e == nil {
			return Operation{Name: method, Class: Mutating}
		}
		if e.inner == "" {
			return e.classify(method, params)
		}
		carried, inner, ok := carriedBy(e, params)
		if !ok {
			break
		}
		method, params = carried, inner
	}
	return unreadable(method, nil)
}

// carriedBy returns the command in the parameters of another one.
func carriedBy(e *entry, params json.RawMessage) (method string, inner json.RawMessage, ok bool) {
	text, ok := read(params).text(e.inner)
	if !ok {
		return "", nil, false
	}
	command := read([]byte(text))
	method, ok = command.text("method")
	return method, json.RawMessage(command["params"]), ok
}

// Tool classifies a call of a tool. It encodes the arguments as JSON only if they matter.
func Tool(name string, arguments any) Operation {
	e := tools()[name]
	if e == nil {
		return Operation{Name: name}
	}
	if e.unless == nil {
		return e.classify(name, nil)
	}
	params, err := json.Marshal(arguments)
	if err != nil {
		return Operation{Name: name, Class: e.class, entry: e}
	}
	return e.classify(name, params)
}

// classify decides the class of an operation by its parameters.
func (e *entry) classify(name string, params json.RawMessage) Operation {
	o := Operation{Name: name, Class: e.class, entry: e, params: params}
	var args arguments
	if e.unless != nil || e.destructive != nil || e.categoryIf != nil {
		args = read(params)
		readable := args != nil || len(params) == 0
		switch {
		case e.destructive != nil && !readable:
			return unreadable(name, e)
		case e.destructive != nil && e.destructive(args):
			o.Class = Destructive
		case e.unless != nil && readable && e.unless(args):
			o.Class = ReadOnly
		}
	}
	if o.Class == Mutating && (e.categoryIf == nil || e.categoryIf(args)) {
		o.Category = e.category
	}
	return o
}

func unreadable(name string, e *entry) Operation {
	return Operation{Name: name, Class: Destructive, entry: e, detail: "a command that cannot be read"}
}

// Detail describes the operation to people: a URL, or the code that would run. It is
// empty for read-only operations.
func (o Operation) Detail() string {
	if o.detail != "" || o.Class == ReadOnly || o.entry == nil || o.entry.shows == "" {
		return o.detail
	}
	return shown(read(o.params)[o.entry.shows])
}

// shownBytes bounds the shown part of a parameter.
const shownBytes = 120

// shown is a parameter as one line for people.
func shown(value []byte) string {
	text, ok := "", false
	if len(value) <= 4*shownBytes {
		text, ok = decodeText(value)
	}
	if !ok { // cut off, or not a string
		text = strings.Trim(string(value[:min(len(value), 4*shownBytes)]), `"`)
	}
	if strings.ContainsAny(text, "\t\r\n") || strings.Contains(text, "  ") {
		text = strings.Join(strings.Fields(text), " ")
	}
	if len(text) > shownBytes {
		text = text[:shownBytes]
		for !utf8.ValidString(text) {
			text = text[:len(text)-1]
		}
		text += "…"
	}
	return text
}
