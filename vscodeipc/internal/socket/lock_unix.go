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
	if now, err := os.Lstat(l.path); err == nil && same(now, l.info) {
		os.Remove(l.path)
	}
	l.file.Close()
}

// same reports whether both describe one file. The inode alone is not enough: the system
// reuses it as soon as a file is deleted.
func same(a, b fs.FileInfo) bool { return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) }

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
	return removeSame(path, info) == nil
}

// errReplaced reports that another file has the name meanwhile.
var errReplaced = errors.New("another file took its name")

// removeSame deletes the file at path only if it is the one that info describes. It
// first renames the file and then checks it. If the process was stopped for long between
// checking and deleting, it puts the wrong file back.
func removeSame(path string, info fs.FileInfo) error {
	aside := filepath.Join(filepath.Dir(path), ".gone-"+unique())
	if err := os.Rename(path, aside); err != nil {
		return err
	}
	now, err := os.Lstat(aside)
	switch {
	case err != nil:
		return err
	case same(now, info):
		return os.Remove(aside)
	}
	if err := os.Link(aside, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("put %s back: %w", path, err)
	}
	return errors.Join(errReplaced, os.Remove(aside))
}
