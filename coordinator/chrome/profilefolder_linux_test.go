package chrome

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestProfileBelowAnotherUsersLink: a missing profile below a link of another user is refused before anything is
// made where that leads.
func TestProfileBelowAnotherUsersLink(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can act as another user")
	}
	shared, err := os.MkdirTemp("/tmp", "profile-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(shared) })
	if err := os.Chmod(shared, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	private := t.TempDir()
	link := exec.CommandContext(t.Context(), "ln", "-s", private, filepath.Join(shared, "profiles"))
	link.Dir = "/"
	link.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 54321, Gid: 54321}}
	if out, err := link.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	_, err = openProfile(t.Context(), filepath.Join(shared, "profiles", "of", "shop"), false)
	if err == nil || !strings.Contains(err.Error(), "it is a link of uid 54321") {
		t.Errorf("the error is %v", err)
	}
	if entries, err := os.ReadDir(private); err != nil || len(entries) > 0 {
		t.Errorf("%v was made through the link, %v", entries, err)
	}
}
