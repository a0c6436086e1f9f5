package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"browser-coordinator/coordinator/terminal"
)

// Bundle is a report for others to read, with what they need to know of this machine.
type Bundle struct {
	Report
	Environment map[string]string `json:"environment"`
}

// bundled are the environment variables that a bundle contains.
var bundled = []string{
	"PATH", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "XDG_SESSION_TYPE", "TMPDIR",
	"BROWSER_COORDINATOR_WORKSPACE", "BROWSER_COORDINATOR_BROWSER", "BROWSER_COORDINATOR_CAPS",
	"DISPLAY", "WAYLAND_DISPLAY", "LANG", "TERM_PROGRAM", "WSL_DISTRO_NAME", "CODESPACES", "container",
}

// NewBundle is the report without personal information and secrets. It redacts the report
// itself, too.
func NewBundle(report Report) Bundle {
	redact := redactor()
	for _, c := range report.Checks {
		for i, f := range c.Findings {
			c.Findings[i].Text, c.Findings[i].Fix = redact(cmp.Or(f.masked, f.Text)), redact(f.Fix)
		}
	}
	for i, r := range report.Repairs {
		report.Repairs[i].Done, report.Repairs[i].Error = redact(r.Done), redact(r.Error)
	}
	b := Bundle{report, map[string]string{}}
	for _, name := range bundled {
		if value := os.Getenv(name); value != "" {
			b.Environment[name] = redact(value)
		}
	}
	return b
}

// WriteBundle writes a bundle to a new file, which only the user may read.
func WriteBundle(file string, report Report) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("cannot write the report to %s: it exists already; name a new file", file)
	}
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return errors.Join(terminal.JSON(f, NewBundle(report)), f.Close())
}

var (
	address = regexp.MustCompile(`[a-z][a-z+.-]*://[^\s"'<>` + "`" + `]+`)
	// ownAddress is the address of an endpoint without a token.
	ownAddress = regexp.MustCompile(`^http://127\.0\.0\.1:[0-9]+[.,;:]?$`)
	// secret is what a token looks like. The hash of a folder is shorter.
	secret = regexp.MustCompile(`\b[0-9A-Fa-f]{32,}\b|\b[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\b` +
		`|\b(gh[a-z]_|github_pat_|glpat-|npm_|sk-|xox[a-z]-|AKIA|AIza|eyJ)[0-9A-Za-z_.-]{10,}`)
	// word is a part of a path, which is a token too if it looks random.
	word = regexp.MustCompile(`[0-9A-Za-z_+=-]{20,}`)
	// usersFolder is the user's folder in Windows, which PATH in WSL has.
	usersFolder = regexp.MustCompile(`(?i)([/\\]Users[/\\])[^/\\:;]+`)
)

// redactor returns the function that removes the names of the user, the home folder and
// the machine, all addresses but those of endpoints, and all that looks like a token. A
// name is also removed where it is a part of a word: that hides too much, and never too
// little.
func redactor() func(string) string {
	type rule struct {
		pattern     *regexp.Regexp
		replacement string
	}
	var rules []rule
	replace := func(text, replacement string) {
		if len(text) >= shortestName && !slices.Contains(accounts, text) {
			rules = append(rules, rule{regexp.MustCompile(`(?i)` + regexp.QuoteMeta(text)), replacement})
		}
	}
	home, _ := os.UserHomeDir() // what is not known is empty
	host, _ := os.Hostname()
	replace(strings.TrimRight(home, `/\`), "~")
	replace(host, "HOST")
	names := []string{os.Getenv("USER"), os.Getenv("LOGNAME"), os.Getenv("USERNAME")}
	if u, err := user.Current(); err == nil {
		replace(u.HomeDir, "~")
		names = append(names, u.Username[strings.IndexByte(u.Username, '\\')+1:], u.Name) // after the domain
	}
	for _, name := range names {
		replace(name, "USER")
	}
	return func(text string) string {
		text = address.ReplaceAllStringFunc(text, func(a string) string {
			if ownAddress.MatchString(a) {
				return a
			}
			return "ADDRESS"
		})
		text = word.ReplaceAllStringFunc(secret.ReplaceAllString(text, "SECRET"), func(word string) string {
			if looksRandom(word) {
				return "SECRET"
			}
			return word
		})
		text = usersFolder.ReplaceAllString(text, "${1}USER")
		for _, r := range rules {
			text = r.pattern.ReplaceAllString(text, r.replacement)
		}
		return text
	}
}

// looksRandom reports whether a word has lower and upper case and digits in turn, as no
// name of a folder has.
func looksRandom(word string) bool {
	kind := func(c rune) int {
		switch {
		case unicode.IsDigit(c):
			return 1
		case unicode.IsUpper(c):
			return 2
		case unicode.IsLower(c):
			return 3
		}
		return 0
	}
	changes, before, kinds := 0, 0, map[int]bool{}
	for _, c := range word {
		if now := kind(c); now != before {
			changes, before, kinds[now] = changes+1, now, true
		}
	}
	return kinds[1] && kinds[2] && kinds[3] && changes*5 >= len(word)*2
}

// shortestName is the length of a name that is removed: a shorter one is a part of too many
// words.
const shortestName = 2

// accounts are names that say nothing about a person: root, those of containers for
// developers, and that of every machine.
var accounts = []string{"root", "vscode", "node", "codespace", "localhost"}
