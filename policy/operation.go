package policy

import "encoding/json"

// Class is what an operation does.
type Class int

const (
	// Unknown: it is not in the tables. It is always denied.
	Unknown Class = iota
	// ReadOnly: it changes nothing that the page or the user could notice. Of methods only
	// those that clients need to look.
	ReadOnly
	// Mutating: it changes something.
	Mutating
	// Destructive: it ends the browser for everyone, or enables that.
	Destructive
)

var classNames = [...]string{Unknown: "unknown", ReadOnly: "read-only", Mutating: "mutating", Destructive: "destructive"}

func (c Class) String() string { return classNames[c] }

// Operation is a CDP command, see [Command], or a call of a tool, which knows its class and
// its category.
type Operation struct {
	Name  string // the method, of the inner command where one carries another, or the tool
	Class Class
	// Category is the kind of action that the user can allow for a session, of a mutating
	// operation. It may be empty.
	Category string

	entry  *entry // nil: not in the tables
	params json.RawMessage
	detail string
	reason string // why it is not read-only, although the method is
	tooBig bool
}

// Connect is what a client of the endpoint does when it joins.
var Connect = Operation{Name: "connect", Class: Mutating}

// nesting bounds how deep commands may be nested.
const nesting = 4

// Command classifies a CDP command. A method that is not in the table is mutating, since
// browsers get new ones all the time. A command with unreadable or ambiguous parameters
// is never read-only, and destructive where they could hide that. The operation refers to
// params.
func Command(method string, params json.RawMessage) Operation {
	for range nesting {
		e := methods()[method]
		if e == nil {
			return Operation{Name: method, Class: Mutating, params: params, tooBig: len(params) > maxParameters}
		}
		if e.inner == "" {
			o := e.classify(method, params)
			o.tooBig = len(params) > maxParameters && !e.large
			return o
		}
		carried, inner, ok := carriedBy(e, params)
		if !ok {
			break
		}
		method, params = carried, inner
	}
	return unreadable(method, nil)
}

// maxParameters bounds the parameters of a command: Chromium needs seconds to read more,
// for all clients. A method that carries files or documents may have more.
const maxParameters = 16 << 20

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
	if o.Class == ReadOnly && e.method {
		if o.reason = e.beyond(params); o.reason != "" {
			o.Class = Mutating
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
