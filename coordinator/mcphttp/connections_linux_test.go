package mcphttp

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// Connections of another user cannot use up the descriptors of the process: beyond a bound
// only this user's are accepted.
func TestManyConnections(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("needs root to run a process as another user")
	}
	_, url, _ := serve(t)
	address := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), Path)
	cmd := exec.Command("/proc/self/exe") // whose folder only root enters
	cmd.Dir, cmd.Env = "/", []string{connectsMany + "=" + address}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 12345, Gid: 12345}}
	leave, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer leave.Close()
	printed := make([]byte, 200)
	n, err := out.Read(printed)
	if got := string(printed[:n]); got != "the last 20 are closed; HTTP/1.1 403 Forbidden, <nil>\n" {
		t.Errorf("another user prints %q, %v", got, err)
	}
	session, err := connect(t, url)
	if err != nil {
		t.Fatal(err)
	}
	session.Close()
}
