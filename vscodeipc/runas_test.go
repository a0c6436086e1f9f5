//go:build unix

package vscodeipc_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// askEnv makes the test binary a client that sends one request.
const askEnv = "VSCODEIPC_TEST_ASK"

// listenEnv makes the test binary a process that listens.
const listenEnv = "VSCODEIPC_TEST_LISTEN"

// runAs connects to the window at a path as another user, and returns the output.
func runAs(t *testing.T, uid uint32, path string) (string, error) {
	t.Helper()
	out, err := commandAs(t, uid, askEnv+"="+path).Output()
	return string(out), err
}

// listenAsUser runs a process of another user that listens at a path until the test
// ends.
func listenAsUser(t *testing.T, uid uint32, path string) {
	t.Helper()
	cmd := commandAs(t, uid, listenEnv+"="+path)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		cmd.Wait()
	})
	if said, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || said != "listening\n" {
		t.Fatalf("the other user's process says %q, %v", said, err)
	}
}

// listenUntilEnd is the helper process of listenAsUser: it responds as a window would.
func listenUntilEnd(path string) {
	l, err := net.Listen("unix", path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.Write(answerHello(nil))
			conn.Close()
		}
	}()
	fmt.Println("listening")
	io.Copy(io.Discard, os.Stdin)
}

// commandAs is the test binary as another user's process.
func commandAs(t *testing.T, uid uint32, env string) *exec.Cmd {
	t.Helper()
	// The other user may have no access to the binary's folder.
	self, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "w")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	binary := filepath.Join(dir, "other")
	if err := os.WriteFile(binary, self, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary)
	cmd.Env = []string{env, "GORACE=atexit_sleep_ms=0"}
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	return cmd
}
