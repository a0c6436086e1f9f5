//go:build unix

package identity

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// finalName returns an absolute path without links, with the names on disk.
func finalName(abs string) (string, error) {
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		if strings.Contains(err.Error(), "too many links") { // the library has no value for it
			return "", errCircle
		}
		return "", err
	}
	return onDisk(real, os.Lstat, readNames), nil
}

func readNames(dir string) ([]string, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Readdirnames(-1)
}

// onDisk gives each element of a path without links the case that it has in its
// directory. It reads a directory only if the same element in another case leads to the
// same file, so it reads none on a case-sensitive file system. In an unreadable
// directory the element keeps its given case.
func onDisk(path string, lstat func(string) (fs.FileInfo, error), names func(string) ([]string, error)) string {
	if path == "/" {
		return path
	}
	out := ""
	for element := range strings.SplitSeq(path[1:], "/") {
		if other := swapCase(element); other != element && sameFile(lstat, out+"/"+element, out+"/"+other) {
			element = nameOnDisk(out, element, names)
		}
		out += "/" + element
	}
	return out
}

func sameFile(lstat func(string) (fs.FileInfo, error), a, b string) bool {
	x, errA := lstat(a)
	y, errB := lstat(b)
	return errors.Join(errA, errB) == nil && os.SameFile(x, y)
}

func nameOnDisk(dir, element string, names func(string) ([]string, error)) string {
	list, err := names(dir + "/")
	if err != nil {
		return element
	}
	match := element
	for _, name := range list {
		if name == element {
			return element // two names, one file: hard links on a case-sensitive file system
		}
		if strings.EqualFold(norm.NFC.String(name), norm.NFC.String(element)) {
			match = name
		}
	}
	return match
}

func swapCase(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, s)
}
