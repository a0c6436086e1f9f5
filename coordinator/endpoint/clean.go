package endpoint

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"

	"browser-coordinator/internal/statedir"
	"browser-coordinator/internal/trusted"
)

// Entry is what is kept on disk for one window's endpoint.
type Entry struct {
	Hash      string
	Workspace string // the path of the window's; empty: an endpoint was never served
	Port      int    // that is remembered; 0: none
	Files     []string
}

// IsOrphan reports whether the workspace no longer exists.
func (k Entry) IsOrphan() bool {
	if k.Workspace == "" {
		return false
	}
	_, err := os.Stat(k.Workspace)
	return errors.Is(err, fs.ErrNotExist)
}

// Remember stores which workspace a hash stands for, for List.
func Remember(hash, workspace string) error {
	f, err := openFiles(hash)
	if err != nil || f.Workspace == workspace {
		return err
	}
	return f.change(func(s *record) error {
		s.Workspace = workspace
		return nil
	})
}

// List returns what is kept for all windows.
func List() ([]Entry, error) {
	if err := checkState(); err != nil {
		return nil, err
	}
	paths, err := filepath.Glob(filepath.Join(statedir.Path(), "endpoint-*.*"))
	if err != nil {
		return nil, err
	}
	byHash := map[string]*Entry{}
	for _, path := range paths {
		hash, kind, _ := strings.Cut(strings.TrimPrefix(filepath.Base(path), "endpoint-"), ".")
		if !isHash(hash) { // of all windows
			continue
		}
		k := byHash[hash]
		if k == nil {
			k = &Entry{Hash: hash}
			byHash[hash] = k
		}
		k.Files = append(k.Files, path)
		if kind == "json" {
			s, err := readRecord(path)
			if err != nil {
				return nil, err
			}
			k.Workspace, k.Port = s.Workspace, s.Port
		}
	}
	var all []Entry
	for _, k := range byHash {
		all = append(all, *k)
	}
	slices.SortFunc(all, func(a, b Entry) int { return strings.Compare(a.Workspace+a.Hash, b.Workspace+b.Hash) })
	return all, nil
}

// Remove deletes the files, unless a coordinator serves the endpoint now.
func (k Entry) Remove() (served bool, err error) {
	lock := flock.New(filepath.Join(statedir.Path(), "endpoint-"+k.Hash+".lock"), flock.SetPermissions(0o600))
	free, err := trusted.Lock(lock, lock.TryLock)
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
