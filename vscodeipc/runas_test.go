//go:build unix

package vscodeipc_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// askEnv makes the test binary a client that asks once.
const askEnv = "VSCODEIPC_TEST_ASK"

// runAs asks the window at a path as another user and gives what that prints.
func runAs(t *testing.T, uid uint32, path string) (string, error) {
	t.Helper()
	// The binary may lie where the other user cannot go.
	self, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "w")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	binary := filepath.Join(dir, "ask")
	if err := os.WriteFile(binary, self, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary)
	cmd.Env = []string{askEnv + "=" + path, "GORACE=atexit_sleep_ms=0"}
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	out, err := cmd.Output()
	return string(out), err
}
