//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A recording contains every response that a client has received, even if it is
// interrupted at the same moment. If the coordinator does not send the traffic from
// before the interruption, the command that records reports that.
func TestRecordingIsWhole(t *testing.T) {
	t.Parallel()
	dir, workspace := t.TempDir(), t.TempDir()
	window := openWindow(t, dir, workspace)
	for round := range 8 {
		file := filepath.Join(dir, fmt.Sprintf("session-%d.jsonl", round))
		recording := startLog(t, dir, workspace, "--record", file)
		evaluateAs(t, window.first, "quick/1.0", fmt.Sprintf("round %d", round))
		recording.end(t)
		recorded, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(recorded), fmt.Sprintf(`"value":"round %d"`, round)) {
			t.Fatalf("round %d: %v, the recording ends with %s", round, err, recorded[max(0, len(recorded)-300):])
		}
	}

	file := filepath.Join(dir, "session.jsonl")
	recording := startLog(t, dir, workspace, "--record", file)
	evaluateAs(t, window.first, "quick/1.0", "hello")
	awaitRecord(t, file, `"value":"hello"`)
	window.pause(t)
	recording.Process.Signal(os.Interrupt)
	recording.fails(t, "does not send the last of the traffic")
	recorded, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(recorded), `"value":"hello"`) || !strings.Contains(string(recorded), `"cut":"log: the coordinator does not send`) {
		t.Errorf("the recording lacks what was recorded, or that it is cut off: %v, %s", err, recorded)
	}
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
