package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"browser-coordinator/coordinator/page"
)

// downloadPatience bounds the wait for a download that an act has begun; most are
// there by then.
const downloadPatience = 2 * time.Second

// downloads are what becomes of those in a browser of our own, which has nobody
// else to save them for.
func (a *agent) downloads(ctx context.Context) *page.Downloads {
	ctx = context.WithoutCancel(ctx)
	return &page.Downloads{
		Dir:  a.server.options.Launcher.Downloads(),
		Keep: func(temporary, name string) (string, error) { return a.keepDownload(ctx, temporary, name) },
	}
}

// keepDownload moves a file to the output directory, else to the folder downloads
// below the first root, never in place of another.
func (a *agent) keepDownload(ctx context.Context, temporary, name string) (string, error) {
	dir := a.server.options.OutputDir
	if dir == "" {
		dir = "downloads"
	}
	// The name is a stranger's: it is no path, and hides nothing.
	name = strings.TrimLeft(filepath.Base(filepath.Clean("/"+strings.ReplaceAll(name, `\`, "/"))), "./")
	if name == "" {
		name = "download"
	}
	extension := filepath.Ext(name)
	for n := 0; ; n++ {
		numbered := name
		if n > 0 {
			numbered = fmt.Sprintf("%s (%d)%s", strings.TrimSuffix(name, extension), n, extension)
		}
		file, err := a.allowedFile(ctx, filepath.Join(dir, numbered))
		if err == nil {
			err = os.MkdirAll(filepath.Dir(file), 0o755)
		}
		if err == nil {
			err = moveNew(temporary, file)
		}
		if !errors.Is(err, fs.ErrExist) {
			return file, err
		}
	}
}

// moveNew moves a file to where none is yet.
func moveNew(from, to string) error {
	reserved, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if err := reserved.Close(); err != nil {
		return err
	}
	if os.Rename(from, to) == nil {
		return nil
	}
	// They may be on two disks.
	source, err := os.Open(from)
	if err == nil {
		_, err = streamFile(to, 0o644, func(w io.Writer) error {
			_, err := io.Copy(w, source)
			return err
		})
		err = errors.Join(err, source.Close(), os.Remove(from))
	}
	if err != nil {
		os.Remove(to)
	}
	return err
}

// downloaded adds what has become of downloads in the browser of the last call:
// of those that have ended since the last answer, and of the one that the act has
// begun, for which it waits a little.
func (a *agent) downloaded(ctx context.Context, out *answer) {
	a.mu.Lock()
	l := a.last
	a.mu.Unlock()
	if l == nil || !l.own {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, downloadPatience)
	defer cancel()
	told := out.download == ""
	for _, d := range l.browser.Downloaded(ctx, out.download) {
		told = told || d.URL == out.download
		if d.Failed != "" {
			out.quotef("The download of %s failed: %s.", d.URL, d.Failed)
			continue
		}
		out.quotef("Downloaded %s (%d B) from %s", d.File, d.Size, d.URL)
	}
	if !told {
		out.addf("A later answer says where it is when it has ended.")
	}
}
