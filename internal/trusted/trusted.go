// Package trusted opens the folders and files that carry trust: those whose content this
// program believes, or that keep its secrets. Another user may have made one first where
// the environment names a shared folder, for example XDG_STATE_HOME=/tmp/x.
//
//	err := trusted.MakeFolder(dir, trusted.PrivateFolder) // and its parents
//	text, err := trusted.ReadFile(dir + "/token")  // in a folder that was checked
//	locked, err := trusted.Lock(lock, lock.TryLock)
//
// What is refused gives an *Error, which has the command that solves it. All checks are of
// what was opened, at each time. Windows has access lists in place of modes; its user
// folders have private ones, so there only the type is checked.
package trusted

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"
)

// ErrForeign is wrapped by errors about what is not the user's own.
var ErrForeign = errors.New("not ours")

// Error reports a folder or file that this program does not use.
type Error struct {
	Path   string
	Reason string // the predicate of a sentence about Path
	// Fix is the command that solves it; empty: none does that touches only what is the user's and
	// of no value to anybody, and Advice is what to do.
	Fix, Advice string
	// OfMode: Fix only changes the mode.
	OfMode bool
}

func (e *Error) Error() string {
	return fmt.Sprintf("refuse %s: it %s; %s", e.Path, e.Reason, e.Next())
}

// Next is what to do.
func (e *Error) Next() string {
	if e.Fix == "" {
		return e.Advice
	}
	return "run: " + e.Fix
}

func (e *Error) Is(target error) bool { return target == ErrForeign }

// Kind is what something must be.
type Kind struct {
	kind   fs.FileMode // its type
	name   string
	others fs.FileMode // the rights that others must not have
	chmod  string      // removes them
	byRoot bool        // root may own it
	sticky bool        // a sticky one, as /tmp, may have any rights
}

var (
	// PrivateFolder is one that others may not even enter.
	PrivateFolder = Kind{kind: fs.ModeDir, name: "folder", others: 0o077, chmod: "chmod 700"}
	// OwnFolder is one in which others may change nothing.
	OwnFolder = Kind{kind: fs.ModeDir, name: "folder", others: 0o022, chmod: "chmod go-w", byRoot: true}
	// SharedFolder is one in which others may add files, but change none of the user's.
	SharedFolder = Kind{kind: fs.ModeDir, name: "folder", others: 0o022, chmod: "chmod go-w", byRoot: true,
		sticky: true}
	// OwnFile is one that others may not change.
	OwnFile = Kind{name: "regular file", others: 0o022, chmod: "chmod go-w", byRoot: true}
	// PrivateFile is one that others may not even read.
	PrivateFile = Kind{name: "regular file", others: 0o077, chmod: "chmod 600", byRoot: true}
	// Socket is one of any mode: the system reports who listens there.
	Socket = Kind{kind: fs.ModeSocket, name: "socket"}
	// Link is a link that leads where the user wants.
	Link = Kind{kind: fs.ModeSymlink, name: "symbolic link", byRoot: true}
)

// Folder checks a folder, but not its parents.
func Folder(path string, want Kind) error {
	f, err := open(path, os.O_RDONLY, want)
	if err != nil {
		return err
	}
	return f.Close()
}

// FolderAndParents checks a folder and its parents.
func FolderAndParents(path string, want Kind) error {
	if err := Parents(path); err != nil {
		return err
	}
	return Folder(path, want)
}

// MakeFolder makes a missing folder, and missing parents, for the user alone. It checks
// the folder and its parents in any case, and makes nothing in a folder that is refused.
func MakeFolder(path string, want Kind) error {
	missing := []string{filepath.Clean(path)} // the deepest first
	for {
		parent := filepath.Dir(missing[len(missing)-1])
		if _, err := os.Lstat(parent); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		missing = append(missing, parent)
	}
	if err := Parents(missing[len(missing)-1]); err != nil {
		return err
	}
	for _, folder := range slices.Backward(missing) {
		if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		// Another user may have made it meanwhile, or a link: nothing is made behind that.
		if err := Folder(folder, OwnFolder); err != nil && folder != missing[0] {
			return err
		}
	}
	return FolderAndParents(path, want)
}

