package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"browser-coordinator/internal/fspath"
)

// File is a file to be written. Its name is checked; the file does not exist yet.
type File struct {
	folder Folder
	dirs   []string
	stem   string // of its name
	ext    string // empty: As has not been called
}

// mostLevels bounds the folders in a name. Each is made, and few programs can remove very
// many in each other.
const mostLevels = 32

// mostNumbers bounds how many files have one name with different numbers.
const mostNumbers = 10_000

// File checks the name that a caller chooses for content of a kind: a path below the
// folder, or an absolute one in it. A missing extension is added; one that does not fit
// is refused. Without a kind any extension is accepted, and As adds one.
func (f Folder) File(name string, kind Kind) (*File, error) {
	below, err := f.relative(name)
	if err != nil {
		return nil, err
	}
	if levels := strings.Count(filepath.ToSlash(below), "/"); levels > mostLevels {
		return nil, fmt.Errorf("the filename has %d levels of folders: want at most %d", levels, mostLevels)
	}
	parts := strings.Split(filepath.ToSlash(filepath.Clean(below)), "/")
	for _, part := range parts {
		if err := checkName(part); err != nil {
			return nil, fmt.Errorf("filename %q: %w", name, err)
		}
	}
	last := len(parts) - 1
	file := &File{folder: f, dirs: parts[:last], stem: parts[last]}
	if kind == nil {
		return file, nil
	}
	ext := filepath.Ext(file.stem)
	if ext != "" && !kind.fits(ext) {
		return nil, fmt.Errorf("filename %q: this is saved as %s, not as %s", name, strings.Join(kind, " or "), ext)
	}
	return file.As(kind), nil
}

// relative is a name relative to the folder.
func (f Folder) relative(name string) (string, error) {
	if !filepath.IsAbs(name) {
		return name, nil
	}
	folders := []string{f.Path()}
	if real, err := filepath.EvalSymlinks(f.base); err == nil {
		folders = append(folders, filepath.Join(append([]string{real}, f.steps...)...))
	}
	for _, folder := range folders {
		if rel, ok := fspath.Within(folder, name); ok {
			return rel, nil
		}
	}
	return "", fmt.Errorf("filename %q is out of bounds: files are saved below %s only. Give a name without a folder",
		name, f.Path())
}

// As is the file for content of a kind: an extension is added unless the present one
// fits.
func (t *File) As(kind Kind) *File {
	named := *t
	if ext := filepath.Ext(t.stem); kind.fits(ext) {
		named.stem, named.ext = strings.TrimSuffix(t.stem, ext), ext
	} else {
		named.ext = kind[0]
	}
	return &named
}

// Write creates the file and calls write for its content. It returns the file's path,
// which has a number if the name was taken, and its size. If write fails, the file is
// removed.
func (t *File) Write(write func(*os.File) error) (path string, size int64, err error) {
	if t.ext == "" {
		t = t.As(Binary)
	}
	dir, err := t.folder.open(t.dirs)
	if err != nil {
		return "", 0, fmt.Errorf("cannot save a file below %s: %w", t.folder.Path(), err)
	}
	defer dir.Close()
	name, file, err := t.create(dir)
	path = filepath.Join(append(append([]string{t.folder.Path()}, t.dirs...), name)...)
	if err != nil {
		return "", 0, fmt.Errorf("cannot save %s: %w", path, reason(err))
	}
	err = write(file)
	if info, statErr := file.Stat(); statErr == nil {
		size = info.Size()
	}
	if closed := file.Close(); closed != nil && err == nil {
		err = fmt.Errorf("cannot save %s: %w", path, reason(closed))
	}
	if err != nil {
		return "", 0, errors.Join(err, dir.Remove(name))
	}
	if t.folder.saved != nil {
		t.folder.saved(path)
	}
	return path, size, nil
}

// create creates the file under the first name that is not taken.
func (t *File) create(dir *os.Root) (name string, file *os.File, err error) {
	for n := 1; n <= mostNumbers; n++ {
		name = t.stem + t.ext
		if n > 1 {
			name = fmt.Sprintf("%s-%d%s", t.stem, n, t.ext)
		}
		file, err = dir.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return name, file, err
}

// Save writes a file with this content.
func (t *File) Save(content []byte) (path string, err error) {
	path, _, err = t.Write(func(to *os.File) error {
		_, err := to.Write(content)
		return err
	})
	return path, err
}
