package setup

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// Change is what would be written to a host's file.
type Change struct {
	Host   Host
	Scope  Scope
	File   string
	Exists bool // before
	Before string
	After  string
	Note   string // for the user; may be empty
	// State is the coordinator's entry before.
	State State

	// Removes: the file is removed, with those of folders that are empty then.
	Removes bool
	folders []string

	entries paths // of the coordinator's entries, before and after
	undo    *undo // of the entry that it adds or changes; nil: none, or not known
	// ofSkill: it has the skill alone, which is no secret.
	ofSkill bool
}

func (c *configuration) change() *Change {
	text := c.mark + c.text
	change := &Change{
		Host: c.host, Scope: c.scope, File: c.state.File, Exists: c.state.Exists,
		Before: text, After: text, State: c.state,
	}
	if c.state.Name != "" {
		change.entries = paths{append(slices.Clone(c.servers), c.state.Name)}
	}
	return change
}

// LinkTarget is the file that is written if File or its folder is a link; else empty. A
// link may come with a repository.
func (c *Change) LinkTarget() string {
	dir := filepath.Dir(c.File)
	if !isLink(c.File) && !isLink(dir) {
		return ""
	}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	target := filepath.Join(dir, filepath.Base(c.File))
	if resolved, err := filepath.EvalSymlinks(target); err == nil {
		target = resolved
	}
	return target
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// Changed reports whether there is anything to write.
func (c *Change) Changed() bool { return c.Before != c.After || c.Removes && c.Exists }

// Redacted are the contents before and after, without the values of what is not the
// coordinator's: other servers have tokens in their environments.
func (c *Change) Redacted() (before, after string) {
	hide := func(text string) string {
		if c.ofSkill {
			return text
		}
		return c.Host.format.hide(strings.TrimPrefix(text, byteOrderMark), c.entries)
	}
	return hide(c.Before), hide(c.After)
}

// Diff shows the change, for people.
func (c *Change) Diff() string {
	old := c.File
	if !c.Exists {
		old = os.DevNull
	}
	before, after := c.Redacted()
	lines := func(text string) []byte { return []byte(strings.ReplaceAll(text, "\r\n", "\n")) }
	text := string(diff.Diff(old, lines(before), c.File, lines(after)))
	_, text, _ = strings.Cut(text, "\n") // the line of the command
	return text
}

// Revision names the contents that the file had.
func (c *Change) Revision() string {
	if !c.Exists {
		return "absent"
	}
	return sum(c.Before)
}

// ErrChanged: a file is not as it was read.
var ErrChanged = errors.New("it has changed meanwhile")

// Check returns an error if the file had other contents than those of a revision.
func (c *Change) Check(revision string) error {
	if c.Revision() != revision {
		return unusable(c.File, "%w", ErrChanged)
	}
	return nil
}

// Write writes the change, if the file is still as it was read. A reader of the file sees
// all of it or nothing.
func (c *Change) Write() (err error) {
	defer func() {
		if of, isPath := errors.AsType[*fs.PathError](err); isPath {
			err = unusable(c.File, "%s cannot be written: %w", of.Path, of.Err)
		}
	}()
	var replaced fs.FileInfo
	target, mode, dirMode := c.File, fs.FileMode(0o644), fs.FileMode(0o755)
	if c.Scope == User {
		mode, dirMode = 0o600, 0o700
	}
	if c.Exists {
		if target, err = filepath.EvalSymlinks(c.File); err != nil {
			return err
		}
		if replaced, err = os.Stat(target); err != nil {
			return err
		}
		if mode = replaced.Mode().Perm(); mode&0o200 == 0 {
			return unusable(c.File, "it is read-only; allow yourself to write to it first")
		}
	}
	dir := filepath.Dir(target)
	made := missingFolders(dir)
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return err
	}
	if !c.ofSkill {
		defer func() {
			if err == nil {
				c.remember(made)
			}
		}()
	}
	if c.Removes {
		return c.removeFile()
	}
	temporary := filepath.Join(dir, "."+filepath.Base(target)+"."+rand.Text()[:8])
	if err := writeNew(temporary, c.After, mode, replaced); err != nil {
		return errors.Join(err, remove(temporary))
	}
	if err = c.isAsRead(); err == nil {
		err = os.Rename(temporary, target)
	}
	if err != nil {
		return errors.Join(err, remove(temporary))
	}
	return nil
}

// isAsRead returns an error if the file has changed since it was read.
func (c *Change) isAsRead() error {
	text, err := readFile(c.File, c.Scope)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !c.Exists, err == nil && c.Exists && text == c.Before:
		return nil
	case err == nil || errors.Is(err, fs.ErrNotExist):
		return unusable(c.File, "%w", ErrChanged)
	}
	return err
}

// removeFile removes the file, and the folders that are empty then.
func (c *Change) removeFile() error {
	if err := c.isAsRead(); err != nil {
		return err
	}
	if err := os.Remove(c.File); err != nil {
		return err
	}
	for _, dir := range c.folders {
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 || isLink(dir) {
			return nil // it has something else
		}
		if err := os.Remove(dir); err != nil {
			return err
		}
	}
	return nil
}

// writeNew writes a new file to the disk. One that replaces another gets that very mode;
// else the user's umask counts.
func writeNew(file, text string, mode fs.FileMode, replaced fs.FileInfo) (err error) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if replaced != nil {
		if err := f.Chmod(mode); err != nil {
			return err
		}
	}
	if _, err := f.WriteString(text); err != nil {
		return err
	}
	return f.Sync()
}

func remove(file string) error {
	if err := os.Remove(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
