//go:build unix

package usersocket

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"browser-coordinator/internal/must"
)

// TestRemoveDead: only the name of a socket that no process has any longer is removed.
func TestRemoveDead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.sock")
	ln := must.Get(Listen(path))(t)
	if err := RemoveDead(t.Context(), path); err == nil {
		t.Error("the name of a socket that listens was removed")
	}
	ln.(*listener).UnixListener.Close() // as by a kill
	if err := RemoveDead(t.Context(), path); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := RemoveDead(t.Context(), path); err == nil {
		t.Error("a file was removed that is no socket")
	}
}

// TestLateSweeper was stopped between checking and deleting. It puts back the socket
// that has the name by then, and that still listens.
func TestLateSweeper(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "ipc-0123456789abcdef.sock")
	dead := must.Get(net.Listen("unix", path))(t)
	before := must.Get(os.Lstat(path))(t)
	dead.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := os.Rename(path, path+".kept"); err != nil { // keeps its inode from being reused
		t.Fatal(err)
	}
	dead.Close()
	live := must.Get(net.Listen("unix", path))(t)
	defer live.Close()
	if err := RemoveSame(path, before); err == nil || err.Error() != errReplaced.Error() {
		t.Errorf("RemoveSame gives %v", err)
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
