package trusted

import (
	"io/fs"
	"os"
)

func openNamed(path string) (*os.File, error) { return os.Open(path) }

// openHere refuses a link. Only a program of the user can put one in place meanwhile.
func openHere(path string, flag int, mode fs.FileMode) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, &os.PathError{Op: "open", Path: path, Err: fs.ErrInvalid}
	}
	return os.OpenFile(path, flag, mode)
}

// IsOwn is of no use: a process has no such number.
func IsOwn(int) bool { return false }

// isOwn: an access list is needed to know, and the folders of a user are the user's.
func isOwn(fs.FileInfo) bool { return true }

// checkOwner does nothing: access lists protect the folders of a user.
func checkOwner(string, fs.FileInfo, Kind) error { return nil }

// Parents does nothing, as above.
func Parents(string) error { return nil }
