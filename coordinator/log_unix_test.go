//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"browser-coordinator/internal/must"
)

// A log for programs contains every response that a client has received, even if it is
// interrupted at the same moment. If the coordinator does not send the traffic from before
// the interruption, the command reports that.
func TestLogIsWhole(t *testing.T) {
	t.Parallel()
	dir, workspace := t.TempDir(), t.TempDir()
	window := openWindow(t, dir, workspace)
	for round := range 8 {
		file := filepath.Join(dir, fmt.Sprintf("session-%d.jsonl", round))
		logs := []logging{startLog(t, dir, workspace, "--output", file), startLog(t, dir, workspace, "--json")}
		evaluateAs(t, window.first, "quick/1.0", fmt.Sprintf("round %d", round))
		logs[0].end(t)
		printed := logs[1].end(t)
		written, err := os.ReadFile(file)
		for _, lines := range []string{string(written), printed} {
			if !strings.Contains(lines, fmt.Sprintf(`"value":"round %d"`, round)) {
				t.Fatalf("round %d: %v, the log ends with %s", round, err, lines[max(0, len(lines)-300):])
			}
		}
	}

	lines := startLog(t, dir, workspace, "--json")
	evaluateAs(t, window.first, "quick/1.0", "hello")
	lines.out.await(t, `"value":"hello"`)
	window.pause(t)
	lines.Process.Signal(os.Interrupt)
	lines.fails(t, "does not send the last of the traffic")
}

// A pipe or device that is named as the file is refused at once: opening it could wait for
// ever, or write to what reads there.
func TestLogToNoFile(t *testing.T) {
	t.Parallel()
	dir, workspace := t.TempDir(), t.TempDir()
	start(t, dir, "serve", "--workspace", workspace)
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{pipe, "/dev/null", dir} {
		out, err := command(t.Context(), t, dir, "log", "--workspace", workspace, "--output", name).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "log: cannot make the file "+name+": file exists. Name a new file") {
			t.Errorf("log --output %s: %v, %s", name, err, out)
		}
	}
}

// A log ends in good order when nobody reads it any longer.
func TestLogIsNoLongerRead(t *testing.T) {
	t.Parallel()
	dir, workspace := t.TempDir(), t.TempDir()
	window := openWindow(t, dir, workspace)
	log, unread := unreadCommand(t, dir, "log", "--workspace", workspace)
	must.Do(t, log.Start())
	unread.await(t, "Listening")
	evaluateAs(t, window.first, "quick/1.0", "hello")
	if err := log.Wait(); err != nil {
		t.Errorf("it ended with %v: %s", err, unread)
	}
}

// A command whose output nobody reads fails without a message.
func TestOutputIsNotRead(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"help"}, {"--version"}, {"probe"}} {
		cmd, stderr := unreadCommand(t, t.TempDir(), args...)
		if cmd.Run(); cmd.ProcessState.ExitCode() != exitFailure || stderr.String() != "" {
			t.Errorf("%v ended with %v: %s", args, cmd.ProcessState, stderr)
		}
	}
}

// unreadCommand is a command whose standard output is a pipe without a reader.
func unreadCommand(t *testing.T, dir string, args ...string) (cmd *exec.Cmd, stderr *printed) {
	t.Helper()
	reader, writer, err := os.Pipe()
	must.Do(t, err)
	must.Do(t, reader.Close())
	t.Cleanup(func() { writer.Close() })
	cmd, stderr = command(t.Context(), t, dir, args...), new(printed)
	cmd.Stdout, cmd.Stderr = writer, stderr
	return cmd, stderr
}

// pause stops a command until the test ends.
func (r *running) pause(t *testing.T) {
	t.Helper()
	pid := r.cmd.Process.Pid
	if err := r.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Kill(pid, syscall.SIGCONT) })
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("it did not stop: %v, %v", status, err)
	}
}
