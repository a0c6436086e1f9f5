// Package statedir is the folder for state that outlives a program: records, tokens, locks, sockets.
//
//	dir, err := statedir.Make()
package statedir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/adrg/xdg"

	"browser-coordinator/internal/trusted"
)

// Make returns the folder. It makes the folder if there is none, and refuses one that another
// user may enter or replace.
func Make() (string, error) {
	if err := CheckHome(); err != nil {
		return "", err
	}
	dir := Path()
	// The tokens in it give access to browsers to every process that knows them.
	if err := trusted.MakeFolder(dir, trusted.PrivateFolder); err != nil {
		return "", &Error{dir, err}
	}
	return dir, nil
}

// Error reports that the folder cannot be made, or is refused.
type Error struct {
	Dir string
	Err error
}

func (e *Error) Error() string {
	if errors.Is(e.Err, trusted.ErrForeign) {
		return e.Err.Error()
	}
	return fmt.Sprintf("cannot make the folder %s: %v", e.Dir, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// CheckHome returns an error if the environment does not say where state is kept. The xdg
// package takes the root of the file system then, where no other program finds it.
func CheckHome() error {
	if filepath.IsAbs(os.Getenv("XDG_STATE_HOME")) {
		return nil
	}
	if home, err := os.UserHomeDir(); err != nil || !filepath.IsAbs(home) {
		return errors.New("find the folder for state: neither XDG_STATE_HOME nor HOME is an absolute path; set one " +
			"of them")
	}
	return nil
}

// Path is the folder's path. The folder may not exist.
func Path() string { return filepath.Join(home(), "browser-coordinator-mcp") }

// home is the current XDG_STATE_HOME; the xdg package keeps the value from the start of the
// program.
func home() string {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return xdg.StateHome
}
