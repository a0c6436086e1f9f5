//go:build unix

package socket

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"browser-coordinator/internal/trusted"
	"browser-coordinator/internal/usersocket"
)

const DirName = "browser-coordinator-mcp"

// dataDir returns DIR of spec 2, however long it is. It may not exist yet.
func dataDir() (string, error) {
	dir := filepath.Join(os.Getenv("XDG_DATA_HOME"), DirName)
	if !filepath.IsAbs(dir) {
		home := os.Getenv("HOME")
		if !filepath.IsAbs(home) {
			return "", errors.New("find the directory of window sockets: neither XDG_DATA_HOME nor HOME is an " +
				"absolute path; set one of them")
		}
		dir = filepath.Join(home, ".local", "share", DirName)
	}
	return dir, nil
}

// tooLong depends only on the directory, so that every window and client of this
// environment gets the same result (spec 2).
func tooLong(dir string) bool { return len(dir)+1+longestName > usersocket.MaxPath }

// searchDirs returns every directory in which a window of this user may listen.
// Windows has none.
func searchDirs() []string { return standIns(dataDirs()) }

// dataDirs returns the DIR of this environment, the default one, and those that
// sandboxed editors get, however long they are.
func dataDirs() []string {
	var dirs []string
	add := func(dir string) {
		if filepath.IsAbs(dir) && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	if dir, err := dataDir(); err == nil {
		add(dir)
	}
	if home, err := os.UserHomeDir(); err == nil {
		for _, data := range []string{
			".local/share",
			"snap/code/current/.local/share",
			"snap/code-insiders/current/.local/share",
			".var/app/com.visualstudio.code/data",
		} {
			add(filepath.Join(home, data, DirName))
		}
	}
	return dirs
}

// Dirs returns the directories of searchDirs with their state. The first is DIR of this
// environment.
func Dirs() ([]Dir, error) {
	if _, err := dataDir(); err != nil {
		return nil, err
	}
	var all []Dir
	for _, path := range dataDirs() {
		d := Dir{Path: path, Sockets: path, Long: tooLong(path)}
		if err := checkDir(path); !errors.Is(err, fs.ErrNotExist) {
			d.Err = err
		}
		if d.Long {
			d.Sockets = ""
		}
		if _, err := os.Lstat(filepath.Join(path, ShortName)); d.Long && err == nil && d.Err == nil {
			if d.Sockets, d.Err = shortOf(path); d.Err != nil {
				d.Sockets = ""
			}
		}
		all = append(all, d)
	}
	return all, nil
}

// List returns the addresses in use in all directories of searchDirs. It skips a
// directory that is not ours and reports it in the error, beside the addresses of the
// others.
func List() ([]Address, error) {
	var all []Address
	var faults []error
	for _, dir := range searchDirs() {
		if err := checkDir(dir); err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				faults = append(faults, err)
			}
			continue
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			faults = append(faults, fmt.Errorf("list the windows in %s: %w", dir, err))
		}
		for _, e := range entries {
			if namePattern.MatchString(e.Name()) {
				all = append(all, Address(filepath.Join(dir, e.Name())))
			}
		}
	}
	return all, errors.Join(faults...)
}

// checkDir refuses a directory that others own or may enter (spec 2). Its parents may have
// any mode: the users of both ends of a connection are compared.
func checkDir(dir string) error {
	if err := trusted.Folder(dir, trusted.PrivateFolder); err != nil {
		return fmt.Errorf("open the directory of sockets: %w", err)
	}
	return nil
}

// makeDir creates a missing directory with mode 0700 from the first moment, and checks
// it in any case.
func makeDir(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return fmt.Errorf("make the parent of the socket directory: %w", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make the socket directory: %w", err)
	}
	return checkDir(dir)
}
