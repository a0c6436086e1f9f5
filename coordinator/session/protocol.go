package session

import (
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The methods of a session besides those of MCP. They stay as they are from version to version:
// another one must be able to list a session, and to end it.
const (
	methodState = "browser-coordinator/session"
	methodEnd   = "browser-coordinator/end"
)

// State is what a session reports of itself.
type State struct {
	Name    string `json:"name,omitempty"` // empty: it is the folder's
	Folder  string `json:"folder"`
	Agent   string `json:"agent"`             // its name
	Browser string `json:"browser,omitempty"` // in which it works; empty: none yet
	PID     int    `json:"pid"`
	Version string `json:"version"` // of its program
	// Output is the folder for files that no call names; empty: below Folder.
	Output string `json:"output,omitempty"`
	// Config are the projects' files that restrict it.
	Config []string `json:"config,omitempty"`
	// Running is how many other commands run now.
	Running int `json:"running"`
	// Used is when the last command ended, or the session began.
	Used time.Time `json:"used"`
	// Refs are those of the last snapshot, each with its line.
	Refs []Ref `json:"refs,omitempty"`
}

// Ref is an element of a snapshot.
type Ref struct {
	Ref  string `json:"ref"`
	Line string `json:"line"`
}

type noParams struct{ mcp.ParamsBase }

type stateResult struct {
	mcp.ResultBase
	State
}

type endResult struct{ mcp.ResultBase }
