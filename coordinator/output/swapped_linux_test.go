package output

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// A link that replaces a folder during a write has no effect.
func TestSwappedFolder(t *testing.T) {
	base := t.TempDir()
	f := In(base, "")
	if _, err := save(t, f, "x.txt", Text, "x"); err != nil {
		t.Fatal(err)
	}
	inside := filepath.Join(base, ".git")
	if err := os.Mkdir(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	real, link := f.Path(), filepath.Join(base, "link")
	if err := os.Symlink(".git", link); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if err := unix.Renameat2(unix.AT_FDCWD, real, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE); err != nil {
				t.Errorf("exchange: %v", err)
				return
			}
		}
	})
	refused := 0
	for n := range 3000 {
		file, err := f.File(fmt.Sprintf("y%d.txt", n), Text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.Save([]byte("x")); err != nil {
			refused++
		}
	}
	close(stop)
	swapping.Wait()
	if entries, _ := os.ReadDir(inside); len(entries) > 0 {
		t.Errorf("%d files were written through the link", len(entries))
	}
	t.Logf("%d of 3000 were refused", refused)
}
