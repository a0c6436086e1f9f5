// Package socket manages the addresses of windows on this system: it lists, binds,
// connects, watches and removes the sockets in their directories, or the pipes of
// Windows.
package socket

import (
	"path/filepath"
	"regexp"
	"strings"

	"browser-coordinator/internal/usersocket"
)

// Address is where a window listens: the path of its socket, or on Windows the
// name of its pipe.
type Address string

// ErrForeign is wrapped by errors about a directory, socket or peer that is not
// the user's own, or is not a socket.
var ErrForeign = usersocket.ErrForeign

// Dir is a directory in which windows of this user may listen, and its state.
type Dir struct {
	Path string // DIR of spec 2
	// Sockets is where the sockets are: Path, or the short directory in its place. It is
	// empty if no window has made a usable short directory.
	Sockets string
	// Long reports that Path is too long for sockets.
	Long bool
	// Err is why windows and clients refuse it; nil for one that does not exist.
	Err error
}

// maxSuffix is the largest suffix of windows on one folder.
const maxSuffix = 9

// longestName is the length of the longest socket name that has a hash.
const longestName = len("ipc-0123456789abcdef-2.sock")

var namePattern = regexp.MustCompile(`^ipc-([0-9a-f]{16}|pid-[0-9]+)(?:-([2-9]))?\.sock$`)

// Key returns the window's hash, or "pid-" and its process id for a window without a
// workspace, or "" for an address that is not a window's.
func (a Address) Key() string {
	m := namePattern.FindStringSubmatch(a.socketName())
	if m == nil {
		return ""
	}
	return m[1]
}

// Suffix returns the number that distinguishes windows on one workspace: 1 for an
// address without one, 0 for an address that is not a window's.
func (a Address) Suffix() int {
	m := namePattern.FindStringSubmatch(a.socketName())
	switch {
	case m == nil:
		return 0
	case m[2] == "":
		return 1
	}
	return int(m[2][0] - '0')
}

// socketName returns the name of the socket, or the equivalent for a pipe.
func (a Address) socketName() string {
	if rest, ok := strings.CutPrefix(string(a), pipePrefix); ok {
		return "ipc-" + rest + ".sock"
	}
	return filepath.Base(string(a))
}

const pipePrefix = `\\.\pipe\browser-coordinator-mcp-`
