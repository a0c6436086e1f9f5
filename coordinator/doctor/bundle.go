package doctor

import (
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

// WriteBundle writes the report without personal information and secrets to a new file,
// which only the user may read.
func WriteBundle(file string, report Report) error {
	b := Bundle{redacted(report), map[string]string{}}
	redact := redactor()
	for _, name := range bundled {
		if value := os.Getenv(name); value != "" {
			b.Environment[name] = redact(value)
		}
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("cannot write the report to %s: there is such a file already; name a new one", file)
	}
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return errors.Join(terminal.JSON(f, b), f.Close())
}

func redacted(r Report) Report {
	redact := redactor()
	checks, repairs := r.Checks, r.Repairs
	r.Checks, r.Repairs = []Check{}, []Repair{}
	for _, c := range checks {
		findings := c.Findings
		c.Findings = []Finding{}
		for _, f := range findings {
			c.Findings = append(c.Findings, Finding{Verdict: f.Verdict, Text: redact(f.Text), Fix: redact(f.Fix)})
		}
		r.Checks = append(r.Checks, c)
	}
	for _, done := range repairs {
		r.Repairs = append(r.Repairs, Repair{done.Check, redact(done.Done), redact(done.Error)})
	}
	return r
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
	add := func(home string) {
		if home = strings.TrimRight(home, `/\`); home != "" {
			all = append(all, home)
		}
	}
	if home, err := os.UserHomeDir(); err == nil {
		if resolved, err := filepath.EvalSymlinks(home); err == nil {
			add(resolved)
		}
		add(home)
	}
	if u, err := user.Current(); err == nil {
		add(u.HomeDir)
	}
	return all
}

// accounts are names of users that say nothing about a person: root, and those of
// containers for developers.
var accounts = []string{"root", "vscode", "node", "codespace"}

// userNames are the user's names.
func userNames() (all []string) {
	add := func(name string) {
		if _, own, isDomain := strings.Cut(name, `\`); isDomain {
			name = own
		}
		if name != "" && !slices.Contains(accounts, name) {
			all = append(all, name)
		}
	}
	if u, err := user.Current(); err == nil {
		add(u.Username)
		add(u.Name)
	}
	for _, variable := range []string{"USER", "LOGNAME", "USERNAME"} {
		add(os.Getenv(variable))
	}
	return all
}
