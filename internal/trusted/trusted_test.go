package trusted_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/gofrs/flock"

	"browser-coordinator/internal/must"
	"browser-coordinator/internal/trusted"
)

// A lock whose file its last holder has removed, between the moment in which it was opened and the one
// in which it was locked, keeps nobody out: another process has the lock of the next file.
func TestLockOfARemovedFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		must.Skip(t, "Windows removes no file that is open")
	}
	path := filepath.Join(t.TempDir(), "x.lock")
	lock, other := flock.New(path), flock.New(path, flock.SetPermissions(0o600))
	tries := 0
	locked, err := trusted.Lock(lock, func() (bool, error) {
		tries++
		locked, err := lock.TryLock()
		if tries == 1 {
			must.Do(t, os.Remove(path))
			if !must.Get(other.TryLock())(t) {
				t.Fatal("the next file could not be locked")
			}
		}
		return locked, err
	})
	if err != nil || locked {
		t.Errorf("Lock: %v, %v; want false: another process has the lock", locked, err)
	}
	must.Do(t, other.Unlock())
	if locked, err := trusted.Lock(lock, lock.TryLock); err != nil || !locked {
		t.Errorf("Lock after the other's end: %v, %v; want true", locked, err)
	}
	must.Do(t, lock.Unlock())
}
