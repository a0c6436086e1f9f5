//go:build unix

package vscodeipc

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/google/go-cmp/cmp"

	"browser-coordinator/internal/must"
	"browser-coordinator/vscodeipc/internal/socket"
)

// TestReloadedWindow: the directory watch finds it, without polling. After the
// notification, the watcher of the old window connects to the new one at once.
func TestReloadedWindow(t *testing.T) {
	folder := home(t)
	dirs := watchDirs(t)
	old := serve(t, ServerOptions{Workspace: folder})
	<-dirs.Changes()
	w := Watch(old.Address(), DialOptions{})
	defer w.Close()
	if _, err := w.connection(t.Context()); err != nil {
		t.Fatal(err)
	}
	setState(t, old, numbered(5))
	closeServer(t, old)
	<-dirs.Changes()

	fresh := serve(t, ServerOptions{Workspace: folder})
	awaitFound(t, dirs, func() bool { return len(find(Hash(folder))) > 0 })
	s, changed := w.Snapshot()
	for s.Connected { // the bye may still be on its way
		<-changed
		s, changed = w.Snapshot()
	}
	c := must.Get(w.connection(t.Context()))(t)
	if c.hello.Session != fresh.hello.Session {
		t.Error("it is with the old window")
	}
	if s, _ := w.Snapshot(); s.State.Revision != 0 || len(s.State.DebugSessions) != 0 {
		t.Errorf("the old window's state stays: %+v", s.State)
	}
}

// TestOverlappingReload starts the new extension host before the old one has ended:
// neither removes the other's socket.
func TestOverlappingReload(t *testing.T) {
	folder := home(t)
	old := serve(t, ServerOptions{Workspace: folder})
	fresh := serve(t, ServerOptions{Workspace: folder})
	if old.Address() == fresh.Address() || fresh.Address().Key() != Hash(folder) {
		t.Fatalf("the addresses are %s and %s", old.Address(), fresh.Address())
	}
	if found := find(Hash(folder)); len(found) != 2 {
		t.Errorf("the addresses are %v", found)
	}
	closeServer(t, old)
	if diff := cmp.Diff([]Address{fresh.Address()}, find(Hash(folder))); diff != "" {
		t.Errorf("after the old one's end: %s", diff)
	}
	connect(t, fresh.Address())
	third := serve(t, ServerOptions{Workspace: folder})
	if third.Address() != old.Address() {
		t.Errorf("the free name was not taken: %s", third.Address())
	}
	closeServer(t, old) // a second close does not affect the third
	connect(t, third.Address())
}

// TestWatchDirsThatComeAndGo: windows are noticed also where their directory comes later, and
// where the system has no file watches left, which is common on Linux beside many editors. The
// error is simulated: a real one would take the watches from every program of the user.
func TestWatchDirsThatComeAndGo(t *testing.T) {
	for name, notify := range map[string]func() (*fsnotify.Watcher, error){
		"by events":  fsnotify.NewWatcher,
		"by polling": func() (*fsnotify.Watcher, error) { return nil, syscall.EMFILE },
	} {
		t.Run(name, func(t *testing.T) {
			before := socket.NewNotify
			socket.NewNotify = notify
			t.Cleanup(func() { socket.NewNotify = before })
			folder := home(t)
			dirs := watchDirs(t) // none of them exists
			there := func() bool { return len(find(Hash(folder))) > 0 }
			one := serve(t, ServerOptions{Workspace: folder})
			awaitFound(t, dirs, there)
			dir := filepath.Dir(string(one.Address()))
			must.Do(t, os.Rename(dir, dir+"-away"))
			awaitFound(t, dirs, func() bool { return !there() })
			serve(t, ServerOptions{Workspace: folder})
			awaitFound(t, dirs, there)
		})
	}
}

// TestWatchDirsMadeAgain removes a directory while a client is connected to a socket in
// it. The connection keeps the directory alive without a name.
func TestWatchDirsMadeAgain(t *testing.T) {
	folder := home(t)
	path := name(t, 0)
	first := must.Get(net.Listen("unix", path))(t)
	defer first.Close()
	first.(*net.UnixListener).SetUnlinkOnClose(false)
	dialRaw(t, Address(path))
	dirs := watchDirs(t)
	for _, gone := range []string{path, filepath.Dir(path)} {
		must.Do(t, os.Remove(gone))
		select {
		case <-dirs.Changes():
		case <-time.After(30 * time.Second):
			t.Fatalf("the end of %s is not reported", gone)
		}
	}
	serve(t, ServerOptions{Workspace: folder})
	awaitFound(t, dirs, func() bool { return len(find(Hash(folder))) > 0 })
}

// TestWindowsOfSandboxedEditors: an editor in a snap or flatpak has another
// XDG_DATA_HOME than its clients. The clients are notified of its window, find it and
// reach it.
func TestWindowsOfSandboxedEditors(t *testing.T) {
	for _, data := range []string{
		"snap/code/current/.local/share",
		".var/app/com.visualstudio.code/data",
		".local/share", // the client's own is changed, as in a terminal of such an editor
	} {
		t.Run(data, func(t *testing.T) {
			folder := home(t)
			ours := os.Getenv("XDG_DATA_HOME")
			dirs := watchDirs(t)
			t.Setenv("XDG_DATA_HOME", filepath.Join(os.Getenv("HOME"), data))
			w := startWindow(t, folder)
			t.Setenv("XDG_DATA_HOME", ours)
			if dir := filepath.Dir(w.first); dir != filepath.Join(os.Getenv("HOME"), data, "browser-coordinator-mcp") {
				t.Fatalf("it listens in %s", dir)
			}
			<-dirs.Changes()
			if diff := cmp.Diff([]Address{w.address()}, find(Hash(folder))); diff != "" {
				t.Errorf("the addresses: %s", diff)
			}
			if h := connect(t, w.address()).hello; h.Workspace != folder {
				t.Errorf("hello is %+v", h)
			}
			w.kill()
			if v := probeAll(t, ProbeOptions{})[w.first]; v.Verdict != Stale || !v.Deleted {
				t.Errorf("when it is dead: %+v", v)
			}
		})
	}
}

// reachable reports whether clients can find the window and reach this one.
func reachable(t *testing.T, s *Server) bool {
	t.Helper()
	for _, a := range find(s.key) {
		c, err := dial(t.Context(), a, DialOptions{})
		if err != nil {
			continue
		}
		c.close()
		if c.hello.Session == s.hello.Session {
			return true
		}
	}
	return false
}

func TestAllNamesTaken(t *testing.T) {
	folder := home(t)
	for range 9 {
		serve(t, ServerOptions{Workspace: folder})
	}
	if found := find(Hash(folder)); len(found) != 9 {
		t.Errorf("the addresses are %v", found)
	}
	_, err := Serve(t.Context(), ServerOptions{Server: ServerInfo{Name: "test", Kind: "terminal"}, Workspace: folder})
	if err == nil || !strings.Contains(err.Error(), "coordinator probe") {
		t.Errorf("the tenth window: %v", err)
	}
	entries, err := os.ReadDir(filepath.Dir(socketPath(t, "")))
	if err != nil || len(entries) != 9 {
		t.Errorf("the directory has %v, %v", entries, err)
	}
}
