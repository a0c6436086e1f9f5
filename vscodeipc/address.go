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

// Canonical returns the path that identifies a window: links resolved, the name as
// it is on disk, spelt as spec 1 says. The error of a path that does not exist wraps
// [io/fs.ErrNotExist].
func Canonical(path string) (string, error) { return identity.Canonical(path) }

// Hash names the canonical path in addresses.
func Hash(canonical string) string { return identity.Hash(canonical) }

// Find returns the addresses in use for a hash, whether or not a window answers
// there. Most often there is none or one.
func Find(hash string) []Address { return socket.Find(hash) }

// List returns the addresses in use in all directories of the user. The error
// reports directories that were refused, beside the addresses of the others.
func List() ([]Address, error) { return socket.List() }

// Dir returns the directory in which windows of this environment listen, "" on
// Windows.
func Dir() (string, error) { return socket.Dir() }

// WatchDirs watches the directories of List. The logger may be nil.
func WatchDirs(log *slog.Logger) *DirWatcher { return socket.WatchDirs(log) }
