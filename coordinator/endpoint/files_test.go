package endpoint

import (
	"path/filepath"
	"strings"
	"testing"
)

// A lock that cannot be made is no lock that another process holds.
func TestLockThatCannotBeMade(t *testing.T) {
	f := &files{dir: filepath.Join(t.TempDir(), "missing")}
	if _, err := f.lockChoice(); err == nil || strings.Contains(err.Error(), "another") ||
		!strings.HasPrefix(err.Error(), "lock "+f.dir) {
		t.Errorf("%v", err)
	}
}
