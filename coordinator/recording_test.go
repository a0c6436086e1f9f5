package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestRecordBeforeTheBrowser: a recording can begin before there is a browser, and is
// complete. Without traffic there is no recording.
func TestRecordBeforeTheBrowser(t *testing.T) {
	dir, workspace, url := t.TempDir(), t.TempDir(), servePage(t)
	served := start(t, dir, "serve", "--workspace", workspace)
	empty, file := filepath.Join(dir, "empty.jsonl"), filepath.Join(dir, "session.jsonl")
	listening(t, dir, "--workspace", workspace, "--record", empty)()
	if _, err := os.Stat(empty); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a recording of nothing: %v", err)
	}
	end := listening(t, dir, "--workspace", workspace, "--record", file)
	window := start(t, dir, "window", "--headless", "--workspace", workspace)
	title, text := greet(t, served.first, url)
	end()
	window.stop(t)
	replay := start(t, dir, "replay", file)
	if again, said := greet(t, replay.first, url); again != title || said != text {
		t.Errorf("the replay gives %q, %q; the browser gave %q, %q", again, said, title, text)
	}
}

// TestRecordingIsWhole: a recording contains every response that a client has received,
// even if it is interrupted at the same moment.
func TestRecordingIsWhole(t *testing.T) {
	t.Parallel()
	dir, workspace := t.TempDir(), t.TempDir()
	window := start(t, dir, "window", "--headless", "--workspace", workspace)
	for round := range 20 {
		file := filepath.Join(dir, fmt.Sprintf("session-%d.jsonl", round))
		end := listening(t, dir, "--workspace", workspace, "--record", file)
		evaluateAs(t, window.first, "quick/1.0", fmt.Sprintf("'round %d'", round))
		end()
		recorded, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(recorded), fmt.Sprintf(`"value":"round %d"`, round)) {
			t.Fatalf("round %d: %v, the recording ends with %s", round, err, recorded[max(0, len(recorded)-300):])
		}
	}
}

// TestRecordingStays: a recording does not overwrite an existing file.
func TestRecordingStays(t *testing.T) {
	dir, workspace := t.TempDir(), t.TempDir()
	start(t, dir, "window", "--headless", "--workspace", workspace)
	file := filepath.Join(dir, "session.jsonl")
	if err := os.WriteFile(file, []byte("precious"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := command(t.Context(), t, dir, "log", "--workspace", workspace, "--record", file).CombinedOutput()
	if err == nil || !strings.Contains(string(out), file+" is there already") {
		t.Errorf("log --record of a file that is there: %v, %s", err, out)
	}
	if kept, err := os.ReadFile(file); err != nil || string(kept) != "precious" {
		t.Errorf("the file holds %q, %v", kept, err)
	}
}

// begin starts a command that ends with the test, and after a minute at the latest.
func begin(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	t.Cleanup(func() {
		late.Stop()
		cmd.Process.Kill() // fails if it has ended
		cmd.Wait()
	})
}

// record starts a recording.
func record(t *testing.T, dir, workspace string) (cmd *exec.Cmd, said *shown, file string) {
	t.Helper()
	file, said = filepath.Join(dir, "session.jsonl"), newShown()
	cmd = command(context.Background(), t, dir, "log", "--workspace", workspace, "--record", file)
	cmd.Stderr = said
	begin(t, cmd)
	said.await(t, "Listening")
	return cmd, said, file
}

// recordedLines are the lines in a recording.
type recordedLines struct {
	file *os.File
	text *bufio.Reader
}

func readRecording(t *testing.T, name string) recordedLines {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return recordedLines{file, bufio.NewReader(file)}
}

// await returns when this text is in the recording, after the text of the last call.
func (r recordedLines) await(t *testing.T, words string) {
	t.Helper()
	line := ""
	for deadline := time.Now().Add(time.Minute); !strings.Contains(line, words); {
		more, err := r.text.ReadString('\n')
		switch line += more; {
		case err == nil && !strings.Contains(line, words):
			line = ""
		case errors.Is(err, io.EOF) && time.Now().Before(deadline):
			time.Sleep(5 * time.Millisecond) // no event reports that a file has grown
		case err != nil:
			t.Fatalf("%s is not recorded: %v", words, err)
		}
	}
}
