// Package fspath has what several packages do with the paths of files.
package fspath

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// Within is path relative to a folder, if it is the folder or below it. It follows no links.
func Within(folder, path string) (relative string, ok bool) {
	relative, err := filepath.Rel(folder, path)
	return relative, err == nil && filepath.IsLocal(relative)
}

// Exists reports whether there is a file, a folder or a link of that name.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// FolderOf is the folder of a workspace: itself, or that of a .code-workspace file.
func FolderOf(workspace string) string {
	if info, err := os.Stat(workspace); err == nil && !info.IsDir() {
		return filepath.Dir(workspace)
	}
	return workspace
}

// Write writes a file, which it replaces: completely or not at all, and for this user alone.
func Write(path string, content io.Reader) error {
	return write(path, content, func(*os.File) error { return nil })
}

// WriteDurably is Write that also holds after a power cut: it waits for the disk.
func WriteDurably(path string, content io.Reader) error { return write(path, content, (*os.File).Sync) }

func write(path string, content io.Reader, flush func(*os.File) error) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // with mode 0600
	if err != nil {
		return err
	}
	if _, err = io.Copy(temporary, content); err == nil {
		err = flush(temporary)
	}
	if err = errors.Join(err, temporary.Close()); err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary.Name()))
	}
	return nil
}
