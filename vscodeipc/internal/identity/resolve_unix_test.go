//go:build unix

package identity

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"

	"browser-coordinator/internal/must"
)

// TestOnDiskIgnoringCase simulates a file system that ignores case, which a Linux test
// machine does not have.
func TestOnDiskIgnoringCase(t *testing.T) {
	tree := map[string]fs.FileInfo{}
	names := map[string][]string{"/": {"Users"}, "/Users/": {"Dev", "locked"}, "/Users/Dev/": {"Shop", "other"}}
	// os.SameFile needs the identities of real files.
	dir := t.TempDir()
	for _, p := range []string{"/Users", "/Users/Dev", "/Users/Dev/Shop", "/Users/locked", "/Users/locked/Deep"} {
		file := dir + "/" + strings.ReplaceAll(p, "/", "_")
		must.Do(t, os.WriteFile(file, nil, 0o600))
		info := must.Get(os.Lstat(file))(t)
		tree[strings.ToLower(p)] = info
	}
	lstat := func(p string) (fs.FileInfo, error) {
		if info, ok := tree[strings.ToLower(path.Clean(p))]; ok {
			return info, nil
		}
		return nil, fs.ErrNotExist
	}
	list := func(p string) ([]string, error) {
		for dir, n := range names {
			if strings.EqualFold(dir, p) {
				return n, nil
			}
		}
		return nil, errors.New("permission denied")
	}
	for spelling, want := range map[string]string{
		"/":                  "/",
		"/Users/Dev/Shop":    "/Users/Dev/Shop",
		"/users/dev/shop":    "/Users/Dev/Shop",
		"/USERS/DEV/sHOP":    "/Users/Dev/Shop",
		"/users/locked/deep": "/Users/locked/deep", // unreadable: keeps its given case
	} {
		if got := onDisk(spelling, lstat, list); got != want {
			t.Errorf("%s: got %s, want %s", spelling, got, want)
		}
	}
}

func TestOnDiskReadsNothingWhereCaseCounts(t *testing.T) {
	dir := t.TempDir()
	got := onDisk(dir, os.Lstat, func(p string) ([]string, error) {
		t.Errorf("it read the directory %s", p)
		return nil, nil
	})
	if got != dir {
		t.Errorf("got %s, want %s", got, dir)
	}
}
