//go:build unix

package chrome

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"browser-coordinator/internal/must"
)

// Two coordinators never use one profile: the second gets an error, and may work in a
// copy.
func TestProfileInUse(t *testing.T) {
	t.Setenv("TMPDIR", shortTemp(t))
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	profile := filepath.Join(t.TempDir(), "profile")
	first := must.Get(tryLaunch(t, Options{UserDataDir: profile}))(t)
	if info, err := os.Stat(profile); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the profile is %v, %v", info.Mode(), err)
	}
	if _, err := tryLaunch(t, Options{UserDataDir: profile}); err == nil ||
		!strings.Contains(err.Error(), "in use by another coordinator") ||
		!strings.Contains(err.Error(), "--isolated") {
		t.Errorf("a second launch: %v", err)
	}
	must.Do(t, os.WriteFile(filepath.Join(profile, "Default", "login"), []byte("kept"), 0o600))
	copied := must.Get(tryLaunch(t, Options{UserDataDir: profile, Isolated: true}))(t)
	dir := copied.profile.dir
	if data, err := os.ReadFile(filepath.Join(dir, "Default", "login")); err != nil || string(data) != "kept" ||
		dir == profile {
		t.Errorf("the copy %s holds %q, %v", dir, data, err)
	}
	if err := copied.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the copy stays: %v", err)
	}
	if err := version(first.URL()); err != nil {
		t.Errorf("the first browser: %v", err)
	}
	if err := first.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(profile, "Default", "login")); err != nil {
		t.Errorf("the caller's profile does not stay: %v", err)
	}
	again, err := tryLaunch(t, Options{UserDataDir: profile})
	if err != nil {
		t.Fatalf("after the first has ended: %v", err)
	}
	again.Close(t.Context())
}

// What other programs, and browsers that were killed, leave in a profile.
func TestProfileLocks(t *testing.T) {
	t.Setenv("TMPDIR", shortTemp(t))
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	host := must.Get(os.Hostname())(t)
	hold := func(holder string) string {
		dir := t.TempDir()
		must.Do(t, os.Symlink(holder, filepath.Join(dir, "SingletonLock")))
		return dir
	}
	if _, err := tryLaunch(t, Options{UserDataDir: hold(host + "-" + strconv.Itoa(os.Getpid()))}); err == nil ||
		!strings.Contains(err.Error(), fmt.Sprintf("in use by a browser (process %d)", os.Getpid())) {
		t.Errorf("a profile that a browser runs on: %v", err)
	}
	for _, stale := range []string{host + "-999999999", "another-container-12"} {
		b, err := tryLaunch(t, Options{UserDataDir: hold(stale)})
		if err != nil {
			t.Errorf("a lock that %s has left: %v", stale, err)
			continue
		}
		b.Close(t.Context())
	}
}
