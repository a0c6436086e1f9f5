//go:build unix

package socket

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"browser-coordinator/internal/usersocket"
)

func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "w")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func TestDir(t *testing.T) {
	t.Setenv("HOME", "/home/dev")
	for data, want := range map[string]string{
		"":              "/home/dev/.local/share/browser-coordinator-mcp",
		"relative/data": "/home/dev/.local/share/browser-coordinator-mcp",
		"/data":         "/data/browser-coordinator-mcp",
		"/data/":        "/data/browser-coordinator-mcp",
	} {
		t.Setenv("XDG_DATA_HOME", data)
		if got, err := dataDir(); err != nil || got != want {
			t.Errorf("XDG_DATA_HOME=%q: got %q, %v; want %q", data, got, err, want)
		}
	}
}

// TestDirAtTheLimit: a socket's path just fits; with one byte more it does not.
func TestDirAtTheLimit(t *testing.T) {
	fits := usersocket.MaxPath - len("/ipc-0123456789abcdef-2.sock") - len("/"+DirName)
	for length, long := range map[int]bool{fits: false, fits + 1: true} {
		t.Setenv("XDG_DATA_HOME", "/"+strings.Repeat("d", length-1))
		dir, err := dataDir()
		if err != nil || tooLong(dir) != long {
			t.Errorf("%d bytes: %q, %v", length, dir, err)
		}
		if path := filepath.Join(dir, "ipc-0123456789abcdef-2.sock"); !long && len(path) != usersocket.MaxPath {
			t.Errorf("the longest path has %d bytes", len(path))
		}
	}
}

func TestNeitherHomeNorData(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", "")
	for _, home := range []string{"", "home/dev"} {
		t.Setenv("HOME", home)
		if dir, err := dataDir(); err == nil || !strings.Contains(err.Error(), "XDG_DATA_HOME") {
			t.Errorf("HOME=%q: got %q, %v", home, dir, err)
		}
		if dirs := searchDirs(); len(dirs) != 0 {
			t.Errorf("HOME=%q: it searches %v", home, dirs)
		}
	}
}

func TestSearchDirs(t *testing.T) {
	t.Setenv("HOME", "/home/dev")
	t.Setenv("XDG_DATA_HOME", "/home/dev/snap/code/current/.local/share")
	want := []string{
		"/home/dev/snap/code/current/.local/share/browser-coordinator-mcp",
		"/home/dev/.local/share/browser-coordinator-mcp",
		"/home/dev/snap/code-insiders/current/.local/share/browser-coordinator-mcp",
		"/home/dev/.var/app/com.visualstudio.code/data/browser-coordinator-mcp",
	}
	if got := searchDirs(); !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

func TestLocks(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		age  time.Duration
		held bool
	}{
		"new":                                {text: fmt.Sprintln(os.Getpid()), held: true},
		"from a moment ahead":                {text: fmt.Sprintln(os.Getpid()), age: -4 * time.Second, held: true},
		"empty: its owner is about to write": {held: true},
		"of a process in a container":        {text: "4194305\n", held: true}, // above the largest pid
		"from tomorrow: the clock leapt":     {text: fmt.Sprintln(os.Getpid()), age: -24 * time.Hour},
		"old":                                {text: fmt.Sprintln(os.Getpid()), age: time.Minute},
		"old empty":                          {age: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := shortDir(t)
			path := filepath.Join(dir, lockName)
			then := time.Now().Add(-test.age)
			if err := errors.Join(os.WriteFile(path, []byte(test.text), 0o600), os.Chtimes(path, then, then)); err != nil {
				t.Fatal(err)
			}
			ctx := t.Context()
			if test.held { // and does not age within this time
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, time.Second)
				defer cancel()
			}
			lock, err := LockDir(ctx, dir)
			if test.held {
				if err == nil || !strings.Contains(err.Error(), "another process holds") {
					t.Errorf("it was taken: %v", err)
				}
				if text, err := os.ReadFile(path); err != nil || string(text) != test.text {
					t.Errorf("the lock is %q, %v", text, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			lock.Unlock()
			if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
				t.Errorf("there is left %v, %v", entries, err)
			}
		})
	}
}

func TestBrokenLockIsNotGivenBack(t *testing.T) {
	dir := shortDir(t)
	first, err := LockDir(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, lockName)); err != nil {
		t.Fatal(err)
	}
	second, err := LockDir(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	first.Unlock()
	if _, err := os.Lstat(filepath.Join(dir, lockName)); err != nil {
		t.Error("the second owner's lock was taken away")
	}
	second.Unlock()
}

// TestLateSweeper was stopped between checking and deleting. It puts back the socket
// that has the name by then, and that still listens.
func TestLateSweeper(t *testing.T) {
	dir := shortDir(t)
	path := filepath.Join(dir, "ipc-0123456789abcdef.sock")
	dead, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	dead.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := os.Rename(path, path+".kept"); err != nil { // keeps its inode from being reused
		t.Fatal(err)
	}
	dead.Close()
	live, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	if err := removeSame(path, before); err == nil || err.Error() != errReplaced.Error() {
		t.Errorf("removeSame gives %v", err)
	}
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatalf("the live socket is gone: %v", err)
	}
	conn.Close()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("there is %v, %v", entries, err)
	}
}

// TestPrivateFromTheFirstMoment: under no umask may others use a socket, even before its
// mode is set.
func TestPrivateFromTheFirstMoment(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	folder := filepath.Join(shortDir(t), "new")
	l, err := listenPrivate(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for path, want := range map[string]os.FileMode{folder: 0o700, filepath.Join(folder, newSocket): 0o600} {
		if info, err := os.Lstat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	removeNewSocket(folder)
	if _, err := os.Lstat(folder); err == nil {
		t.Error("the folder is still there")
	}
}
