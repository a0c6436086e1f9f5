package pagelock

import (
	"crypto/rand"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"browser-coordinator/internal/statedir"
)

// longestText bounds the text of a file, in bytes.
const longestText = 16 << 10

// textStart is where the text begins: on Windows nobody else reads the first byte of a locked file.
const textStart = 1

func write(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(text, textStart)
	return errors.Join(err, file.Truncate(int64(len(text)+textStart)), file.Close())
}

// read is the text of a file; nil if it cannot be read.
func read(path string) []byte {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	text, err := io.ReadAll(io.NewSectionReader(file, textStart, longestText))
	if err != nil {
		return nil
	}
	return text
}

// Holder is the text of the one who has the page's lock. It is nil if nobody has, or has not written it yet.
func (k Kind) Holder(page string) []byte {
	return read(filepath.Join(statedir.Path(), k.name(page, "")))
}

// Publish adds a text for the page, which others read until it is released.
func (k Kind) Publish(page string, text []byte) (release func() error, err error) {
	for free := false; err == nil && !free; { // a reader may have opened the new file before it was locked
		var lock *flock.Flock
		if lock, err = k.lock(page, "-"+rand.Text()); err == nil {
			release, free, err = try(lock, text)
		}
	}
	return release, err
}

// Published are the texts for the page that are not released.
func (k Kind) Published(page string) (texts [][]byte) {
	files, _ := filepath.Glob(filepath.Join(statedir.Path(), k.name(page, "-*")))
	for _, path := range files {
		lock := flock.New(path, flock.SetFlag(os.O_RDONLY)) // which makes no file
		released, err := lock.TryRLock()
		if err != nil || released { // it is released at this moment, or its program was killed
			_ = lock.Unlock()
			continue
		}
		texts = append(texts, read(path))
	}
	return texts
}
