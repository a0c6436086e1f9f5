//go:build unix

package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"browser-coordinator/internal/toolstest"
)

// ofSignals starts `coordinator run -- signalled`, with arguments before it.
func ofSignals(t *testing.T, before ...string) (cmd *exec.Cmd, out *printed, keys io.WriteCloser) {
	t.Helper()
	cmd = command(context.Background(), t, toolstest.Dir, "run", "--workspace", t.TempDir(), "--", named(t, "signalled"))
	if len(before) > 0 {
		link := named(t, "coordinator")
		cmd.Args = append(before, "exec "+strings.Join(append([]string{link}, cmd.Args[1:]...), " "))
		cmd.Path, cmd.Err = exec.LookPath(before[0])
	}
	out = new(printed)
	cmd.Cancel, cmd.Stdout, cmd.Stderr = nil, out, out
	keys, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	out.await(t, "ready")
	return cmd, out, keys
}

// A program gets the signals of its coordinator as they are, and ends when it wants to.
func TestRunForwardsSignals(t *testing.T) {
	t.Parallel()
	cmd, out, keys := ofSignals(t)
	for _, s := range []os.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT} {
		cmd.Process.Signal(s)
		out.await(t, "got "+s.String())
	}
	keys.Close()
	if cmd.Wait(); cmd.ProcessState.ExitCode() != 5 {
		t.Errorf("it ended with %v, want the program's exit code 5\n%s", cmd.ProcessState, out)
	}
}

// Ctrl+C is the program's, once.
func TestRunLeavesCtrlCToTheProgram(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("script"); err != nil {
		t.Skip("needs script(1) for a terminal")
	}
	cmd, out, keys := ofSignals(t, "script", "--quiet", "--return", "--log-out", os.DevNull, "--command")
	for _, key := range []struct{ press, got string }{{"\x03", "got interrupt"}, {"\x1c", "got quit"}} {
		io.WriteString(keys, key.press)
		out.await(t, key.got)
	}
	io.WriteString(keys, "\x04") // the end of the input
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 5 {
		t.Errorf("it ended with %v, want the program's exit code 5\n%s", err, out)
	}
	if n := strings.Count(out.String(), "got interrupt"); n != 1 {
		t.Errorf("the program got %d interrupts, want 1\n%s", n, out)
	}
}
