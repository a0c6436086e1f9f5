package show

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"browser-coordinator/internal/must"
)

// TestOtherUser: another user of the machine gets nothing, not even with a link, which stays the user's.
func TestOtherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to run a process as another user")
	}
	dir := t.TempDir()
	must.Do(t, os.Chmod(filepath.Dir(dir), 0o755))
	exe := filepath.Join(dir, "visitor")
	must.Do(t, os.WriteFile(exe, must.Get(os.ReadFile(must.Get(os.Executable())(t)))(t), 0o755))
	s := start(t)
	visit := func(link string, as *syscall.Credential) string {
		t.Helper()
		child := exec.Command(exe)
		child.Dir, child.Env = "/", []string{childLink + "=" + link}
		child.SysProcAttr = &syscall.SysProcAttr{Credential: as}
		return string(must.Get(child.Output())(t))
	}
	if out := visit(s.Link(), nil); out != "got 200 OK\ngot 200 OK\ndone\n" {
		t.Errorf("this user %s", out)
	}
	link := s.Link()
	const nobody = 65534 // as the users of a container are whom this system does not know
	for _, uid := range []uint32{12345, nobody} {
		if out := visit(link, &syscall.Credential{Uid: uid, Gid: uid}); out != "done\n" {
			t.Errorf("user %d %s", uid, out)
		}
	}
	if _, code, _ := strings.Cut(link, "#"); !s.redeem(code) {
		t.Error("another user has used the link")
	}
}
