package terminal

import (
	"runtime"
	"strings"
	"unicode"
)

// Word quotes the name of a file or folder, so that a user may paste it into a
// shell's command line as one word.
func Word(name string) string { return wordFor(runtime.GOOS, name) }

func wordFor(system, name string) string {
	if strings.HasPrefix(name, "-") {
		name = "./" + name // so that it is no flag, on Windows too
	}
	special := func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("_./:@%+=,-", c) &&
			!(c == '\\' && system == "windows")
	}
	switch {
	case name != "" && strings.IndexFunc(name, special) < 0:
		return name
	case system == "windows": // file names have no quotes there
		end := name[len(strings.TrimRight(name, `\`)):] // otherwise the last backslash would escape the quote
		return `"` + name + end + `"`
	default:
		return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	}
}
