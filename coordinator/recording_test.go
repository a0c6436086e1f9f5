package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/coordinator/cdplog"
)

// TestRecordBeforeTheBrowser: a recording can begin before there is a browser, and
// is whole. Of nothing there is none.
func TestRecordBeforeTheBrowser(t *testing.T) {
	dir, workspace, url := t.TempDir(), t.TempDir(), servePage(t)
	served := start(t, dir, "serve", "--workspace", workspace)
	empty, file := filepath.Join(dir, "empty.jsonl"), filepath.Join(dir, "session.jsonl")
	listening(t, dir, "--workspace", workspace, "--record", empty)()
	if _, err := os.Stat(empty); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a recording of nothing: %v", err)
	}
	end := listening(t, dir, "--workspace", workspace, "--record", file, "--follow")
	window := start(t, dir, "window", "--headless", "--workspace", workspace)
	title, text := greet(t, served.first, url)
	end("← Page.loadEventFired")
	window.stop(t)
	replay := start(t, dir, "replay", file)
	if again, said := greet(t, replay.first, url); again != title || said != text {
		t.Errorf("the replay gives %q, %q; the browser gave %q, %q", again, said, title, text)
	}
}

// TestRecordingIsWhole: what a client has been answered is in the recording, also
// when that is interrupted in the same moment.
func TestRecordingIsWhole(t *testing.T) {
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

// TestRecordingStays: a file that is there is not recorded over.
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

// TestRecordingsLastWords: what is wrong with a recording is told where it ends.
func TestRecordingsLastWords(t *testing.T) {
	message := cdplog.Line{Client: "c1", From: "client", Message: []byte(`{"id":1}`)}
	for _, end := range []struct {
		name, words string
		spoil       func(*recording)
		kept        bool
	}{
		{"whole", "1 messages are in FILE; `coordinator replay FILE` serves them.", func(*recording) {}, true},
		{"with a gap", "1 messages are in FILE, and 7 are missing, since they came too fast: it cannot be replayed.", func(r *recording) { r.add(t.Context(), cdplog.Line{Lost: 7}) }, true},
		{"cut off", "1 messages are in FILE, which is cut off; `coordinator replay FILE` serves what there is.", func(r *recording) { r.file.Close(); r.add(t.Context(), message) }, true},
		{"empty", "Nothing that a client said was recorded: FILE is not kept.", func(r *recording) { r.begun = false }, false},
	} {
		t.Run(end.name, func(t *testing.T) {
			said := newShown()
			file := filepath.Join(t.TempDir(), "session.jsonl")
			r, err := (&program{stdio: stdio{err: said}}).record("", file)
			if err != nil {
				t.Fatal(err)
			}
			r.begun = true // with a browser: TestLogAndReplay
			if err := r.add(t.Context(), message); err != nil {
				t.Fatal(err)
			}
			end.spoil(r)
			r.end(nil)
			if want := strings.ReplaceAll(end.words, "FILE", file) + "\n"; said.String() != want {
				t.Errorf("said %q, want %q", said, want)
			}
			if _, err := os.Stat(file); (err == nil) != end.kept {
				t.Errorf("the file: %v", err)
			}
		})
	}
}

// TestRecordingDoesNotWait: what is shown beside a recording may stand still, and the
// recording is whole; when nobody reads it any more, the recording ends, and says so.
func TestRecordingDoesNotWait(t *testing.T) {
	const events = 15_000 // more than wait for a listener that does not keep up
	dir, workspace := t.TempDir(), t.TempDir()
	window := start(t, dir, "window", "--headless", "--workspace", workspace)
	file := filepath.Join(dir, "session.jsonl")
	cmd := command(context.Background(), t, dir, "log", "--workspace", workspace, "--record", file, "--follow")
	said := newShown()
	cmd.Stderr = said
	unread, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said.await(t, "Listening")

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, _, err := websocket.Dial(ctx, firstPage(t, window.first), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	for _, command := range []string{
		`{"id":1,"method":"Runtime.enable"}`,
		fmt.Sprintf(`{"id":2,"method":"Runtime.evaluate","params":{"expression":"for (let i = 1; i <= %d; i++) console.log('event ' + i)"}}`, events),
	} {
		if err := c.Write(ctx, websocket.MessageText, []byte(command)); err != nil {
			t.Fatal(err)
		}
	}
	last := fmt.Appendf(nil, `"event %d"`, events)
	for seen := []byte(nil); !bytes.Contains(seen, last); {
		if _, seen, err = c.Read(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := io.ReadFull(unread, make([]byte, 1)); err != nil { // it has been shown something
		t.Fatal(err)
	}
	unread.Close()
	if err := cmd.Wait(); err != nil || !strings.Contains(said.String(), "serves them") {
		t.Errorf("log ended with %v: %s", err, said)
	}
	if recorded, err := os.ReadFile(file); err != nil || !bytes.Contains(recorded, last) || bytes.Contains(recorded, []byte(`"lost":`)) {
		t.Errorf("the recording is not whole: %v, %d bytes, ends with %s", err, len(recorded), recorded[max(0, len(recorded)-300):])
	}
}
