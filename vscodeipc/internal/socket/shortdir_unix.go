//go:build unix

package socket

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ShortName is the file in a DIR that is too long for sockets. It names the short
// directory that takes its place. Nobody else can make it or foresee what it names,
// so that another user cannot take that name first.
const ShortName = ".short"

// SharedParent is where a short directory goes when the user has no private parent
// for it. It is a variable for the tests alone.
var SharedParent = "/tmp"

// shortOf returns the short directory in place of dir. An error means that no
// window can be there: the file is missing, or the directory that it names is not
// the user's own.
func shortOf(dir string) (string, error) {
	if err := checkDir(dir); err != nil {
		return "", err
	}
	path := filepath.Join(dir, ShortName)
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || ownerOf(info) != os.Getuid() || info.Mode().Perm()&0o077 != 0 || info.Size() > maxSocketPath {
		return "", fmt.Errorf("%s is not a private file with one path: %w", path, ErrForeign)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	short, whole := strings.CutSuffix(string(text), "\n")
	if !whole || !filepath.IsAbs(short) || filepath.Clean(short) != short || tooLong(short) {
		return "", fmt.Errorf("%s does not name a short directory: %w", path, ErrForeign)
	}
	return short, checkDir(short)
}

// chooseShort returns the short directory for dir, which exists, and makes one
// where there is none that can be used. The lock of dir keeps two windows that
// start at once, in whichever language, from choosing two.
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
	// The name of something left over, so that a crash leaves nothing for good.
	temporary := filepath.Join(dir, ".bind-"+unique())
	if err := os.WriteFile(temporary, []byte(short+"\n"), 0o600); err != nil {
		return "", errors.Join(err, os.Remove(temporary))
	}
	return short, os.Rename(temporary, filepath.Join(dir, ShortName))
}

// makeShort makes a directory in the first parent that only the user may enter,
// or a random one in the parent that all users share.
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

// standIns returns the directories in which the windows of these listen: each
// itself, or the short one in its place, unless there is none.
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

// Usable returns the directory for the sockets of dir's windows, made and checked.
func Usable(ctx context.Context, dir string) (string, error) {
	if err := makeDir(dir); err != nil {
		return "", err
	}
	if !tooLong(dir) {
		return dir, nil
	}
	return chooseShort(ctx, dir)
}
