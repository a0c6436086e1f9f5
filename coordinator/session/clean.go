package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"browser-coordinator/internal/trusted"
)

// keptFor is how long the files of a session that has ended are kept: its log shows why it ended.
const keptFor = 7 * 24 * time.Hour

// sweep removes the files of the other sessions that ended long ago. None of them has a socket: the next
// command reports one that was left behind.
func (p Place) sweep() error {
	paths, err := filepath.Glob(filepath.Join(p.dir, "session-*.*"))
	if err != nil {
		return err
	}
	others := map[string][]string{} // files by the hash of their session
	for _, path := range paths {
		hash, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(path), "session-"), ".")
		if hash != p.hash {
			others[hash] = append(others[hash], path)
		}
	}
	var failed error
	for hash, files := range others {
		if !slices.ContainsFunc(files, isKept) {
			failed = errors.Join(failed, Place{dir: p.dir, hash: hash}.remove(files))
		}
	}
	return failed
}

// isKept reports whether a file shows that its session runs, or ended a short time ago.
func isKept(path string) bool {
	info, err := os.Lstat(path)
	return err != nil || strings.HasSuffix(path, ".sock") || time.Since(info.ModTime()) < keptFor
}

// remove removes the files of a session, unless one begins there just now.
func (p Place) remove(files []string) error {
	lock := flock.New(p.path("lock"), flock.SetPermissions(0o600))
	free, err := trusted.Lock(lock, lock.TryLock)
	if err != nil || !free {
		return err
	}
	defer lock.Unlock()
	if _, err := os.Lstat(p.path("sock")); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, path := range append(files, lock.Path()) {
		if removeErr := os.Remove(path); removeErr != nil && !errors.Is(removeErr, fs.ErrNotExist) {
			err = errors.Join(err, fmt.Errorf("remove the files of a session that has ended: %w", removeErr))
		}
	}
	return err
}
