//go:build unix

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"browser-coordinator/coordinator/cdplog"
)

// TestRecordingIsNotWhole: the coordinator that knows what passed before a recording
// was interrupted does not tell, and who recorded is told.
func TestRecordingIsNotWhole(t *testing.T) {
	dir, workspace := t.TempDir(), t.TempDir()
	window := start(t, dir, "window", "--headless", "--workspace", workspace)
	cmd, said, file := record(t, dir, workspace)
	evaluateAs(t, window.first, "quick/1.0", "'hello'")
	readRecording(t, file).await(t, `"value":"hello"`)

	pause(t, window)
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

// TestRecordingThatIsGone: nobody is told to replay what is no longer there.
func TestRecordingThatIsGone(t *testing.T) {
	for name, move := range map[string]func(file string) error{
		"removed":  os.Remove,
		"moved":    func(file string) error { return os.Rename(file, file+".moved") },
		"replaced": func(file string) error { return errors.Join(os.Remove(file), os.WriteFile(file, nil, 0o600)) },
		"folder":   func(file string) error { return os.RemoveAll(filepath.Dir(file)) },
	} {
		said := newShown()
		file := filepath.Join(t.TempDir(), "folder", "session.jsonl")
		if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		r, err := (&program{stdio: stdio{err: said}}).record("", file)
		if err != nil {
			t.Fatal(err)
		}
		r.begun = true
		if err := errors.Join(r.add(t.Context(), cdplog.Line{Client: "c1", From: "client", Message: []byte(`{"id":1}`)}), move(file)); err != nil {
			t.Fatal(err)
		}
		if err := r.end(nil); err == nil || !strings.Contains(err.Error(), file+" is gone") || said.String() != "" {
			t.Errorf("%s: %v, said %q", name, err, said)
		}
	}
}
