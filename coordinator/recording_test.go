package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
		{"not closed", "1 messages are in FILE, which is cut off; `coordinator replay FILE` serves what there is.", func(r *recording) { r.file.Close() }, true},
		{"nothing said", "Nothing that a client said was recorded: FILE is not kept.", func(r *recording) { r.messages = 0 }, false},
		{"empty", "Nothing that a client said was recorded: FILE is not kept.", func(r *recording) { r.begun, r.messages = false, 0 }, false},
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

// TestRecordingWithoutItsFolder: what cannot be made is told in words.
func TestRecordingWithoutItsFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "nowhere", "session.jsonl")
	if _, err := new(program).record("", file); err == nil || err.Error() != "record: the folder of "+file+" is not there: make it, or name a file elsewhere" {
		t.Errorf("a recording in no folder: %v", err)
	}
}

// begin starts a command that outlives neither the test nor a minute.
func begin(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	t.Cleanup(func() {
		late.Stop()
		cmd.Process.Kill() // fails where it has ended
		cmd.Wait()
	})
}

// besideLog is a recording that has begun, and is shown as well. What is shown goes to
// out; nil: to the pipe that is returned, which nobody reads.
func besideLog(t *testing.T, dir, workspace string, out io.Writer, args ...string) (cmd *exec.Cmd, said *shown, file string, unread io.ReadCloser) {
	t.Helper()
	file, said = filepath.Join(dir, "session.jsonl"), newShown()
	cmd = command(context.Background(), t, dir, append([]string{"log", "--workspace", workspace, "--record", file, "--follow"}, args...)...)
	cmd.Stdout, cmd.Stderr = out, said
	if out == nil {
		var err error
		if unread, err = cmd.StdoutPipe(); err != nil {
			t.Fatal(err)
		}
	}
	begin(t, cmd)
	said.await(t, "Listening")
	return cmd, said, file, unread
}

// recordedLines are what is written to a recording.
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

// await returns when these words are in the recording, behind the last ones.
func (r recordedLines) await(t *testing.T, words string) {
	t.Helper()
	line := ""
	for deadline := time.Now().Add(time.Minute); !strings.Contains(line, words); {
		more, err := r.text.ReadString('\n')
		switch line += more; {
		case err == nil && !strings.Contains(line, words):
			line = ""
		case errors.Is(err, io.EOF) && time.Now().Before(deadline):
			time.Sleep(5 * time.Millisecond) // nothing tells that a file has grown
		case err != nil:
			t.Fatalf("%s is not recorded: %v", words, err)
		}
	}
}

