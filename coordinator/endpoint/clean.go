package endpoint

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"
)

// Kept is what is kept on disk for one window's endpoint.
type Kept struct {
	Hash string
	// Workspace is the path of the window's workspace; empty: an endpoint was never served.
	Workspace string
	// Files are the paths of the files, the lock last.
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
	if kept, err := os.ReadFile(f.path("workspace")); err == nil && strings.TrimSuffix(string(kept), "\n") == workspace {
		return nil
	}
	return f.write("workspace", workspace)
}

// List returns what is kept for all windows.
func List() ([]Kept, error) {
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
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			k.Workspace = strings.TrimSuffix(string(text), "\n")
		}
	}
	for _, k := range byHash {
		slices.SortFunc(k.Files, func(a, b string) int {
			return strings.Compare(order(a), order(b))
		})
		all = append(all, *k)
	}
	slices.SortFunc(all, func(a, b Kept) int { return strings.Compare(a.Workspace+a.Hash, b.Workspace+b.Hash) })
	return all, nil
}

// order puts the lock behind the other files.
func order(path string) string {
	if filepath.Ext(path) == ".lock" {
		return "~" + path
	}
	return path
}

// Condition is the state of a kept endpoint now.
type Condition struct {
	Port int // 0: none is remembered
	// Served reports whether a coordinator owns the endpoint, and Owner is what it reports;
	// nil: it does not respond.
	Served bool
	Owner  *Status
	// Taken reports whether another program listens on the port.
	Taken bool
}

// Condition examines the endpoint, and changes nothing.
func (k Kept) Condition(ctx context.Context) (Condition, error) {
	f, err := filesOf(k.Hash)
	if err != nil {
		return Condition{}, err
	}
	c := Condition{Port: readPort(f.path("json"))}
	if c.Served, err = k.IsServed(); err != nil {
		return c, err
	}
	switch {
	case c.Port == 0:
	case c.Served:
		asking, cancel := context.WithTimeout(ctx, askTimeout)
		defer cancel()
		if s, err := f.state(asking); err == nil {
			c.Owner = &s
		}
	default:
		c.Taken = Taken(ctx, k.Hash, c.Port)
	}
	return c, nil
}

// IsServed reports whether a coordinator owns the endpoint. It changes nothing.
func (k Kept) IsServed() (bool, error) {
	f, err := filesOf(k.Hash)
	if err != nil || !slices.Contains(k.Files, f.path("lock")) { // testing the lock would make its file
		return false, err
	}
	return f.isServed()
}

// Remove deletes the files, unless a coordinator serves the endpoint now.
func (k Kept) Remove() (served bool, err error) {
	lock := flock.New(filepath.Join(StatePath(), "endpoint-"+k.Hash+".lock"), flock.SetPermissions(0o600))
	free, err := lock.TryLock()
	if err != nil || !free {
		return err == nil, err
	}
	for _, path := range append(k.Files, lock.Path()) {
		if removeErr := os.Remove(path); removeErr != nil && !errors.Is(removeErr, fs.ErrNotExist) {
			err = removeErr
		}
	}
	return false, errors.Join(err, lock.Unlock())
}
