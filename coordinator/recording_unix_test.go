//go:build unix

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestRecordingIsNotWhole: the coordinator that knows what passed before a recording
// was interrupted does not tell, and who recorded is told.
func TestRecordingIsNotWhole(t *testing.T) {
	dir, workspace := t.TempDir(), t.TempDir()
	window := start(t, dir, "window", "--headless", "--workspace", workspace)
	file := filepath.Join(dir, "session.jsonl")
	cmd := command(context.Background(), t, dir, "log", "--workspace", workspace, "--record", file, "--follow")
	out, said := newShown(), newShown()
	cmd.Stdout, cmd.Stderr = out, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said.await(t, "Listening")
	evaluateAs(t, window.first, "quick/1.0", "'hello'")
	out.await(t, `"value":"hello"`)

	if err := window.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer window.cmd.Process.Signal(syscall.SIGCONT)
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(window.cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("the window did not stop: %v, %v", status, err)
	}
	cmd.Process.Signal(os.Interrupt)
	if cmd.Wait(); cmd.ProcessState.ExitCode() != exitFailure || !strings.Contains(said.String(), "does not tell the last of the traffic") {
		t.Errorf("exit code %d: %s", cmd.ProcessState.ExitCode(), said)
	}
	if recorded, err := os.ReadFile(file); err != nil || !strings.Contains(string(recorded), `"value":"hello"`) {
		t.Errorf("what was recorded is gone: %v, %s", err, recorded)
	} else if !strings.Contains(string(recorded), `"cut":"log: the coordinator does not tell`) {
		t.Errorf("the recording does not say that it is cut off: %s", recorded)
	}
}
