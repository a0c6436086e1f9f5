//go:build unix

package traffic

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"browser-coordinator/coordinator/cdplog"
)

// TestRecordingThatIsGone: no summary suggests to replay a file that no longer exists.
func TestRecordingThatIsGone(t *testing.T) {
	for name, move := range map[string]func(file string) error{
		"removed":  os.Remove,
		"moved":    func(file string) error { return os.Rename(file, file+".moved") },
		"replaced": func(file string) error { return errors.Join(os.Remove(file), os.WriteFile(file, nil, 0o600)) },
		"folder":   func(file string) error { return os.RemoveAll(filepath.Dir(file)) },
	} {
		file := filepath.Join(t.TempDir(), "folder", "session.jsonl")
		if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		r, err := Create("", file)
		if err != nil {
			t.Fatal(err)
		}
		r.begun = true
		if err := errors.Join(r.Add(t.Context(), cdplog.Line{Client: "c1", From: "client", Message: []byte(`{"id":1}`)}), move(file)); err != nil {
			t.Fatal(err)
		}
		if summary, err := r.Close(nil); err == nil || !strings.Contains(err.Error(), file+" is gone") || summary != "" {
			t.Errorf("%s: %v, the summary is %q", name, err, summary)
		}
	}
}
