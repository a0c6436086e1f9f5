package output

import (
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Names are checked for all systems alike: a workspace may be on another system's disk.

// device matches names that Windows treats as a device, whatever the extension.
var device = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])\s*(\.|$)`)
})

// checkName refuses a file or folder name that is special to a program: hidden or
// configuration (.git), an option (-rf), a home (~), a device or a stream of Windows, or
// a name that is displayed as another one.
func checkName(name string) error {
	switch {
	case name == "" || !utf8.ValidString(name) || strings.ContainsFunc(name, unprintable):
		return errors.New("want letters, digits, spaces and - _ . ( ) in names of files and folders")
	case strings.ContainsAny(name[:1], ".-~ "):
		return errors.New("a name of a file or folder must not begin with a dot, a dash, a tilde or a space, and a " +
			"path must not lead out of the output folder")
	case strings.ContainsAny(name[len(name)-1:], ". "):
		return errors.New("a name of a file or folder must not end with a dot or a space")
	case device().MatchString(name):
		return errors.New("this is the name of a device on Windows")
	}
	return nil
}

// unprintable reports characters that no name may have: those with a meaning in paths of
// some system, and invisible ones.
func unprintable(r rune) bool { return strings.ContainsRune(`<>:"/\|?*`, r) || !unicode.IsPrint(r) }

// longestStem bounds a name from a server, in characters.
const longestStem = 100

// Download is the file for content with a name from a server. The name becomes harmless,
// and never the name of a program.
func (f Folder) Download(name string) *File {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.Map(func(r rune) rune {
		if unprintable(r) || r == utf8.RuneError {
			return '_'
		}
		return r
	}, name)
	name = strings.TrimRight(strings.TrimLeft(name, ".-~ "), ". ")
	if name == "" {
		name = "download"
	}
	if device().MatchString(name) {
		name = "_" + name
	}
	kind := Binary
	ext := filepath.Ext(name)
	if data().fits(ext) {
		kind = Kind{ext}
	}
	file := (&File{folder: f, stem: name}).As(kind)
	if stem := []rune(file.stem); len(stem) > longestStem {
		file.stem = strings.TrimRight(string(stem[:longestStem]), ". ")
	}
	return file
}
