// Package golden compares generated files of the repository with what they are generated from.
package golden

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Check fails unless the file has the text. With UPDATE_REFERENCE=1 it writes the file first.
func Check(t *testing.T, file, want string) {
	t.Helper()
	if os.Getenv("UPDATE_REFERENCE") != "" {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(string(text), "\n")); diff != "" {
		t.Errorf("%s is stale: run `UPDATE_REFERENCE=1 go test ./coordinator ./coordinator/tools -run Reference`: %s",
			file, diff)
	}
}
