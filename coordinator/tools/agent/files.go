package agent

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"browser-coordinator/coordinator/output"
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/guard"
	"browser-coordinator/internal/fspath"
)

// outputFolder is the folder for all files that tools write: --output-dir, else a folder
// below the first root.
func (a *Agent) outputFolder(ctx context.Context) output.Folder {
	return output.In(a.folders(ctx)[0], a.OutputDir)
}

// File is the file that the call names, nil if it names none. Callers must resolve it
// before they do anything else: the name may be refused.
func (c *Call) File(ctx context.Context, filename string, kind output.Kind) (*output.File, error) {
	if filename == "" {
		return nil, nil
	}
	return c.Agent.outputFolder(ctx).Reporting(c.Out.Saved).File(filename, kind)
}

// PageAndFile returns the file that the call names, nil if it names none, and the agent's
// page.
func (c *Call) PageAndFile(ctx context.Context, filename string, kind output.Kind) (*page.Page, *output.File, error) {
	file, err := c.File(ctx, filename, kind)
	if err != nil {
		return nil, nil, err
	}
	p, err := c.Page(ctx)
	return p, file, err
}

// DatedName is the name of a file for which the call has none.
func DatedName(description string, kind output.Kind) string {
	return description + "-" + time.Now().UTC().Format("2006-01-02T15-04-05.000Z") + kind[0]
}

// AllowedFile is the absolute path of a file that an agent wants to read. A relative name
// is below the first root, or else in the output folder. After symbolic links are
// resolved, the file must be below a root, the working directory, the output folder or
// one of the further folders: a page that misleads an agent must not make it read other
// files.
func (a *Agent) AllowedFile(ctx context.Context, filename string, further ...string) (string, error) {
	allowed := slices.Clone(a.folders(ctx))
	file := filename
	if !filepath.IsAbs(file) {
		file = filepath.Join(allowed[0], file)
		saved := filepath.Join(a.outputFolder(ctx).Path(), filename)
		if !fspath.Exists(file) && fspath.Exists(saved) {
			file = saved
		}
	}
	if a.OutputDir != "" {
		allowed = append(allowed, a.OutputDir)
	}
	for _, dir := range further {
		if !slices.Contains(allowed, dir) {
			allowed = append(allowed, dir)
		}
	}
	file = filepath.Clean(file)
	real, err := realPath(file)
	if err != nil {
		return "", err
	}
	for _, dir := range allowed {
		if root, err := filepath.EvalSymlinks(dir); err == nil {
			if rel, ok := fspath.Within(root, real); ok && rel != "." {
				return file, nil
			}
		}
	}
	slices.Sort(allowed)
	return "", &guard.LimitError{Text: filename + " is out of bounds: files are below " +
		strings.Join(slices.Compact(allowed), " or ") + " only"}
}

// Uploads are the real paths of files that the agent uploads: a link that changes later
// has no effect.
func (a *Agent) Uploads(ctx context.Context, paths []string) ([]string, error) {
	files := make([]string, len(paths))
	for i, path := range paths {
		file, err := a.AllowedFile(ctx, path)
		if err != nil {
			return nil, err
		}
		info, err := os.Stat(file)
		if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() && !info.IsDir() { // the browser would wait for its writer
			return nil, fmt.Errorf("%s is neither a file nor a folder", path)
		}
		if files[i], err = realPath(file); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// realPath resolves the symbolic links of file, as far as it exists.
func realPath(file string) (string, error) {
	if real, err := filepath.EvalSymlinks(file); err == nil {
		return real, nil
	}
	if info, err := os.Lstat(file); err == nil && info.Mode()&os.ModeSymlink != 0 {
		return "", &guard.LimitError{Text: file + " is out of bounds: it is a link that leads nowhere"}
	}
	parent := filepath.Dir(file)
	if parent == file {
		return file, nil
	}
	real, err := realPath(parent)
	if err != nil {
		return "", err
	}
	return filepath.Join(real, filepath.Base(file)), nil
}

// FilePath is the path of a file URI (RFC 8089).
func FilePath(uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" {
		return "", false
	}
	path := u.Path
	if runtime.GOOS != "windows" && u.Host != "" && u.Host != "localhost" {
		return "", false // it is on another machine
	}
	if runtime.GOOS == "windows" {
		if u.Host != "" {
			return `\\` + u.Host + filepath.FromSlash(path), true
		}
		path = strings.TrimPrefix(path, "/")
	}
	return filepath.FromSlash(path), true
}
