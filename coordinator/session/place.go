package session

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"browser-coordinator/internal/statedir"
	"browser-coordinator/vscodeipc"
)

// Place is where the files of a session are.
type Place struct {
	// Name is that of --session; empty: it is the session of its folder.
	Name string
	// Folder is where the agent works.
	Folder string

	dir, hash string
}

// Find returns the place of a session: of that name or, without one, of the folder to which
// dir belongs. It returns a place also if no session runs there.
func Find(name, dir string) (Place, error) {
	state, err := statedir.Make()
	if err != nil {
		return Place{}, err
	}
	p := Place{Name: name, Folder: dir, dir: state}
	if name != "" {
		p.hash = vscodeipc.Hash("session " + name) // no folder's, whose path is absolute
		return p, nil
	}
	p.Folder = p.folderOf(dir)
	p.hash = vscodeipc.Hash(p.Folder)
	return p, nil
}

// folderOf is the nearest folder above dir, or dir itself, that has a session or a window;
// else it is dir.
func (p Place) folderOf(dir string) string {
	windows, _ := vscodeipc.List() // the session itself reports what is refused
	for folder := dir; ; folder = filepath.Dir(folder) {
		hash := vscodeipc.Hash(folder)
		ofWindow := func(a vscodeipc.Address) bool { return strings.Contains(string(a), hash) }
		if _, err := os.Lstat(Place{dir: p.dir, hash: hash}.path("sock")); err == nil ||
			slices.ContainsFunc(windows, ofWindow) {
			return folder
		}
		if folder == filepath.Dir(folder) {
			return dir
		}
	}
}

// path is a file of the session: "sock", "lock" or "log".
func (p Place) path(kind string) string { return filepath.Join(p.dir, "session-"+p.hash+"."+kind) }

// Log is the file with what the session's process has logged.
func (p Place) Log() string { return p.path("log") }

// String names the session to the user.
func (p Place) String() string {
	if p.Name != "" {
		return `"` + p.Name + `"`
	}
	return "of " + p.Folder
}

// Label names the session beside others: by its name, else by its folder.
func (p Place) Label() string {
	if p.Name != "" {
		return `"` + p.Name + `"`
	}
	return "that of " + p.Folder
}

// Places are the places of all sessions that run, or that have not ended in good order. Only
// their State has the names and the folders.
func Places() ([]Place, error) {
	dir := statedir.Path()
	entries, err := fs.Glob(os.DirFS(dir), "session-*.sock")
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	if dir, err = statedir.Make(); err != nil { // which others could have made
		return nil, err
	}
	var places []Place
	for _, entry := range entries {
		hash := strings.TrimSuffix(strings.TrimPrefix(entry, "session-"), ".sock")
		places = append(places, Place{dir: dir, hash: hash})
	}
	return places, nil
}
