// Package output writes the files of tools: new files, below one folder, with names that
// no program runs or loads by itself. The content comes from a web page, and the folder
// is in a workspace, where many programs load files by their names.
package output

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"browser-coordinator/internal/fspath"
	"browser-coordinator/internal/trusted"
)

// DefaultName is the folder below a workspace if no other is chosen.
const DefaultName = ".browser-coordinator"

// Folder is where tools write. It is created with the first file.
type Folder struct {
	base   string   // a folder that the user has named; links in its path are the user's own
	steps  []string // from base to the folder: no link is followed there
	isOurs bool     // it is ours, and git ignores it

	saved func(path string) // nil: nobody wants to know
}

// Reporting is the folder with a function that is called with the path of each file that was saved.
func (f Folder) Reporting(saved func(path string)) Folder {
	f.saved = saved
	return f
}

// In is the folder for a workspace: dir, an absolute path, or else DefaultName below
// the workspace.
func In(workspace, dir string) Folder {
	if dir == "" {
		return Folder{base: workspace, steps: []string{DefaultName}, isOurs: true}
	}
	// A repository can contain a link of any name, so links below it are not followed.
	if rel, ok := fspath.Within(workspace, dir); ok {
		f := Folder{base: workspace}
		if rel != "." {
			f.steps = strings.Split(filepath.ToSlash(rel), "/")
		}
		return f
	}
	return Folder{base: dir}
}

// Path is where the folder is.
func (f Folder) Path() string { return filepath.Join(append([]string{f.base}, f.steps...)...) }

// Make creates the folder before the first file.
func (f Folder) Make() error {
	dir, err := f.open(nil)
	if err != nil {
		return err
	}
	return dir.Close()
}

// open opens the folder, or one below it, and creates missing folders on the way.
func (f Folder) open(below []string) (*os.Root, error) {
	path, steps := f.base, f.steps
	if len(f.steps) == 0 {
		for isMissing(path) {
			path, steps = filepath.Dir(path), append([]string{filepath.Base(path)}, steps...)
		}
	}
	dir, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	// A workspace is where the user works anyway, but another folder may be anyone's.
	if len(f.steps) == 0 {
		err := checkLink(dir, path)
		if path == f.base {
			err = errors.Join(check(dir, path), err)
		}
		if err != nil {
			dir.Close()
			return nil, err
		}
	}
	enterAll := func(steps []string) error {
		for _, step := range steps {
			path = filepath.Join(path, step)
			next, err := enter(dir, step)
			if err != nil {
				return fmt.Errorf("%s: %w", path, reason(err))
			}
			dir.Close()
			dir = next
			if err := check(dir, path); err != nil {
				return err
			}
		}
		return nil
	}
	err = enterAll(steps)
	if err == nil && f.isOurs {
		err = ignore(dir)
	}
	if err == nil {
		err = enterAll(below)
	}
	if err != nil {
		dir.Close()
		return nil, err
	}
	return dir, nil
}

func isMissing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// checkLink refuses a folder that was opened through a link of another user.
func checkLink(dir *os.Root, path string) error {
	info, err := os.Lstat(path)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return trusted.Check(path, info, trusted.Link)
	}
	opened, openErr := dir.Stat(".")
	if err := errors.Join(err, openErr); err != nil {
		return err
	}
	if !os.SameFile(info, opened) {
		return errReplaced
	}
	return nil
}

var errReplaced = errors.New("another folder replaced it meanwhile: try again")

// enter opens a folder in another one, and creates it if it does not exist. It opens the
// very folder that it checked: a link that replaces it meanwhile has no effect.
func enter(in *os.Root, name string) (*os.Root, error) {
	if err := in.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	checked, err := in.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !checked.IsDir() {
		return nil, errors.New("it is not a folder, or a link to one, which is not followed")
	}
	dir, err := in.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	opened, err := dir.Stat(".")
	if err == nil && !os.SameFile(checked, opened) {
		err = errReplaced
	}
	if err != nil {
		dir.Close()
		return nil, err
	}
	return dir, nil
}

// check refuses a folder in which another user can read or replace what is saved. path is
// for the error only. A file system without modes, as a disk of Windows has in WSL, shows
// the same one for all: there only the owner counts.
func check(dir *os.Root, path string) error {
	info, err := dir.Stat(".")
	if err != nil {
		return err
	}
	err = trusted.Check(path, info, trusted.SharedFolder)
	if refused, ok := errors.AsType[*trusted.Error](err); ok && refused.OfMode && !keepsModes(dir) {
		return nil
	}
	return err
}

// keepsModes reports whether the file system of a folder has a mode for each file. It may
// be wrong only where nothing can be written.
func keepsModes(dir *os.Root) bool {
	name := ".mode-" + rand.Text()
	file, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return true
	}
	info, err := file.Stat()
	err = errors.Join(err, file.Close(), dir.Remove(name))
	return err != nil || info.Mode().Perm() == 0o600
}

// ignore makes git ignore the folder's content, but not the project's config.toml.
func ignore(dir *os.Root) error {
	file, err := dir.OpenFile(".gitignore", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = file.WriteString("*\n!config.toml\n")
	return errors.Join(err, file.Close())
}

// reason is an error without the name in the system call, which is only part of a path.
func reason(err error) error {
	if of, ok := errors.AsType[*fs.PathError](err); ok {
		return of.Err
	}
	return err
}
