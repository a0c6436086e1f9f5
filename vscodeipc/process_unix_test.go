//go:build unix

package vscodeipc

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"browser-coordinator/internal/must"
)

// The test binary as another process, in one of several roles.

// roleEnv makes the test binary a process in one of the roles, so that a test can stop or
// kill it, or run it as another user. parentEnv names its directory in place of /tmp.
const (
	roleEnv   = "VSCODEIPC_TEST_ROLE"
	parentEnv = "VSCODEIPC_TEST_PARENT"
)

// roles run until stdin ends. Each prints a line as soon as it is ready.
var roles = map[string]func(arg string) error{"window": beWindow, "sweeper": beSweeper, "client": beClient,
	"listener": beListener}

func beWindow(workspace string) error {
	s, err := Serve(context.Background(), ServerOptions{
		Workspace: workspace, Server: ServerInfo{Name: "helper", Kind: "terminal"},
		Commands: map[string]Handler{"wait": waitForCancel}, NoDeadline: []string{"wait"},
	})
	if err != nil {
		return err
	}
	fmt.Println(s.Address())
	io.Copy(io.Discard, os.Stdin)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return s.Close(ctx)
}

// beSweeper probes without a pause.
func beSweeper(string) error {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	fmt.Println("sweeping")
	for ctx.Err() == nil {
		if _, err := Probe(ctx, ProbeOptions{}); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// beClient prints the response to one ping.
func beClient(path string) error {
	conn, err := net.Dial("unix", path)
	if err != nil {
		return err
	}
	defer conn.Close()
	fmt.Fprintln(conn, `{"id":1,"type":"ping","version":2}`)
	line, err := bufio.NewReader(conn).ReadString('\n')
	if line == "" && err != nil {
		line = "hung up\n"
	}
	fmt.Print(line)
	return nil
}

// beListener is a window that answers hello to every client.
func beListener(path string) error {
	l, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	go acceptAll(l, script(helloAnswer))
	fmt.Println("listening")
	io.Copy(io.Discard, os.Stdin)
	return nil
}

// process is the test binary in one of the roles.
type process struct {
	*exec.Cmd
	stdin io.Closer
	first string // the line that it printed
}

// start starts a process, which ends with the test. attributes may be nil.
func start(t testing.TB, role, arg string, attributes *syscall.SysProcAttr) *process {
	t.Helper()
	binary := must.Get(os.Executable())(t)
	if attributes != nil {
		binary = copyOf(t, binary)
	}
	p := &process{Cmd: exec.Command(binary)}
	p.Env = append(os.Environ(), roleEnv+"="+role+" "+arg, "GORACE=atexit_sleep_ms=0")
	p.Stderr, p.SysProcAttr, p.Dir = os.Stderr, attributes, "/"
	stdin := must.Get(p.StdinPipe())(t)
	stdout := must.Get(p.StdoutPipe())(t)
	must.Do(t, p.Start())
	t.Cleanup(func() {
		p.Process.Kill() // an error means that the test has ended it
		p.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("the %s did not start: %v", role, err)
	}
	p.stdin, p.first = stdin, strings.TrimSpace(line)
	return p
}

// copyOf returns a copy of the binary in a folder that other users may enter.
func copyOf(t testing.TB, original string) string {
	t.Helper()
	self := must.Get(os.ReadFile(original))(t)
	dir := shortDir(t)
	binary := filepath.Join(dir, "other")
	must.Do(t, os.WriteFile(binary, self, 0o755), os.Chmod(dir, 0o755))
	return binary
}

// asOther are the attributes of a process of another user.
func asOther(t testing.TB) *syscall.SysProcAttr {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can act as another user")
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: otherUser, Gid: otherUser}}
}

// otherUser is the user id for processes of another user.
const otherUser = 54321

// end ends the process in good order.
func (p *process) end(t testing.TB) {
	t.Helper()
	p.stdin.Close()
	if err := p.Wait(); err != nil {
		t.Errorf("the process: %v", err)
	}
}

func (p *process) kill() {
	p.Process.Kill() // the wait shows whether it has ended
	p.Wait()
}

// stop returns when the process has stopped.
func (p *process) stop(t testing.TB) {
	t.Helper()
	must.Do(t, p.Process.Signal(syscall.SIGSTOP))
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(p.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("the window did not stop: %v, %v", status, err)
	}
}

func (p *process) resume(t testing.TB) {
	t.Helper()
	must.Do(t, p.Process.Signal(syscall.SIGCONT))
}

func (p *process) address() Address { return Address(p.first) }

func startWindow(t testing.TB, workspace string) *process {
	t.Helper()
	return start(t, "window", workspace, nil)
}
