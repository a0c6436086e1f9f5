//go:build unix

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"browser-coordinator/coordinator/cdplog"
)

// TestRecordingIsNotWhole: the coordinator that knows what passed before a recording
// was interrupted does not tell, and who recorded is told.
func TestRecordingIsNotWhole(t *testing.T) {
	dir, workspace := t.TempDir(), t.TempDir()
	window := start(t, dir, "window", "--headless", "--workspace", workspace)
	out := newShown()
	cmd, said, file, _ := besideLog(t, dir, workspace, out)
	evaluateAs(t, window.first, "quick/1.0", "'hello'")
	out.await(t, `"value":"hello"`)

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

// overfill has more shown beside a recording than its pipe takes, and returns when that
// is recorded.
func overfill(t *testing.T, endpoint, file string) {
	t.Helper()
	for _, each := range []string{"a", "b", "c", "d", "e"} { // each command, and each answer
		evaluateAs(t, endpoint, "long/1.0", "'"+strings.Repeat(each, 25_000)+"'")
	}
	readRecording(t, file).await(t, `"value":"eee`)
}

// TestRecordingOutlivesItsView: what is shown cannot be written, as to a full disk: the
// recording goes on, and who recorded is told.
func TestRecordingOutlivesItsView(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err) // only some systems have it
	}
	defer full.Close()
	dir, workspace := t.TempDir(), t.TempDir()
	window := start(t, dir, "window", "--headless", "--workspace", workspace)
	cmd, said, file, _ := besideLog(t, dir, workspace, full)
	evaluateAs(t, window.first, "quick/1.0", "'first'")
	said.await(t, "Nothing more is shown, since it cannot be written (no space left on device); the recording goes on.")
	evaluateAs(t, window.first, "quick/1.0", "'second'")
	cmd.Process.Signal(os.Interrupt)
	if cmd.Wait(); cmd.ProcessState.ExitCode() != exitFailure || !strings.Contains(said.String(), "serves them") || strings.Count(said.String(), "Nothing more is shown") != 1 {
		t.Errorf("exit code %d: %s", cmd.ProcessState.ExitCode(), said)
	}
	if recorded, err := os.ReadFile(file); err != nil || !strings.Contains(string(recorded), `"value":"second"`) || strings.Contains(string(recorded), `"cut"`) {
		t.Errorf("the recording is not whole: %v, %s", err, recorded)
	}
}

// TestRecordingFailsBesideAPause: a recording that ends too early says so, also where
// what is shown of it stands still.
func TestRecordingFailsBesideAPause(t *testing.T) {
	dir, workspace := t.TempDir(), t.TempDir()
	owner := start(t, dir, "serve", "--workspace", workspace)
	start(t, dir, "window", "--headless", "--workspace", workspace)
	cmd, said, file, _ := besideLog(t, dir, workspace, nil, "--full")
	overfill(t, owner.first, file)
	if err := owner.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	owner.cmd.Wait()
	if cmd.Wait(); cmd.ProcessState.ExitCode() != exitFailure || !strings.Contains(said.String(), "the coordinator that served the endpoint has ended") {
		t.Errorf("exit code %d: %s", cmd.ProcessState.ExitCode(), said)
	}
}

// TestInterruptedBesideNoReader: who interrupts a recording that ends anyway, since
// nobody reads what is shown, interrupts it for the first time: it is ended in order.
func TestInterruptedBesideNoReader(t *testing.T) {
	dir, workspace := t.TempDir(), t.TempDir()
	window := start(t, dir, "window", "--headless", "--workspace", workspace)
	cmd, said, file, unread := besideLog(t, dir, workspace, nil, "--full")
	overfill(t, window.first, file)
	pause(t, window) // which would tell the last of the traffic
	unread.Close()
	said.await(t, "Nobody reads what is shown any more")
	time.Sleep(100 * time.Millisecond) // time to go wrong in, of which nothing would tell
	cmd.Process.Signal(os.Interrupt)
	if cmd.Wait(); cmd.ProcessState.ExitCode() != exitFailure {
		t.Errorf("exit code %d: %s", cmd.ProcessState.ExitCode(), said)
	}
	if recorded, err := os.ReadFile(file); err != nil || !strings.Contains(string(recorded), `"cut":"log: the coordinator does not tell`) {
		t.Errorf("the recording does not say that it is cut off: %v, %d bytes", err, len(recorded))
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
