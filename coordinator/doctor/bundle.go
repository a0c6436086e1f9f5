package doctor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"browser-coordinator/coordinator/terminal"
)

// Bundle is a report for others to read, with what they need to know of this machine.
type Bundle struct {
	Report
	Environment map[string]string `json:"environment"`
}

// bundled are the environment variables that a bundle contains.
var bundled = []string{
	"PATH", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "XDG_SESSION_TYPE", "TMPDIR",
	"BROWSER_COORDINATOR_WORKSPACE", "BROWSER_COORDINATOR_BROWSER", "BROWSER_COORDINATOR_CAPS",
	"DISPLAY", "WAYLAND_DISPLAY", "LANG", "TERM_PROGRAM", "WSL_DISTRO_NAME", "CODESPACES", "container",
}

// literal matches the strings in a text of JSON.
var literal = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// WriteBundle writes the report without personal information and secrets to a new file,
// which only the user may read.
func WriteBundle(file string, report Report) error {
	b := Bundle{report, map[string]string{}}
	for _, name := range bundled {
		if value := os.Getenv(name); value != "" {
			b.Environment[name] = value
		}
	}
	var text bytes.Buffer
	if err := terminal.JSON(&text, b); err != nil {
		return err
	}
	redact := redactor()
	redacted := literal.ReplaceAllFunc(text.Bytes(), func(quoted []byte) []byte {
		var value string
		_ = json.Unmarshal(quoted, &value) // it has just been encoded
		encoded, _ := json.Marshal(redact(value))
		return terminal.PrintableJSON(encoded)
	})
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("cannot write the report to %s: there is such a file already; name a new one", file)
	}
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	_, err = f.Write(redacted)
	return errors.Join(err, f.Close())
}

var (
	// letter is what `\b` takes for a part of a word: no letter beyond ASCII.
	letter  = regexp.MustCompile(`^\w$`)
	address = regexp.MustCompile(`[a-z][a-z+.-]*://[^\s"'<>` + "`" + `]+`)
	// ownAddress is the address of an endpoint without a token.
	ownAddress = regexp.MustCompile(`^http://127\.0\.0\.1:[0-9]+[.,;:]?$`)
	// secret is what a token looks like. The hash of a folder is shorter.
	secret = regexp.MustCompile(`\b[0-9A-Fa-f]{32,}\b|\b[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\b`)
)

// redactor returns the function that removes the names of the user, the home folder and
// the machine, all addresses but those of endpoints, and all that looks like a token.
func redactor() func(string) string {
	type rule struct {
		of *regexp.Regexp
		by string
	}
	var rules []rule
	replace := func(text, by string) {
		pattern := regexp.QuoteMeta(text)
		if letter.MatchString(text[:1]) {
			pattern = `\b` + pattern
		}
		if letter.MatchString(text[len(text)-1:]) {
			pattern += `\b`
		}
		rules = append(rules, rule{regexp.MustCompile(`(?i)` + pattern), by})
	}
	for _, home := range homes() {
		replace(home, "~")
	}
	// The user's folder in Windows, which PATH in WSL has.
	rules = append(rules, rule{regexp.MustCompile(`(?i)([/\\]Users[/\\])[^/\\:;]+`), "${1}USER"})
	if host, err := os.Hostname(); err == nil && host != "" && host != "localhost" {
		replace(host, "HOST")
		if short, _, more := strings.Cut(host, "."); more && short != "" {
			replace(short, "HOST")
		}
	}
	for _, name := range userNames() {
		replace(name, "USER")
	}
	return func(text string) string {
		text = address.ReplaceAllStringFunc(text, func(a string) string {
			if ownAddress.MatchString(a) {
				return a
			}
			return "ADDRESS"
		})
		text = secret.ReplaceAllString(text, "SECRET")
		for _, r := range rules {
			text = r.of.ReplaceAllString(text, r.by)
		}
		return text
	}
}

// homes are the spellings of the home folder, the longest first.
func homes() (all []string) {
	home, _ := os.UserHomeDir() // what is not known is empty
	resolved, _ := filepath.EvalSymlinks(home)
	var account string
	if u, err := user.Current(); err == nil {
		account = u.HomeDir
	}
	for _, home := range []string{resolved, home, account} {
		if home = strings.TrimRight(home, `/\`); home != "" {
			all = append(all, home)
		}
	}
	return all
}

// accounts are names of users that say nothing about a person: root, and those of
// containers for developers.
var accounts = []string{"root", "vscode", "node", "codespace"}

// userNames are the user's names.
func userNames() (all []string) {
	names := []string{os.Getenv("USER"), os.Getenv("LOGNAME"), os.Getenv("USERNAME")}
	if u, err := user.Current(); err == nil {
		names = append(names, u.Username, u.Name)
	}
	for _, name := range names {
		name = name[strings.IndexByte(name, '\\')+1:] // after the domain
		if name != "" && !slices.Contains(accounts, name) {
			all = append(all, name)
		}
	}
	return all
}
