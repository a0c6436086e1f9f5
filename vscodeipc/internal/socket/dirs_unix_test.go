//go:build unix

package socket

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"browser-coordinator/internal/must"
	"browser-coordinator/internal/usersocket"
)

func shortDir(t testing.TB) string {
	t.Helper()
	dir := must.Get(os.MkdirTemp("", "w"))(t)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// TestDirs: the directory of an environment, and those in which its clients search.
func TestDirs(t *testing.T) {
	const home, share, socketName = "/home/dev", "/home/dev/.local/share/", "/ipc-0123456789abcdef-2.sock"
	const snap = "/home/dev/snap/code/current/.local/share"
	sandboxed := []string{
		snap + "/" + DirName, "/home/dev/snap/code-insiders/current/.local/share/" + DirName,
		"/home/dev/.var/app/com.visualstudio.code/data/" + DirName,
	}
	usual := append([]string{share + DirName}, sandboxed...)
	fits := "/" + strings.Repeat("d", usersocket.MaxPath-len("/"+DirName+socketName)-1)
	for name, test := range map[string]struct {
		home, data, dir string
		search          []string // nil: as its own directory and the usual ones
	}{
		"none given":     {home, "", share + DirName, usual},
		"a relative one": {home, "relative/data", share + DirName, usual},
		"one of its own": {home, "/data/", "/data/" + DirName, nil},
		"a sandboxed editor's": {home, snap, snap + "/" + DirName,
			slices.Concat(sandboxed[:1], usual[:1], sandboxed[1:])},
		"no home":               {"", "", "", []string{}},
		"a relative home":       {"home/dev", "", "", []string{}},
		"as long as a socket's": {home, fits, fits + "/" + DirName, nil},
		// without a short one in its place
		"too long for a socket's": {home, fits + "d", fits + "d/" + DirName, usual},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("HOME", test.home)
			t.Setenv("XDG_DATA_HOME", test.data)
			dir, err := dataDir()
			if dir != test.dir || (err == nil) == (dir == "") || err != nil &&
				!strings.Contains(err.Error(), "XDG_DATA_HOME") {
				t.Errorf("got %q, %v; want %q", dir, err, test.dir)
			}
			if test.search == nil {
				test.search = append([]string{dir}, usual...)
			}
			if got := searchDirs(); !slices.Equal(got, test.search) {
				t.Errorf("it searches %v, want %v", got, test.search)
			}
		})
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
			must.Do(t, os.WriteFile(path, []byte(test.text), 0o600), os.Chtimes(path, then, then))
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
	first := must.Get(LockDir(t.Context(), dir))(t)
	must.Do(t, os.Remove(filepath.Join(dir, lockName)))
	second := must.Get(LockDir(t.Context(), dir))(t)
	first.Unlock()
	if _, err := os.Lstat(filepath.Join(dir, lockName)); err != nil {
		t.Error("the second owner's lock was taken away")
	}
	second.Unlock()
}

// TestPrivateFromTheFirstMoment: under no umask may others use a socket, even before its
// mode is set.
func TestPrivateFromTheFirstMoment(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	folder := filepath.Join(shortDir(t), "new")
	l := must.Get(listenPrivate(t.Context(), folder))(t)
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
