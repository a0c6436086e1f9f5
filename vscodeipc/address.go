package vscodeipc

import (
	"log/slog"

	"browser-coordinator/vscodeipc/internal/identity"
	"browser-coordinator/vscodeipc/internal/socket"
)

// Address is where a window listens: the path of its socket, or on Windows the
// name of its pipe.
type Address = socket.Address

// DirWatcher reports when a window's address appears or goes.
type DirWatcher = socket.DirWatcher

// Canonical returns the path that identifies a window: absolute, links resolved, the
// name as it is on disk, spelt by the rules of spec 1. The error for a path that does
// not exist wraps [io/fs.ErrNotExist].
func Canonical(path string) (string, error) { return identity.Canonical(path) }

// Hash names the canonical path in addresses.
func Hash(canonical string) string { return identity.Hash(canonical) }

// List returns the addresses in use in all directories of the user. The error reports
// the refused directories; the addresses of the others are complete.
func List() ([]Address, error) { return socket.List() }

// Dir is a directory in which windows of the user may listen, and its state.
type Dir = socket.Dir

// Dirs returns the directories that List searches. The first is that of this environment.
// Windows has none.
func Dirs() ([]Dir, error) { return socket.Dirs() }

// WatchDirs watches the directories of List. The logger may be nil.
func WatchDirs(log *slog.Logger) *DirWatcher { return socket.WatchDirs(log) }
