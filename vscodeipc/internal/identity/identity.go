// Package identity names a workspace: its canonical path, and the hash of that.
package identity

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"unicode/utf8"

	"github.com/zeebo/xxh3"
	"golang.org/x/text/unicode/norm"
)

// Hash names the canonical path in addresses: XXH3-64, seed 0, as 16 lower-case
// hexadecimal digits (spec 1).
func Hash(canonical string) string {
	return fmt.Sprintf("%016x", xxh3.HashString(canonical))
}

// Canonical returns the path that identifies a window: links resolved, the name as it is
// on disk, spelt by the rules of spec 1. A path that does not exist has no canonical
// form; the error then wraps [io/fs.ErrNotExist].
func Canonical(path string) (string, error) {
	resolved, err := resolve(path)
	if err != nil {
		return "", fmt.Errorf("resolve the path %q: %w", path, err)
	}
	canonical, err := Spell(runtime.GOOS, resolved)
	if err != nil {
		return "", fmt.Errorf("resolve the path %q: %w", path, err)
	}
	return canonical, nil
}

// resolve is step 1 of spec 1: absolute, without links, the name on disk.
func resolve(path string) (string, error) {
	if path == "" {
		return "", errEmpty
	}
	if strings.ContainsRune(path, 0) {
		return "", errNUL
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return finalName(abs)
}

// The reasons why a path has no canonical form. Their texts are the values of "error" in
// specs/window-protocol/vectors/identity.jsonl.
var (
	errEmpty       = errors.New("empty")
	errNotUTF8     = errors.New("not_utf8")
	errNUL         = errors.New("nul")
	errDevice      = errors.New("device")
	errNotAbsolute = errors.New("not_absolute")
)

// errCircle is the reason of a path on disk.
var errCircle = errors.New("its links lead in a circle")

// Spell is step 2 of spec 1. It takes the operating system as an argument, so
// that the vectors of all three run on each.
func Spell(goos, path string) (string, error) {
	switch {
	case path == "":
		return "", errEmpty
	case !utf8.ValidString(path):
		return "", errNotUTF8
	case strings.ContainsRune(path, 0):
		return "", errNUL
	case goos == "windows":
		return spellWindows(path)
	case path[0] != '/':
		return "", errNotAbsolute
	case goos == "darwin":
		path = norm.NFC.String(path)
	}
	return "/" + strings.Join(elements(path, "/"), "/"), nil
}

func spellWindows(path string) (string, error) {
	path = strings.ReplaceAll(path, "/", `\`)
	if rest, ok := strings.CutPrefix(path, `\\?\`); ok {
		switch {
		case len(rest) >= 4 && strings.EqualFold(rest[:4], `UNC\`):
			path = `\\` + rest[4:]
		case len(rest) >= 2 && isDrive(rest):
			path = rest
		default:
			return "", errDevice
		}
	}
	if unc, ok := strings.CutPrefix(path, `\\`); ok {
		server, rest, _ := strings.Cut(unc, `\`)
		if server == "." || server == "?" {
			return "", errDevice
		}
		share, rest, _ := strings.Cut(rest, `\`)
		if server == "" || share == "" {
			return "", errNotAbsolute
		}
		root := `\\` + lowerASCII(server) + `\` + lowerASCII(share) + `\`
		return root + strings.Join(elements(rest, `\`), `\`), nil
	}
	if len(path) < 3 || !isDrive(path) || path[2] != '\\' {
		return "", errNotAbsolute
	}
	return lowerASCII(path[:1]) + `:\` + strings.Join(elements(path[3:], `\`), `\`), nil
}

// elements splits a rooted path and removes redundant elements: empty ones, ".", and
// each ".." with the element before it.
func elements(path, separator string) []string {
	var out []string
	for e := range strings.SplitSeq(path, separator) {
		switch e {
		case "", ".":
		case "..":
			out = out[:max(0, len(out)-1)]
		default:
			out = append(out, e)
		}
	}
	return out
}

// isDrive reports whether path begins with a drive letter and its colon.
func isDrive(path string) bool {
	c := path[0] | 0x20
	return c >= 'a' && c <= 'z' && path[1] == ':'
}

// lowerASCII lowers A to Z only: the rules for other letters differ between
// languages (spec 1).
func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
