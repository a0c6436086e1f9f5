package endpoint

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"

	"browser-coordinator/internal/trusted"
)

// Kept is what is kept on disk for one window's endpoint.
type Kept struct {
	Hash string
	// Workspace is the path of the window's workspace; empty: an endpoint was never served.
	Workspace string
	// Files are the paths of the files.
	Files []string
}

// Gone reports whether the workspace no longer exists.
func (k Kept) Gone() bool {
	if k.Workspace == "" {
		return false
	}
	_, err := os.Stat(k.Workspace)
	return errors.Is(err, fs.ErrNotExist)
}

// Remember stores which workspace a hash stands for, for List.
func Remember(hash, workspace string) error {
	f, err := openFiles(hash)
	if err != nil {
		return err
	}
	if kept, err := trusted.ReadFile(f.path("workspace")); err == nil && strings.TrimSuffix(string(kept), "\n") == workspace {
		return nil
	}
	return f.write("workspace", workspace)
}

// List returns what is kept for all windows.
func List() ([]Kept, error) {
	if err := checkState(); err != nil {
		return nil, err
	}
	paths, err := filepath.Glob(filepath.Join(StatePath(), "endpoint-*.*"))
	if err != nil {
		return nil, err
	}
	byHash := map[string]*Kept{}
	var all []Kept
	for _, path := range paths {
		hash, kind, _ := strings.Cut(strings.TrimPrefix(filepath.Base(path), "endpoint-"), ".")
		if _, err := filesOf(hash); err != nil { // of all windows
			continue
		}
		k := byHash[hash]
		if k == nil {
			k = &Kept{Hash: hash}
			byHash[hash] = k
		}
		k.Files = append(k.Files, path)
		if kind == "workspace" {
			text, err := trusted.ReadFile(path)
			if err != nil {
				return nil, err
			}
			k.Workspace = strings.TrimSuffix(string(text), "\n")
		}
	}
	for _, k := range byHash {
		all = append(all, *k)
	}
	slices.SortFunc(all, func(a, b Kept) int { return strings.Compare(a.Workspace+a.Hash, b.Workspace+b.Hash) })
	return all, nil
}

// Port is the port that is remembered; 0: none.
func (k Kept) Port() int {
	f, err := filesOf(k.Hash)
	if err != nil {
		return 0
	}
	return readPort(f.path("json"))
}

// Remove deletes the files, unless a coordinator serves the endpoint now.
func (k Kept) Remove() (served bool, err error) {
	lock := flock.New(filepath.Join(StatePath(), "endpoint-"+k.Hash+".lock"), flock.SetPermissions(0o600))
	free, err := trusted.Lock(lock.Path(), lock.TryLock)
	if err != nil || !free {
		return err == nil, err
	}
	others := slices.DeleteFunc(slices.Clone(k.Files), func(path string) bool { return path == lock.Path() })
	for _, path := range append(others, lock.Path()) {
		if removeErr := os.Remove(path); removeErr != nil && !errors.Is(removeErr, fs.ErrNotExist) {
			err = removeErr
		}
	}
	return false, errors.Join(err, lock.Unlock())
}
