//go:build unix

package doctor

import (
	"os"
	"testing"
)

// TestDirectoryOfAnotherUser: nothing in it is believed or kept, so its owner is not just
// changed.
func TestDirectoryOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can have a directory of another user")
	}
	dir := t.TempDir()
	if err := os.Chown(dir, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	want := "set XDG_STATE_HOME to a folder that only you can write to"
	if f := checkDir(dir, "XDG_STATE_HOME", useWithParents); f.Verdict != Problem || f.Fix != want || f.repair != nil {
		t.Errorf("found %+v", f)
	}
}
