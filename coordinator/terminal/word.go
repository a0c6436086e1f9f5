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
		name = "./" + name // no flag, on Windows too
	}
	special := func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("_./:@%+=,-", c) && !(c == '\\' && system == "windows")
	}
	switch {
	case name != "" && strings.IndexFunc(name, special) < 0:
		return name
	case system == "windows": // where no file's name has a quote
		end := name[len(strings.TrimRight(name, `\`)):] // else the last backslash would escape the quote
		return `"` + name + end + `"`
	default:
		return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	}
}
