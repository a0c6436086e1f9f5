//go:build unix

package setup

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestWriteKeepsOwner: with sudo the user keeps the file.
func TestWriteKeepsOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can have a file of another user")
	}
	workspace := home(t)
	change, err := add(t, "cursor", workspace, "{}", ours)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(workspace, ".cursor/mcp.json")
	if err := os.Chown(file, 12345, 12346); err != nil {
		t.Fatal(err)
	}
	if err := change.Write(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if st := info.Sys().(*syscall.Stat_t); st.Uid != 12345 || st.Gid != 12346 || info.Mode().Perm() != 0o644 {
		t.Errorf("its owner is %d:%d, its mode %v", st.Uid, st.Gid, info.Mode())
	}
}
