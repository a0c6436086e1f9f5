//go:build unix

package socket

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// RemoveLeftovers removes what processes left that were killed while they bound or deleted
// a socket. What cannot be removed now is left to the next one.
func RemoveLeftovers(ctx context.Context) {
	for _, dir := range searchDirs() {
		if checkDir(dir) != nil || len(leftovers(dir)) == 0 {
			continue
		}
		lock, err := LockDir(ctx, dir)
		if err != nil {
			return // ctx has ended, as a rule
		}
		removeLeftovers(dir)
		lock.Unlock()
	}
}

// removeLeftovers is RemoveLeftovers for a caller that holds the directory's lock.
func removeLeftovers(dir string) {
	for _, path := range leftovers(dir) {
		removeNewSocket(path)
	}
}

// leftovers are the names of spec 2.3 that are older than any process holds the lock.
func leftovers(dir string) (paths []string) {
	entries, _ := os.ReadDir(dir) // what is not readable has none that can be removed
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".bind-") && !strings.HasPrefix(e.Name(), ".gone-") {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()).Abs() > lockStale {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths
}
