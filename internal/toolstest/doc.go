// Package toolstest provides the tests of the tools with agents, with windows and their
// users, and with browsers that the tests of a program share.
package toolstest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/adrg/xdg"
)

// Dir contains the files of the windows that a test program serves itself, as Env(Dir)
// names them.
var Dir string

// Main runs the tests of a package, and returns the exit code.
func Main(m interface{ Run() int }) int {
	var err error
	if Dir, err = os.MkdirTemp("", "t"); err != nil { // short enough for sockets
		panic(err)
	}
	defer os.RemoveAll(Dir)
	for name, value := range Env(Dir) {
		// The Go command, which some tests run, has its caches below these.
		if name == "HOME" || name == "XDG_CACHE_HOME" {
			continue
		}
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	xdg.Reload()
	defer closeIdle()
	return m.Run()
}

// Env is the environment of a program that has all its files in dir.
func Env(dir string) map[string]string {
	return map[string]string{
		"XDG_DATA_HOME":   filepath.Join(dir, "data"),
		"XDG_RUNTIME_DIR": filepath.Join(dir, "run"),
		"XDG_STATE_HOME":  filepath.Join(dir, "state"),
		"XDG_CACHE_HOME":  filepath.Join(dir, "cache"),
		"XDG_CONFIG_HOME": filepath.Join(dir, "config"),
		"HOME":            filepath.Join(dir, "home"),
	}
}

// Folder makes a workspace of that name.
func Folder(t testing.TB, name string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Join(dir, "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
