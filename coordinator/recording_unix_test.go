//go:build unix

package main

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestRecordingIsNotWhole: the coordinator does not send the traffic from before an
// interruption. The command that records reports that.
func TestRecordingIsNotWhole(t *testing.T) {
	t.Parallel()
	dir, workspace := t.TempDir(), t.TempDir()
	window := start(t, dir, "window", "--headless", "--workspace", workspace)
	cmd, said, file := record(t, dir, workspace)
	evaluateAs(t, window.first, "quick/1.0", "'hello'")
	readRecording(t, file).await(t, `"value":"hello"`)

	pause(t, window)
	cmd.Process.Signal(os.Interrupt)
	if cmd.Wait(); cmd.ProcessState.ExitCode() != exitFailure || !strings.Contains(said.String(), "does not send the last of the traffic") {
		t.Errorf("exit code %d: %s", cmd.ProcessState.ExitCode(), said)
	}
	if recorded, err := os.ReadFile(file); err != nil || !strings.Contains(string(recorded), `"value":"hello"`) {
		t.Errorf("what was recorded is gone: %v, %s", err, recorded)
	} else if !strings.Contains(string(recorded), `"cut":"log: the coordinator does not send`) {
		t.Errorf("the recording does not say that it is cut off: %s", recorded)
	}
}

// pause stops a window until the test ends.
func pause(t *testing.T, window *running) {
	t.Helper()
	if err := window.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { window.cmd.Process.Signal(syscall.SIGCONT) })
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(window.cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("the window did not stop: %v, %v", status, err)
	}
}
