package vscodeipc

import (
	"encoding/json"
	"log/slog"
	"strings"
)

// discard is the default logger.
var discard = slog.New(slog.DiscardHandler)

// version is the version of the window protocol (spec 9.2).
const version = 2

// The limits of spec 11.
const (
	maxInFlight    = 256
	maxConnections = 256
	maxItems       = 1000 // of a list in a state
)

// The limits of spec 11 in bytes. They are variables only for tests.
var (
	maxLine    = 8 << 20
	maxState   = 7 << 20 // of a state's event: a hello must have room for more
	maxWaiting = 16 << 20
)

// Peer names a program at one end of a connection.
type Peer struct {
	Name    string `json:"name" min:"1"`
	Version string `json:"version"`
}

// ServerInfo names the program that serves a window. Kind is "vscode", "terminal" or
// another editor's name. Start is how its user starts a browser, to follow "no browser
// now: "; empty: the window does not say.
type ServerInfo struct {
	Name    string `json:"name" min:"1"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
	Start   string `json:"start,omitempty"`
}

func (s ServerInfo) String() string { return strings.TrimSpace(s.Name + " " + s.Version) }

// Hello is how a window identifies itself (spec 5). Workspace is empty for a window
// without a folder, and null in JSON.
type Hello struct {
	Version   int        `json:"version"`
	Server    ServerInfo `json:"server"`
	Session   string     `json:"session" min:"1"`
	PID       int        `json:"pid" min:"1"`
	Workspace string     `json:"workspace" null:"empty"`
	Folders   []string   `json:"folders"`
	Commands  []string   `json:"commands"`
	Events    []string   `json:"events"`
	Seq       int64      `json:"seq"`
	State     State      `json:"state"`
}

// MarshalJSON writes null for a window without a workspace.
func (h Hello) MarshalJSON() ([]byte, error) {
	type members Hello
	encoded := struct {
		members
		Workspace *string `json:"workspace"`
	}{members: members(h)}
	if h.Workspace != "" {
		encoded.Workspace = &h.Workspace
	}
	return json.Marshal(encoded)
}

// State is everything that a window reports of its debugging (spec 8). The window
// counts Revision.
type State struct {
	Revision      int64          `json:"revision"`
	DebugSessions []DebugSession `json:"debugSessions" max:"1000"`
	Browser       *Browser       `json:"browser"`
	Pages         []PageEndpoint `json:"pages" max:"1000"`
	// Access is what the user allows. A missing or unknown mode counts as view.
	Access Access `json:"access,omitzero"`
	// Editor is nil if the user has no file of the window's folders open, or does not
	// share it.
	Editor *Editor `json:"editor,omitempty"`
	// Notes are the ids of the clients to which the user has written ([CommandNoteTake]).
	Notes []string `json:"notes,omitempty" max:"1000"`
	// Tests are the ids of the clients whose actions the user wants as a test ([CommandTestGive]).
	Tests []string `json:"tests,omitempty" max:"1000"`
}

// Access is what the user allows the clients of the window's browser.
type Access struct {
	Mode    AccessMode `json:"mode"`
	Stopped []string   `json:"stopped"` // names of stopped clients
	// TakenOver: the user works in the browser, so that agents' actions wait.
	TakenOver bool `json:"takenOver,omitempty"`
}

// AccessMode is what clients may do.
type AccessMode string

// The access modes. With AccessAsk, clients ask the window before each mutating action
// that its user has not allowed. With AccessView, they may only read.
const (
	AccessFull AccessMode = "full"
	AccessAsk  AccessMode = "ask"
	AccessView AccessMode = "view"
)

// Editor is the user's place in the editor, and the selection there. Lines and columns
// count from 1, columns in UTF-16 code units.
type Editor struct {
	Path      string `json:"path"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"endLine"`
	EndColumn int    `json:"endColumn"`
	Dirty     bool   `json:"dirty"` // has unsaved changes
}

// DebugSession is a running debug session of a browser; Parent is the id of the
// session that started it, or empty.
type DebugSession struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Type   string `json:"type"`
	Parent string `json:"parent,omitempty"`
	Remote bool   `json:"remote,omitempty"` // its browser runs on the user's machine, the window on another
}

// Browser is the browser-level CDP endpoint of the window's debug browser. Via
// is "injected", "configured", "attached", "launched", "provided" or "personal" today.
type Browser struct {
	URL          string `json:"url"`
	Product      string `json:"product,omitempty"`
	DebugSession string `json:"debugSession,omitempty"`
	Via          string `json:"via"`
}

// PageEndpoint is a page-level CDP endpoint. The path of its URL is a secret.
type PageEndpoint struct {
	DebugSession string `json:"debugSession"`
	Name         string `json:"name"`
	URL          string `json:"url"`
}

// stateAnswer answers state and listen. State is the state directly after event Seq.
type stateAnswer struct {
	Session string `json:"session" min:"1"`
	Seq     int64  `json:"seq"`
	State   State  `json:"state"`
}

type bye struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

type helloRequest struct {
	Client Peer `json:"client"`
}

type listenRequest struct {
	Events []string `json:"events" min:"1"`
}

type callRequest struct {
	Command string          `json:"command" min:"1"`
	Arg     json.RawMessage `json:"arg,omitempty"`
}

type callAnswer struct {
	Result json.RawMessage `json:"result"`
}

type cancelRequest struct {
	ID id `json:"id"`
}

type cancelAnswer struct {
	Cancelled bool `json:"cancelled"`
}
