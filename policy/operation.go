package policy

// Class is what an operation does.
type Class int

const (
	// Unknown: nobody has given it a class. It is always denied.
	Unknown Class = iota
	// ReadOnly: it changes nothing that the page or the user could notice.
	ReadOnly
	// Mutating: it changes something.
	Mutating
)

var classNames = [...]string{Unknown: "unknown", ReadOnly: "read-only", Mutating: "mutating"}

func (c Class) String() string { return classNames[c] }

// Operation is a call of a tool, which knows its class and its category, or [Connect].
type Operation struct {
	Name  string
	Class Class
	// Category is the kind of action that the user can allow for a session, of a mutating
	// operation. It may be empty.
	Category string
}

// Connect is what a client of the endpoint does when it joins.
var Connect = Operation{Name: "connect", Class: Mutating}

// The kinds of actions that users know. The window has a name for each.
const (
	Input      = "input"
	Navigation = "navigation"
	Script     = "script"
	Storage    = "storage"
	Debugger   = "debugger"
)
