//go:build unix

package output

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A repository may contain links in the place of the folder and of its files; none is
// followed.
func TestLinks(t *testing.T) {
	for _, link := range []string{DefaultName, DefaultName + "/a", DefaultName + "/a/b"} {
		for _, chosen := range []bool{false, true} {
			base, outside := t.TempDir(), t.TempDir()
			if err := os.MkdirAll(filepath.Join(base, filepath.Dir(link)), 0o700); err != nil {
				t.Fatal(err)
			}
			inside := filepath.Join(base, "inside")
			if err := os.Mkdir(inside, 0o700); err != nil {
				t.Fatal(err)
			}
			for _, to := range []string{outside, inside} {
				os.Remove(filepath.Join(base, link))
				if err := os.Symlink(to, filepath.Join(base, link)); err != nil {
					t.Fatal(err)
				}
				f := In(base, "")
				if chosen {
					f = In(base, filepath.Join(base, DefaultName))
				}
				if got, err := save(t, f, "a/b/x.txt", Text, "x"); err == nil ||
					!strings.Contains(err.Error(), "not followed") {
					t.Errorf("%s is a link to %s: %q %v", link, to, got, err)
				}
				if entries, _ := os.ReadDir(to); len(entries) > 0 {
					t.Errorf("%s is a link: %v was written", link, entries)
				}
			}
		}
	}
}
