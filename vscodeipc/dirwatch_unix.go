//go:build unix

package vscodeipc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsnotify/fsnotify"
)

// newNotify is replaced in a test.
var newNotify = fsnotify.NewWatcher

// watch tells of changes until the watcher ends. The error is why it cannot: a
// Linux user has 128 inotify instances, and editors take many.
func (w *DirWatcher) watch(dirs []string) error {
	notify, err := newNotify()
	if err != nil {
		return err
	}
	defer notify.Close()
	if err := arm(notify, dirs); err != nil {
		return err
	}
	w.tell()
	for {
		select {
		case e := <-notify.Events:
			switch {
			case slices.Contains(dirs, filepath.Dir(e.Name)):
				if e.Op&(fsnotify.Create|fsnotify.Remove|fsnotify.Rename) != 0 && namePattern.MatchString(filepath.Base(e.Name)) {
					w.tell()
				}
			case slices.ContainsFunc(dirs, func(dir string) bool { return dir == e.Name || strings.HasPrefix(dir, e.Name+"/") }):
				// One of the directories, or one above, came or went, perhaps
				// with sockets in it. What was watched may be another by now.
				for _, dir := range dirs {
					notify.Remove(dir) // it may be gone already
				}
				if err := arm(notify, dirs); err != nil {
					return err
				}
				w.tell()
			}
		case err := <-notify.Errors:
			w.log.Warn("events of the directories of window sockets are lost", "error", err)
			w.tell()
		case <-w.ctx.Done():
			return nil
		}
	}
}

// arm watches each directory, or where it is missing the nearest above it that
// is there. It watches what is above it in any case: a directory that is removed
// says so itself only when the last connection to a socket in it has ended. It
// looks again after it has armed a watch, since a directory may be
// made in between.
func arm(notify *fsnotify.Watcher, dirs []string) error {
	for {
		var wanted []string
		for _, dir := range dirs {
			for _, d := range []string{nearest(dir), nearest(filepath.Dir(dir))} {
				if !slices.Contains(wanted, d) {
					wanted = append(wanted, d)
				}
			}
		}
		before := notify.WatchList()
		for _, d := range before {
			if !slices.Contains(wanted, d) {
				notify.Remove(d) // it may be gone already
			}
		}
		added := false
		for _, d := range wanted {
			if slices.Contains(before, d) {
				continue
			}
			err := notify.Add(d)
			if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
				return fmt.Errorf("watch %s: %w", d, err)
			}
			added = added || !errors.Is(err, fs.ErrPermission)
		}
		if !added {
			return nil
		}
	}
}

// nearest gives dir, or the lowest directory above it that exists.
func nearest(dir string) string {
	for {
		if info, err := os.Stat(dir); err == nil && info.IsDir() || dir == "/" {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}
