//go:build unix

package socket

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

// NewNotify is replaced in tests.
var NewNotify = fsnotify.NewWatcher

// watch reports changes below the data directories until the watcher ends. The error is
// why it cannot: a Linux user has 128 inotify instances, and editors use many.
func (w *DirWatcher) watch(data []string) error {
	notify, err := NewNotify()
	if err != nil {
		return err
	}
	defer notify.Close()
	dirs, err := arm(notify, data)
	if err != nil {
		return err
	}
	w.notify()
	for {
		select {
		case e := <-notify.Events:
			switch {
			case filepath.Base(e.Name) != ShortName && slices.Contains(dirs, filepath.Dir(e.Name)):
				if e.Op&(fsnotify.Create|fsnotify.Remove|fsnotify.Rename) != 0 &&
					namePattern.MatchString(filepath.Base(e.Name)) {
					w.notify()
				}
			case slices.ContainsFunc(dirs, func(dir string) bool {
				return dir == e.Name || filepath.Join(dir, ShortName) == e.Name || strings.HasPrefix(dir, e.Name+"/")
			}):
				// One of the directories, or a parent, appeared or disappeared, perhaps
				// with sockets in it, or the file that names a short one changed. The
				// watched directory may have been replaced.
				if dirs, err = arm(notify, data); err != nil {
					return err
				}
				w.notify()
			}
		case err := <-notify.Errors:
			w.log.Warn("events of the directories of window sockets are lost", "error", err)
			w.notify()
		case <-w.ctx.Done():
			return nil
		}
	}
}

// arm watches each data directory and its short one, and returns them. For a missing
// directory it watches the nearest existing parent. It always watches the parents: a
// removed directory reports that only when the last connection to a socket in it has
// ended. It checks again after it has armed the watches, since a directory may have been
// created meanwhile.
func arm(notify *fsnotify.Watcher, data []string) ([]string, error) {
	for {
		dirs := slices.Concat(data, standIns(data))
		former := existing(dirs)
		for _, d := range notify.WatchList() {
			notify.Remove(d) // it may already be gone
		}
		for _, d := range former {
			err := notify.Add(d)
			if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
				return nil, fmt.Errorf("watch %s: %w", d, err)
			}
		}
		if slices.Equal(former, existing(slices.Concat(data, standIns(data)))) {
			return dirs, nil
		}
	}
}

// existing returns the directories and their parents, or the nearest parents that exist.
func existing(dirs []string) (all []string) {
	for _, dir := range dirs {
		all = append(all, nearest(dir), nearest(filepath.Dir(dir)))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// nearest returns dir, or its nearest existing parent.
func nearest(dir string) string {
	for {
		if info, err := os.Stat(dir); err == nil && info.IsDir() || dir == "/" {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}
