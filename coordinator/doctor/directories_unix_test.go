//go:build unix

package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDirectoryOfAnotherUser: one that sudo has left gets its owner back. One in a shared
// directory is the other user's, who may have put links in it.
func TestDirectoryOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can have a directory of another user")
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	parent := os.Getenv("XDG_STATE_HOME")
	dir := filepath.Join(parent, "browser-coordinator-mcp")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[os.FileMode]string{
		0o755:                 "sudo chown -R 0 " + dir,
		0o777 | os.ModeSticky: "set XDG_STATE_HOME to a folder that only you can write to",
	} {
		if err := os.Chmod(parent, mode); err != nil {
			t.Fatal(err)
		}
		if found := checkDir(dir); len(found) != 1 || found[0].Verdict != Problem || !strings.Contains(found[0].Fix, want) {
			t.Errorf("in a directory of mode %v: %+v", mode, found)
		}
	}
}
