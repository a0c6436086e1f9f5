//go:build unix

package socket

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"browser-coordinator/internal/trusted"
	"browser-coordinator/internal/usersocket"
)

// ShortName is the file in a DIR that is too long for sockets. It names the short
// directory in its place. No other user can create the file or predict the name in it,
// and so take that name first.
const ShortName = ".short"

// SharedParent is the parent of a short directory when the user has no private one. It
// is a variable only for tests.
var SharedParent = "/tmp"

// shortOf returns the short directory in place of dir. An error means that no window can
// be there: the file is missing, or its directory is not the user's own.
func shortOf(dir string) (string, error) {
	if err := checkDir(dir); err != nil {
		return "", err
	}
	path := filepath.Join(dir, ShortName)
	text, err := trusted.ReadFile(path)
	if err != nil {
		return "", err
	}
	short, whole := strings.CutSuffix(string(text), "\n")
	if !whole || !filepath.IsAbs(short) || filepath.Clean(short) != short || tooLong(short) {
		return "", fmt.Errorf("%s does not name a short directory: %w", path, ErrForeign)
	}
	return short, checkDir(short)
}

// chooseShort returns the short directory for dir, which exists, and creates one if
// there is no usable one. Under the lock of dir, two windows that start at the same
// time, in either language, choose the same one.
func chooseShort(ctx context.Context, dir string) (string, error) {
	if short, err := shortOf(dir); err == nil {
		return short, nil
	}
	lock, err := LockDir(ctx, dir)
	if err != nil {
		return "", err
	}
	defer lock.Unlock()
	if short, err := shortOf(dir); err == nil {
		return short, nil
	}
	short, err := makeShort()
	if err != nil {
		return "", fmt.Errorf("make a short directory in place of %s, which is too long for sockets: %w", dir, err)
	}
	// Others read all of the file or nothing.
	temporary := filepath.Join(dir, ".bind-"+usersocket.Unique())
	if err := os.WriteFile(temporary, []byte(short+"\n"), 0o600); err != nil {
		return "", errors.Join(err, os.Remove(temporary))
	}
	return short, os.Rename(temporary, filepath.Join(dir, ShortName))
}

// makeShort makes a directory in the first private parent, or a random one in the shared
// parent.
func makeShort() (string, error) {
	for _, parent := range []string{os.Getenv("XDG_RUNTIME_DIR"), os.Getenv("TMPDIR")} {
		short := filepath.Join(parent, DirName)
		if !filepath.IsAbs(parent) || tooLong(short) || checkDir(filepath.Clean(parent)) != nil {
			continue
		}
		if err := makeDir(short); err == nil {
			return short, nil
		}
	}
	short, err := os.MkdirTemp(SharedParent, "bc-")
	if err != nil {
		return "", err
	}
	if tooLong(short) {
		return "", errors.Join(fmt.Errorf("%s is too long, too", short), os.Remove(short))
	}
	return short, checkDir(short)
}

// standIns returns the directories in which the windows of dirs listen: each itself, or
// the short one in its place, if there is one.
func standIns(dirs []string) []string {
	var all []string
	for _, dir := range dirs {
		if tooLong(dir) {
			short, err := shortOf(dir)
			if err != nil {
				continue
			}
			dir = short
		}
		all = append(all, dir)
	}
	return all
}

// usable returns the directory for the sockets of dir's windows, created and checked.
func usable(ctx context.Context, dir string) (string, error) {
	if err := makeDir(dir); err != nil {
		return "", err
	}
	if !tooLong(dir) {
		return dir, nil
	}
	return chooseShort(ctx, dir)
}
