package vscodeipc

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"browser-coordinator/internal/must"
)

// TestDiskFull binds a window on a full disk, in a mount namespace of its own.
func TestDiskFull(t *testing.T) {
	if out, err := exec.Command("unshare", "-m", "true").CombinedOutput(); err != nil {
		must.Skip(t, "a mount namespace is not allowed here: %v: %s", err, out)
	}
	for name, fill := range map[string]string{
		"no inode for the socket": "mount -t tmpfs -o nr_inodes=3 none $DISK",
		"no inode for the lock":   "mount -t tmpfs -o nr_inodes=2 none $DISK",
		"no block for the lock": "mount -t tmpfs -o size=8k none $DISK && { cat /dev/zero >$DISK/fill; true; } " +
			"2>/dev/null",
	} {
		t.Run(name, func(t *testing.T) {
			home(t)
			disk := t.TempDir()
			script := fill +
				` && mkdir -m 700 $DISK/browser-coordinator-mcp && { "$0" </dev/null; ` +
				`echo "left:" $(ls -A $DISK/browser-coordinator-mcp); }`
			cmd := exec.Command("unshare", "-m", "sh", "-c", script, os.Args[0])
			cmd.Env = append(os.Environ(), "DISK="+disk, "XDG_DATA_HOME="+disk, roleEnv+"=window /x",
				"GORACE=atexit_sleep_ms=0")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if !strings.Contains(string(out), "serve a window: ") ||
				!strings.Contains(string(out), "no space left on device") {
				t.Errorf("the window reports %s", out)
			}
			if !strings.HasSuffix(strings.TrimSpace(string(out)), "left:") {
				t.Errorf("it left something: %s", out)
			}
		})
	}
}