// TestRecordingDoesNotWait: what is shown beside a recording may stand still, and the
// recording is whole; when nobody reads it any more, the recording ends, and says so.
func TestRecordingDoesNotWait(t *testing.T) {
	// More than what is shown may wait for, and never as much at once as may wait for
	// the recording.
	const batches, events = 24, 500
	dir, workspace := t.TempDir(), t.TempDir()
	window := start(t, dir, "window", "--headless", "--workspace", workspace)
	cmd, said, file, unread := besideLog(t, dir, workspace, nil)

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, _, err := websocket.Dial(ctx, firstPage(t, window.first), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	say := func(command string) {
		t.Helper()
		if err := c.Write(ctx, websocket.MessageText, []byte(command)); err != nil {
			t.Fatal(err)
		}
	}
	say(`{"id":1,"method":"Runtime.enable"}`)
	recorded := readRecording(t, file)
	for batch := range batches {
		say(fmt.Sprintf(`{"id":2,"method":"Runtime.evaluate","params":{"expression":"for (let i = 1; i <= %d; i++) console.log('event %d.' + i)"}}`, events, batch))
		last := fmt.Sprintf(`"event %d.%d"`, batch, events)
		for seen := []byte(nil); !bytes.Contains(seen, []byte(last)); {
			if _, seen, err = c.Read(ctx); err != nil {
				t.Fatal(err)
			}
		}
		recorded.await(t, last)
	}
	if _, err := io.ReadFull(unread, make([]byte, 1)); err != nil { // it has been shown something
		t.Fatal(err)
	}
	unread.Close()
	if err := cmd.Wait(); err != nil || !strings.Contains(said.String(), "Nobody reads what is shown any more") || !strings.Contains(said.String(), "serves them") {
		t.Errorf("log ended with %v: %s", err, said)
	}
	if text, err := os.ReadFile(file); err != nil || bytes.Count(text, []byte(`"value":"event `)) != batches*events || bytes.Contains(text, []byte(`"lost":`)) {
		t.Errorf("the recording is not whole: %v, %d bytes, ends with %s", err, len(text), text[max(0, len(text)-300):])
	}
}

// TestViewThatStandsStill: what is shown beside a recording knows afterwards whom and
// what it is about, and tells how many messages are missing, also at the end.
func TestViewThatStandsStill(t *testing.T) {
	for _, flags := range []logFlags{{}, {json: true}} {
		unread, out := io.Pipe()
		b := showBeside(newTrafficView(out, flags), func(why error) { t.Errorf("failed: %v", why) })
		sent, lost := 0, 0
		show := func(l cdplog.Line) {
			l.Time = time.Unix(1, 0).UTC()
			if err := b.show(l); err != nil {
				t.Fatal(err)
			}
			lost += l.Lost
			if l.From != "" {
				sent++
			}
		}
		fill := func() {
			for b.missed == 0 {
				show(cdplog.Line{Client: "a", From: "browser", Message: []byte(`{"method":"Page.frameResized"}`)})
			}
		}
		show(cdplog.Line{Client: "a", Joined: &cdplog.Client{Name: "first"}})
		fill()
		show(cdplog.Line{Lost: 500})
		show(cdplog.Line{Client: "b", Joined: &cdplog.Client{Name: "second"}})
		show(cdplog.Line{Client: "b", From: "browser", Message: []byte(`{"method":"Target.attachedToTarget","params":{"sessionId":"S"}}`)})
		show(cdplog.Line{Client: "b", From: "client", Message: []byte(`{"id":7,"sessionId":"S","method":"DOM.enable"}`)})
		shown := bufio.NewReader(unread)
		var lines []string
		for range 10 { // there is room again
			line, err := shown.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, line)
		}
		show(cdplog.Line{Client: "b", From: "browser", Message: []byte(`{"id":7,"sessionId":"S","result":{}}`)})
		fill()
		show(cdplog.Line{Lost: 7})
		rest := make(chan string, 1)
		go func() {
			text, _ := io.ReadAll(shown)
			rest <- string(text)
		}()
		if err := b.close(0); err != nil {
			t.Error(err)
		}
		out.Close()
		lines = slices.AppendSeq(lines, strings.Lines(<-rest))

		messages, missing, at := 0, 0, -1
		for i, line := range lines {
			var l cdplog.Line
			switch {
			case flags.json && json.Unmarshal([]byte(line), &l) != nil:
				t.Fatalf("no JSON: %s", line)
			case flags.json:
				missing += l.Lost
			case strings.HasPrefix(line, "… "):
				fmt.Sscanf(line, "… %d messages are missing here", &l.Lost)
				missing += l.Lost
			}
			if strings.Contains(line, "⇐ DOM.enable") || strings.Contains(line, `"id":7`) {
				at = i
			}
			if l.Lost == 0 && l.Joined == nil {
				messages++
			}
		}
		if messages+missing != sent+lost || missing < 507 {
			t.Errorf("%+v: %d are shown and %d missing, of %d and %d lost", flags, messages, missing, sent, lost)
		}
		before, gap := "", lines[len(lines)-1]
		if at > 1 {
			before = lines[at-1]
		}
		if flags.json && (!strings.Contains(before, `"joined":{"name":"second"`) || !strings.Contains(gap, `"lost":`)) {
			t.Errorf("before the first of a client stands %s, and at the end %s", before, gap)
		}
		if !flags.json && (at < 0 || !strings.Contains(lines[at], " second#2.1 ") || !strings.Contains(before, "are missing here") || !strings.Contains(gap, "are missing here")) {
			t.Errorf("the first of a client behind a gap is shown at %d behind %s, and at the end %s", at, before, gap)
		}
	}
}