// mostFile bounds a file, in bytes.
const mostFile = 1 << 20

// ReadFile reads a private file. Its folder must have been checked.
func ReadFile(path string) ([]byte, error) { return read(path, PrivateFile) }

// ReadOwn reads a file that no other user can change. It may be a link to one.
func ReadOwn(path string) ([]byte, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{path, real} {
		if err := Parents(name); err != nil {
			return nil, err
		}
	}
	text, err := read(real, OwnFile)
	if refused, is := errors.AsType[*Error](err); is && !refused.OfMode && real != filepath.Clean(path) {
		refused.Fix, refused.Advice = "", "put a file of your own in place of "+path+", which leads there"
	}
	return text, err
}

func read(path string, want Kind) ([]byte, error) {
	f, err := open(path, os.O_RDONLY, want)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return content(f)
}

// ReadRegular reads a file that the user or a project names, whoever owns it. Of a named pipe,
// the reader would wait until somebody writes to it, and nothing could end that.
func ReadRegular(path string) ([]byte, error) {
	f, err := openNamed(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is a %s, not a regular file", path, kindOf(info))
	}
	return content(f)
}

// content reads a file that was opened and checked.
func content(f *os.File) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(f, mostFile+1))
	if err == nil && len(text) > mostFile {
		err = fmt.Errorf("%s is larger than %d kB", f.Name(), mostFile>>10)
	}
	return text, err
}

// Lock takes a lock with one of its own methods, and makes its file if there is none. Its folder
// must have been checked.
//
// A holder may remove the file before it unlocks it. The lock of a removed file keeps nobody out,
// so Lock then takes that of the file which is there now.
func Lock(lock *flock.Flock, try func() (bool, error)) (bool, error) {
	for {
		if err := lockFile(lock.Path()); err != nil {
			return false, err
		}
		locked, err := try()
		if err != nil || !locked {
			return false, err
		}
		current, err := isCurrent(lock)
		if current {
			return true, nil
		}
		if err := errors.Join(err, lock.Unlock()); err != nil {
			return false, err
		}
	}
}

// isCurrent reports whether the file of a lock that is held is the one at its path.
func isCurrent(lock *flock.Flock) (bool, error) {
	held, err := lock.Stat()
	if err != nil {
		return false, err
	}
	present, err := os.Lstat(lock.Path())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(held, present), err
}

// lockFile checks the file of a lock. No other user can replace it after that: they cannot
// write to its folder.
func lockFile(path string) error {
	f, err := open(path, os.O_RDONLY|os.O_CREATE, PrivateFile)
	if err != nil {
		return err
	}
	return f.Close()
}

// open opens what is at path, and checks the very thing that it has opened. It follows no
// link there, and does not wait for the writer of a named pipe.
func open(path string, flag int, want Kind) (*os.File, error) {
	f, err := openHere(path, flag, 0o600)
	if err != nil {
		if info, statErr := os.Lstat(path); statErr == nil {
			if refused := Check(path, info, want); refused != nil {
				return nil, refused // which says more than the system does
			}
		}
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = Check(path, info, want)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Check checks what was opened at path, or a socket, which cannot be opened.
func Check(path string, info fs.FileInfo, want Kind) error {
	if info.Mode().Type() != want.kind {
		e := &Error{Path: path, Reason: "is a " + kindOf(info) + ", not a " + want.name,
			Advice: "use another place, or ask its owner to move it away"}
		if isOwn(info) && info.Mode()&fs.ModeDevice == 0 {
			e.Fix = "mv -n " + word(path) + " " + word(path+".old")
		}
		if target, err := os.Readlink(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			e.Reason = "is a symbolic link to " + target + ", which is not followed"
		}
		return e
	}
	return checkOwner(path, info, want)
}

// kindOf names the type of a file.
func kindOf(info fs.FileInfo) string {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return "regular file"
	case mode.IsDir():
		return "folder"
	case mode&fs.ModeSymlink != 0:
		return "symbolic link"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	default:
		return strings.ToLower(mode.Type().String())
	}
}

// word quotes a path for a shell.
func word(path string) string {
	plain := strings.Trim(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+=,-")
	if plain == "" && !strings.HasPrefix(path, "-") {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
