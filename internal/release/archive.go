package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// epoch is the time of every file in a release.
var epoch = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// entry is a file of an archive.
type entry struct {
	name, from string
	mode       fs.FileMode
}

// archives packs the program of each system with its manuals.
func (r *release) archives() error {
	manuals, err := filesIn(r.manualsDir())
	if err != nil {
		return err
	}
	for _, t := range r.targets {
		entries := []entry{{t.program(), r.programOf(t), 0o755}}
		for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
			entries = append(entries, entry{name, filepath.Join(r.repository, name), 0o644})
		}
		entries = append(append(entries, manuals...), entry{noticesFile, r.programNotices(), 0o644})
		slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
		write, file := writeTar, r.archive(t)
		if t.goos == "windows" {
			write = writeZip
		}
		if err := create(filepath.Join(r.out, file), func(w io.Writer) error {
			return write(w, strings.TrimSuffix(strings.TrimSuffix(file, ".zip"), ".tar.gz"), entries)
		}); err != nil {
			return err
		}
	}
	return nil
}

// archive is the name of a system's archive.
func (r *release) archive(t target) string {
	name := fmt.Sprintf("browser-coordinator-%s-%s-%s", r.version, t.goos, t.goarch)
	if t.goos == "windows" {
		return name + ".zip"
	}
	return name + ".tar.gz"
}

func filesIn(dir string) (all []entry, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		all = append(all, entry{filepath.ToSlash(name), path, 0o644})
		return err
	})
	return all, err
}

func create(file string, write func(io.Writer) error) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.Close()
		return fmt.Errorf("write %s: %w", file, err)
	}
	return f.Close()
}

func writeTar(w io.Writer, folder string, entries []entry) error {
	compressed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(compressed)
	for _, e := range entries {
		text, err := os.ReadFile(e.from)
		if err != nil {
			return err
		}
		header := &tar.Header{Name: folder + "/" + e.name, Mode: int64(e.mode), Size: int64(len(text)), ModTime: epoch,
			Format: tar.FormatPAX}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(text); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return compressed.Close()
}

func writeZip(w io.Writer, folder string, entries []entry) error {
	archive := zip.NewWriter(w)
	for _, e := range entries {
		text, err := os.ReadFile(e.from)
		if err != nil {
			return err
		}
		header := &zip.FileHeader{Name: folder + "/" + e.name, Method: zip.Deflate, Modified: epoch}
		header.SetMode(e.mode)
		to, err := archive.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := to.Write(text); err != nil {
			return err
		}
	}
	return archive.Close()
}

// checksums writes the SHA-256 sums of all files, as sha256sum prints them.
func (r *release) checksums() error {
	files, err := filesIn(r.out)
	if err != nil {
		return err
	}
	var lines strings.Builder
	for _, f := range files {
		sum, err := sum(f.from)
		if err != nil {
			return err
		}
		fmt.Fprintf(&lines, "%s  %s\n", sum, f.name)
	}
	return os.WriteFile(filepath.Join(r.out, "checksums.txt"), []byte(lines.String()), 0o644)
}

func sum(file string) (string, error) {
	text, err := os.ReadFile(file)
	return fmt.Sprintf("%x", sha256.Sum256(text)), err
}
