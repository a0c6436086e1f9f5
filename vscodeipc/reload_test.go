//go:build unix

package vscodeipc_test

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"browser-coordinator/vscodeipc"
	"github.com/google/go-cmp/cmp"
)

func watchDirs(t *testing.T) *vscodeipc.DirWatcher {
	t.Helper()
	w := vscodeipc.WatchDirs(nil)
	t.Cleanup(func() { w.Close() })
	<-w.Changes() // it watches now
	return w
}

// TestReloadedWindow: the directory watch finds it, without polling. After the
// notification, the watcher of the old window connects to the new one at once.
func TestReloadedWindow(t *testing.T) {
	folder := home(t)
	dirs := watchDirs(t)
	old := serve(t, vscodeipc.ServerOptions{Workspace: folder})
	<-dirs.Changes()
	w := vscodeipc.Watch(old.Address(), nil)
	defer w.Close()
	if _, err := w.Client(t.Context()); err != nil {
		t.Fatal(err)
	}
	setState(t, old, numbered(5))
	closeServer(t, old)
	<-dirs.Changes()

	fresh := serve(t, vscodeipc.ServerOptions{Workspace: folder})
	for len(vscodeipc.Find(vscodeipc.Hash(folder))) == 0 {
		<-dirs.Changes()
	}
	s, changed := w.Snapshot()
	for s.Connected { // the bye may still be on its way
		<-changed
		s, changed = w.Snapshot()
	}
	c, err := w.Client(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if c.Hello().Session != fresh.Session() {
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
	old := serve(t, vscodeipc.ServerOptions{Workspace: folder})
	fresh := serve(t, vscodeipc.ServerOptions{Workspace: folder})
	if old.Address() == fresh.Address() || fresh.Address().Key() != vscodeipc.Hash(folder) {
		t.Fatalf("the addresses are %s and %s", old.Address(), fresh.Address())
	}
	if found := vscodeipc.Find(vscodeipc.Hash(folder)); len(found) != 2 {
		t.Errorf("Find gives %v", found)
	}
	closeServer(t, old)
	if diff := cmp.Diff([]vscodeipc.Address{fresh.Address()}, vscodeipc.Find(vscodeipc.Hash(folder))); diff != "" {
		t.Errorf("after the old one's end: %s", diff)
	}
	dial(t, fresh.Address())
	third := serve(t, vscodeipc.ServerOptions{Workspace: folder})
	if third.Address() != old.Address() {
		t.Errorf("the free name was not taken: %s", third.Address())
	}
	closeServer(t, old) // a second close does not affect the third
	dial(t, third.Address())
}

func TestNoWorkspace(t *testing.T) {
	home(t)
	s := serve(t, vscodeipc.ServerOptions{})
	if h := dial(t, s.Address()).Hello(); h.Workspace != nil || h.Folders == nil {
		t.Errorf("hello is %+v", h)
	}
	if found := vscodeipc.Find(s.Address().Key()); len(found) != 1 {
		t.Errorf("Find gives %v", found)
	}
}

func TestWatchDirsThatComeAndGo(t *testing.T) {
	folder := home(t)
	dirs := watchDirs(t) // none of them exists
	one := serve(t, vscodeipc.ServerOptions{Workspace: folder})
	<-dirs.Changes()
	dir := filepath.Dir(string(one.Address()))
	if err := os.Rename(dir, dir+"-away"); err != nil {
		t.Fatal(err)
	}
	// The window creates its directory and its socket again.
	for len(vscodeipc.Find(vscodeipc.Hash(folder))) == 0 {
		<-dirs.Changes()
	}
	dial(t, one.Address())
}

// TestWatchDirsWithoutWatches: the system has no file watches left, which is common on
// Linux beside many editors. The watcher still notices windows. The error is simulated:
// a real one would take the watches from every program of the user.
func TestWatchDirsWithoutWatches(t *testing.T) {
	folder := home(t)
	vscodeipc.ExhaustNotify(t)
	dirs := watchDirs(t)
	serve(t, vscodeipc.ServerOptions{Workspace: folder})
	select {
	case <-dirs.Changes():
	case <-time.After(10 * time.Second):
		t.Fatal("nobody was told of the window")
	}
	if len(vscodeipc.Find(vscodeipc.Hash(folder))) == 0 {
		t.Error("it is not found")
	}
}

// TestWatchDirsMadeAgain removes a directory while a client is connected to a socket in
// it. The connection keeps the directory alive without a name.
func TestWatchDirsMadeAgain(t *testing.T) {
	folder := home(t)
	first, address := listenAs(t)
	conn, err := net.Dial("unix", string(address))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	dirs := watchDirs(t)
	await := func(what string) {
		t.Helper()
		select {
		case <-dirs.Changes():
		case <-time.After(10 * time.Second):
			t.Fatalf("nobody was told of %s", what)
		}
	}
	first.SetUnlinkOnClose(false)
	if err := os.Remove(string(address)); err != nil {
		t.Fatal(err)
	}
	await("the socket's end")
	if err := os.Remove(filepath.Dir(string(address))); err != nil {
		t.Fatal(err)
	}
	await("the directory's end")
	serve(t, vscodeipc.ServerOptions{Workspace: folder})
	for len(vscodeipc.Find(vscodeipc.Hash(folder))) == 0 {
		await("the window in the new directory")
	}
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
			if dir := filepath.Dir(string(w.address)); dir != filepath.Join(os.Getenv("HOME"), data, "browser-coordinator-mcp") {
				t.Fatalf("it listens in %s", dir)
			}
			<-dirs.Changes()
			if diff := cmp.Diff([]vscodeipc.Address{w.address}, vscodeipc.Find(vscodeipc.Hash(folder))); diff != "" {
				t.Errorf("Find: %s", diff)
			}
			if h := dial(t, w.address).Hello(); h.Workspace == nil || *h.Workspace != folder {
				t.Errorf("hello is %+v", h)
			}
			if v := probe(t, nil)[string(w.address)]; v.Verdict != vscodeipc.Live {
				t.Errorf("the verdict is %+v", v)
			}
			if err := w.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			w.Wait()
			if v := probe(t, nil)[string(w.address)]; v.Verdict != vscodeipc.Stale || !v.Deleted {
				t.Errorf("when it is dead: %+v", v)
			}
		})
	}
}
