//go:build unix

package doctor

import (
	"os"
	"testing"
)

// TestDirectoryOfAnotherUser: one that sudo has left gets its owner back. One in a shared
// directory is the other user's, who may have put links in it, so there is another way.
func TestDirectoryOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can have a directory of another user")
	}
	dir := t.TempDir()
	if err := os.Chown(dir, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	want := "set XDG_STATE_HOME to a folder that only you can write to; or, if sudo has made it: sudo chown -R 0 " + dir
	if f := checkDir(dir, "XDG_STATE_HOME"); f.Verdict != Problem || f.Fix != want || f.repair != nil {
		t.Errorf("found %+v", f)
	}
}
