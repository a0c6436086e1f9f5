//go:build unix

package socket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"browser-coordinator/internal/usersocket"
)

const (
	lockName    = ".lock"
	lockTimeout = 15 * time.Second // how long a waiter tries: longer than lockStale
	lockStale   = 10 * time.Second // the age at which a lock is abandoned
	lockRetry   = 5 * time.Millisecond
)

// dirLock is the lock of spec 2.2. It separates windows that bind and delete, in both
// languages, so it is a file and not a lock of the kernel's.
type dirLock struct {
	path string
	file *os.File // kept open, so that no other lock gets its inode
	info fs.FileInfo
}

// LockDir takes the lock. Go and Node have no common event for its release, so a waiter
// tries again every few milliseconds.
func LockDir(ctx context.Context, dir string) (*dirLock, error) {
	ctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	retry := time.NewTicker(lockRetry)
	defer retry.Stop()
	path := filepath.Join(dir, lockName)
	for {
		l, err := tryLock(path)
		if err == nil || !errors.Is(err, fs.ErrExist) {
			return l, err
		}
		if breakLock(path) {
			continue
		}
		select {
		case <-retry.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for the lock %s, which another process holds: %w", path, ctx.Err())
		}
	}
}

func tryLock(path string) (*dirLock, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("take the lock: %w", err)
	}
	_, errWrite := f.WriteString(strconv.Itoa(os.Getpid()) + "\n")
	info, errStat := f.Stat()
	if err := errors.Join(errWrite, errStat); err != nil {
		os.Remove(path) // it would be abandoned only after 10 s
		f.Close()
		return nil, fmt.Errorf("write the lock: %w", err)
	}
	return &dirLock{path, f, info}, nil
}

// Unlock releases the lock, unless another process broke it meanwhile.
func (l *dirLock) Unlock() {
	if now, err := os.Lstat(l.path); err == nil && usersocket.IsSameFile(now, l.info) {
		os.Remove(l.path)
	}
	l.file.Close()
}

// breakLock removes a lock that no process holds any longer, and reports whether there
// is none now. Only the age counts: the pid in the lock means nothing here if its process
// is in a container or a Flatpak. A date far in the future counts too: the clock was set
// back since, and would need as long to reach that date.
func breakLock(path string) bool {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return errors.Is(err, fs.ErrNotExist)
	case time.Since(info.ModTime()).Abs() < lockStale:
		return false
	}
	return usersocket.RemoveSame(path, info) == nil
}
