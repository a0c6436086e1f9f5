//go:build unix

package vscodeipc

import (
	"slices"
	"syscall"
	"testing"

	"github.com/fsnotify/fsnotify"

	"browser-coordinator/vscodeipc/internal/identity"
	"browser-coordinator/vscodeipc/internal/socket"
)

// SetWorldParent keeps the tests out of the directory that all users share.
func SetWorldParent(dir string) { socket.SharedParent = dir }

// ExhaustNotify makes the system refuse file watches until the test ends.
func ExhaustNotify(t *testing.T) {
	before := socket.NewNotify
	socket.NewNotify = func() (*fsnotify.Watcher, error) { return nil, syscall.EMFILE }
	t.Cleanup(func() { socket.NewNotify = before })
}

// Spell is step 2 of the canonical path.
var Spell = identity.Spell

// VectorLines returns the vectors that are lines. Those of requests occur more often.
func VectorLines(t testing.TB) (lines []string) {
	for _, line := range vectorLines(t) {
		times := 1
		if _, fault := decodeRequest(line); fault == nil {
			times = 8
		}
		lines = append(lines, slices.Repeat([]string{string(line)}, times)...)
	}
	return lines
}

// VectorPaths returns the vectors that are paths.
func VectorPaths(t testing.TB, goos string) (paths []string) {
	for _, v := range identityVectors(t, goos) {
		paths = append(paths, v.path(t))
	}
	return paths
}
