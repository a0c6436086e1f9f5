package traffic

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"browser-coordinator/coordinator/cdplog"
)

// TestRecordingSummary: the summary reports what is wrong with a recording.
func TestRecordingSummary(t *testing.T) {
	message := cdplog.Line{Client: "c1", From: "client", Message: []byte(`{"id":1}`)}
	for _, end := range []struct {
		name, summary string
		spoil         func(*Recording)
		kept          bool
	}{
		{"whole", "1 messages are in FILE; `coordinator replay FILE` serves them.", func(*Recording) {}, true},
		{"with a gap", "1 messages are in FILE, and 7 are missing, since they came too fast: it cannot be replayed.", func(r *Recording) { r.Add(t.Context(), cdplog.Line{Lost: 7}) }, true},
		{"cut off", "1 messages are in FILE, which is cut off; `coordinator replay FILE` serves what there is.", func(r *Recording) { r.file.Close(); r.Add(t.Context(), message) }, true},
		{"not closed", "1 messages are in FILE, which is cut off; `coordinator replay FILE` serves what there is.", func(r *Recording) { r.file.Close() }, true},
		{"no message", "No message of a client was recorded: FILE is not kept.", func(r *Recording) { r.messages = 0 }, false},
		{"empty", "No message of a client was recorded: FILE is not kept.", func(r *Recording) { r.begun, r.messages = false, 0 }, false},
	} {
		t.Run(end.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "session.jsonl")
			r, err := Create("", file)
			if err != nil {
				t.Fatal(err)
			}
			r.begun = true // with a browser: TestLogAndReplay
			if err := r.Add(t.Context(), message); err != nil {
				t.Fatal(err)
			}
			end.spoil(r)
			summary, _ := r.Close(nil)
			if want := strings.ReplaceAll(end.summary, "FILE", file); summary != want {
				t.Errorf("the summary is %q, want %q", summary, want)
			}
			if _, err := os.Stat(file); (err == nil) != end.kept {
				t.Errorf("the file: %v", err)
			}
		})
	}
}

// TestRecordingWithoutItsFolder: the error names the missing folder.
func TestRecordingWithoutItsFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "nowhere", "session.jsonl")
	if _, err := Create("", file); err == nil || err.Error() != "record: the folder of "+file+" is not there: make it, or name a file elsewhere" {
		t.Errorf("a recording in no folder: %v", err)
	}
}
