package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"browser-coordinator/internal/toolstest"
)

// However a command is ended, its browser and all processes below it end, and the
// browser's private profile is removed.
func TestNoProcessIsLeft(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(t *testing.T, cmd *exec.Cmd){
		"window": func(t *testing.T, cmd *exec.Cmd) {
			cmd.Args = append(cmd.Args, "--headless")
			firstLine(t, cmd)
		},
		"serve": func(t *testing.T, cmd *exec.Cmd) {
			cmd.Args = append(cmd.Args, "--launch")
			titles(t, firstLine(t, cmd))
		},
		"run": func(t *testing.T, cmd *exec.Cmd) {
			cmd.Args = append(cmd.Args, "--launch", "--", named(t, "waiting"))
			firstLine(t, cmd)
		},
		"mcp": func(t *testing.T, cmd *exec.Cmd) {
			h := startRaw(t, cmd)
			h.send(initialize)
			h.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"browser_snapshot","arguments":{}}}`)
		},
	} {
		for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGKILL} {
			t.Run(name+" "+signal.String(), func(t *testing.T) {
				t.Parallel()
				temp, err := os.MkdirTemp("/tmp", "bc-") // short enough for sockets
				if err != nil {
					t.Fatal(err)
				}
				defer os.RemoveAll(temp)
				cmd := command(context.Background(), t, t.TempDir(), name)
				cmd.Dir, cmd.Env = toolstest.Folder(t, "shop"), append(cmd.Env, "TMPDIR="+temp)
				begin(t, cmd)
				below := processesBelow(t, cmd.Process.Pid)
				if len(below) < 3 {
					t.Fatalf("there is no browser: the processes are %v", below)
				}
				cmd.Process.Signal(signal)
				cmd.Wait()
				deadline := time.Now().Add(time.Minute)
				for _, p := range below {
					if signal == syscall.SIGKILL && p.isProgram() { // the user's, who has killed what ran it
						syscall.Kill(p.pid, syscall.SIGKILL)
					}
					if !p.ends(time.Until(deadline)) {
						t.Errorf("process %d is left", p.pid)
					}
				}
				if remaining, _ := filepath.Glob(filepath.Join(temp, "*profile*")); len(remaining) > 0 &&
					signal != syscall.SIGKILL {
					t.Errorf("left are %q", remaining) // a killed one's is removed a moment later: TestKilledCoordinatorLeavesNothing
				}
			})
		}
	}
}

// firstLine starts a command, and returns the first line that it prints.
func firstLine(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var stderr printed
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	return strings.TrimSpace(line)
}

// process is one that cannot be taken for a later one with the same number.
type process struct{ pid, fd int }

// processesBelow are those that a process has started, and those that they have started.
func processesBelow(t *testing.T, pid int) (all []process) {
	for _, child := range childrenOf(t, pid) {
		fd, err := unix.PidfdOpen(child, 0)
		if err != nil {
			continue // it has ended
		}
		t.Cleanup(func() { unix.Close(fd) })
		all = append(append(all, process{child, fd}), processesBelow(t, child)...)
	}
	return all
}

// isProgram reports whether it is what "run" runs.
func (p process) isProgram() bool {
	args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid))
	return strings.Contains(string(args), "/waiting")
}

// ends waits for the end of a process.
func (p process) ends(timeout time.Duration) bool {
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(p.fd), Events: unix.POLLIN}}, int(max(timeout.Milliseconds(), 1)))
		if err != unix.EINTR {
			return n > 0
		}
	}
}
