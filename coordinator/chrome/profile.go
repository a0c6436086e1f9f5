package chrome

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"browser-coordinator/internal/backoff"
	"browser-coordinator/internal/trusted"
)

// inUse is the error for a profile that another coordinator or browser uses. Two browsers
// on one profile would destroy it, so a second Chrome passes its request to the running one
// and ends.
func inUse(dir, holder string) error {
	return fmt.Errorf("the profile %s is in use by %s: end that, choose another profile, or work in a copy of it "+
		"(--isolated)", dir, holder)
}

// lockFile in a profile is locked while a coordinator uses the profile.
const lockFile = "browser-coordinator.lock"

// profile is where a browser keeps its files.
type profile struct {
	dir     string
	private bool // ours: removed at the end
	lock    *flock.Flock
}

// openProfile makes a private profile, uses the given one, or makes a private copy of it.
func openProfile(ctx context.Context, path string, isolated bool) (*profile, error) {
	if path == "" {
		dir, err := temporary()
		if err != nil {
			return nil, err
		}
		return &profile{dir: dir, private: true}, nil
	}
	dir, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("profile %s: %w", path, err)
	}
	if isolated {
		return copyProfile(dir)
	}
	if err := trusted.MakeFolder(dir, trusted.OwnFolder); err != nil {
		return nil, fmt.Errorf("profile %s: %w", path, err)
	}
	p := &profile{dir: dir, lock: flock.New(filepath.Join(dir, lockFile), flock.SetPermissions(0o600))}
	mine, err := trusted.Lock(p.lock, p.lock.TryLock)
	if err != nil {
		return nil, fmt.Errorf("lock the profile: %w", err)
	}
	if !mine {
		return nil, inUse(dir, "another coordinator")
	}
	// The lock is held, so a remaining browser is another program's, or was left by a killed
	// coordinator. The watchdog ends the latter after a moment.
	if holder := otherBrowser(ctx, dir); holder != "" {
		p.release()
		return nil, inUse(dir, holder)
	}
	return p, nil
}

// temporary makes the folder of a private profile.
func temporary() (string, error) {
	dir, err := os.MkdirTemp("", profilePrefix)
	if err == nil {
		return dir, nil
	}
	for _, variable := range []string{"TMPDIR", "TMP", "TEMP"} { // the last two on Windows
		if os.Getenv(variable) == os.TempDir() {
			return "", fmt.Errorf("make a private profile in the folder that $%s names: %w; set it to one that "+
				"exists, or unset it", variable, err)
		}
	}
	return "", fmt.Errorf("make a private profile: %w", err)
}

// keepDownloads gives a fresh profile its own folder for downloads that no client directs
// elsewhere: no user sees a headless browser, and its files do not belong in the user's
// folder of downloads.
func (p *profile) keepDownloads(dir string) error {
	preferences, err := json.Marshal(map[string]any{"download": map[string]any{"default_directory": dir,
		"prompt_for_download": false}})
	if err != nil {
		return err
	}
	folder := filepath.Join(p.dir, "Default")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return fmt.Errorf("prepare the profile: %w", err)
	}
	if err := os.WriteFile(filepath.Join(folder, "Preferences"), preferences, 0o600); err != nil {
		return fmt.Errorf("prepare the profile: %w", err)
	}
	return nil
}

// otherBrowser waits until no browser runs on the profile. If one stays, it returns its
// name. There is no event for the end of a process that is not our child.
func otherBrowser(ctx context.Context, dir string) (holder string) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	wait := backoff.Backoff{First: 10 * time.Millisecond, Max: 100 * time.Millisecond}
	for {
		if holder = browserOn(dir); holder == "" || !wait.Sleep(ctx) {
			return holder
		}
	}
}

// removable is the profile to remove at the end; empty when it is the caller's.
func (p *profile) removable() string {
	if p.private {
		return p.dir
	}
	return ""
}

// release lets others use the profile.
func (p *profile) release() {
	if p.lock != nil {
		// The file stays: if it were removed, two processes could lock files of the same name.
		_ = p.lock.Unlock()
	}
}

// copyProfile makes a private copy of the given profile, which may be in use.
func copyProfile(from string) (*profile, error) {
	to, err := temporary()
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the browser has removed it meanwhile
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case rel == ".":
			return nil
		case entry.IsDir() && isRecreated(entry.Name()):
			return filepath.SkipDir
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		case !entry.Type().IsRegular(), entry.Name() == lockFile:
			return nil // the links and the socket with which a browser locks its profile
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), data, 0o600)
	})
	if err != nil {
		os.RemoveAll(to)
		return nil, fmt.Errorf("copy the profile %s: %w", from, err)
	}
	return &profile{dir: to, private: true}, nil
}

// isRecreated reports whether a name is a folder of a profile that its browser creates
// again.
func isRecreated(name string) bool {
	return strings.HasSuffix(name, "Cache") || name == "Crashpad" || name == "crashes" || name == "component_crx_cache"
}
