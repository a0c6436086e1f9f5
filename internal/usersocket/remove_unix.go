//go:build unix

package usersocket

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"browser-coordinator/internal/trusted"
)

// RemoveDead removes the name of a socket behind which no process listens. The error is
// why it did not. Its caller excludes processes that could give the name to another
// socket.
func RemoveDead(ctx context.Context, path string) error {
	dead, err := Check(path)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	conn, err := Dial(ctx, path)
	if err == nil {
		conn.Close()
		return fmt.Errorf("keep %s: a process listens there", path)
	}
	if !IsDead(err) {
		return fmt.Errorf("keep %s: it may not be dead: %w", path, err)
	}
	if err := RemoveSame(path, dead); err != nil {
		return fmt.Errorf("delete %s: %w", path, err)
	}
	return nil
}

// Check refuses a file that is not a socket of the user's own.
func Check(path string) (fs.FileInfo, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, fmt.Errorf("look at the socket: %w", err)
	}
	return info, trusted.Check(path, info, trusted.Socket)
}

// IsSameFile reports whether both describe one file. The inode alone is not enough: the system
// reuses it as soon as a file is deleted.
func IsSameFile(a, b fs.FileInfo) bool { return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) }

// Unique returns a name that no other process uses: pid, dash, 8 hex digits.
func Unique() string {
	var b [4]byte
	rand.Read(b[:]) // never fails
	return fmt.Sprintf("%d-%x", os.Getpid(), b)
}

// errReplaced reports that another file has the name meanwhile.
var errReplaced = errors.New("another file took its name")

// RemoveSame deletes the file at path only if it is the one that info describes. It
// first renames the file and then checks it. If the process was stopped for long between
// checking and deleting, it puts the wrong file back.
func RemoveSame(path string, info fs.FileInfo) error {
	aside := filepath.Join(filepath.Dir(path), ".gone-"+Unique())
	if err := os.Rename(path, aside); err != nil {
		return err
	}
	now, err := os.Lstat(aside)
	switch {
	case err != nil:
		return err
	case IsSameFile(now, info):
		return os.Remove(aside)
	}
	if err := os.Link(aside, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("put %s back: %w", path, err)
	}
	return errors.Join(errReplaced, os.Remove(aside))
}
