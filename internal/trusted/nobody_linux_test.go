package trusted

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"browser-coordinator/internal/must"
)

// inChild has the path with which a child of a test is to work.
const inChild = "TRUSTED_TEST_CHILD"

// TestNobody: what belongs to nobody is nobody's own, also for a process that runs as nobody, and
// a folder above it is trusted only if root alone can have made it. In a namespace everything of a
// user who is not mapped there belongs to nobody.
func TestNobody(t *testing.T) {
	if path := os.Getenv(inChild); path != "" {
		fmt.Printf("own: %v\nparents: %v\nfolder: %v\n", IsOwn(nobody), Parents(path), Folder(filepath.Dir(path), OwnFolder))
		return
	}
	if os.Getuid() != 0 {
		t.Skip("needs root to run a process as another user")
	}
	const other = 12345
	dir := must.Get(os.MkdirTemp("/tmp", "nobody"))(t)
	t.Cleanup(func() { os.RemoveAll(dir) })
	inNamespace := &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1}},
	}
	for name, c := range map[string]struct {
		as     *syscall.SysProcAttr
		owner  int
		parent string // what is refused of the parents; empty: nothing
		folder string
	}{
		"as nobody": {&syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}, nobody,
			"belongs to uid 65534", "belongs to nobody"},
		"in a namespace, of another user": {inNamespace, other, "belongs to uid 65534", "belongs to nobody"},
		"in a namespace, of this user":    {inNamespace, 0, "", ""},
	} {
		must.Do(t, os.Chmod(dir, 0o755), os.Chown(dir, c.owner, c.owner))
		cmd := exec.Command("/proc/self/exe", "-test.run=^TestNobody$")
		cmd.Dir, cmd.Env, cmd.SysProcAttr = "/", []string{inChild + "=" + filepath.Join(dir, "state")}, c.as
		text, err := cmd.Output()
		if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) {
			must.Skip(t, "a user namespace is not allowed here: %v", err)
		}
		out := string(text)
		if err != nil || !strings.Contains(out, "own: false") {
			t.Errorf("%s: %v %s", name, err, out)
		}
		for part, refused := range map[string]string{"parents: ": c.parent, "folder: ": c.folder} {
			_, got, _ := strings.Cut(out, part)
			got, _, _ = strings.Cut(got, "\n")
			if refused == "" && got != "<nil>" || !strings.Contains(got, refused) {
				t.Errorf("%s, %s%s", name, part, got)
			}
		}
	}
}
