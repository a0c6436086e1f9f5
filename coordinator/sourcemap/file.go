package sourcemap

import (
	"bytes"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"browser-coordinator/internal/fspath"
)

// File returns the file in one of the folders that corresponds to a source. The folders
// are absolute. Bundlers write addresses of many kinds (webpack://shop/./src/a.ts,
// http://localhost:5173/src/a.ts, file:///home/me/shop/src/a.ts, /@fs/home/…), so File
// chooses the file with the longest tail of the source's path. If only a part of the path
// matches, the file must also have the content in the map; without content in the map,
// the file's name alone is not enough. File never returns a file outside the folders.
func File(folders []string, s Source) (string, bool) {
	for _, dir := range folders {
		if file, ok := absolute(dir, s.URL); ok {
			return file, true
		}
	}
	tail := tailOf(s.URL)
	whole := tail
	for tail != "" {
		for _, dir := range folders {
			file := filepath.Join(dir, filepath.FromSlash(tail))
			if !isFile(dir, file) {
				continue
			}
			if s.Content != nil && !holds(file, *s.Content) && tail != whole {
				continue // another file of that name
			}
			if s.Content == nil && tail != whole && !strings.Contains(tail, "/") {
				continue
			}
			return file, true
		}
		_, rest, more := strings.Cut(tail, "/")
		if !more {
			break
		}
		tail = rest
	}
	return "", false
}

// absolute resolves an address that names a file of this machine.
func absolute(dir, address string) (string, bool) {
	u, err := url.Parse(address)
	if err != nil {
		return "", false
	}
	name := u.Path
	if _, rest, vite := strings.Cut(name, "/@fs/"); vite {
		name = "/" + rest
	} else if u.Scheme != "file" && u.Scheme != "" {
		return "", false
	}
	if runtime.GOOS == "windows" {
		name = strings.TrimPrefix(name, "/")
	}
	file := filepath.FromSlash(path.Clean(name))
	if !filepath.IsAbs(file) || !isFile(dir, file) {
		return "", false
	}
	return file, true
}

// tailOf is the path of an address without the prefixes of bundlers.
func tailOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	name := u.Path
	if u.Scheme != "" && u.Opaque != "" {
		name = u.Opaque // webpack:src/a.ts
	}
	var parts []string
	for _, part := range strings.Split(name, "/") {
		if part != "" && part != "." && part != ".." && part != "~" && part != "_N_E" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "/")
}

// isFile reports whether the file exists, and is below dir also after links.
func isFile(dir, file string) bool {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return false
	}
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	_, ok := fspath.Within(root, real)
	return ok
}

// holds reports whether a file has that content, with any line ends.
func holds(file, content string) bool {
	data, err := os.ReadFile(file)
	return err == nil && string(plain(data)) == string(plain([]byte(content)))
}

func plain(b []byte) []byte {
	return bytes.TrimSpace(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")))
}
