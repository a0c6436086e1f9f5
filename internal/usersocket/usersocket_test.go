package usersocket

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A socket is reached also where its path is too long for the system, replaces that of a
// process that has ended, and leaves nothing.
func TestListenAndDial(t *testing.T) {
	folder := t.TempDir()
	if runtime.GOOS == "linux" {
		folder = filepath.Join(folder, strings.Repeat("long", 30))
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "a.sock")
	if _, err := Dial(t.Context(), path); err == nil {
		t.Error("connected to nobody")
	}
	dead, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer dead.Close()
	ln, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	go func() {
		conn, err := ln.Accept()
		if err == nil {
			io.WriteString(conn, "second")
			conn.Close()
		}
	}()
	conn, err := Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(conn); string(got) != "second" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	conn.Close()
	ln.Close()
	if entries, _ := os.ReadDir(folder); len(entries) > 0 {
		t.Errorf("left behind: %v", entries)
	}
}
