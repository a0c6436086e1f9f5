package chrome

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// EnvBrowser names the executable to use, or one of the known browsers.
const EnvBrowser = "BROWSER_COORDINATOR_BROWSER"

// Names are the browsers that Find knows, in the order of its search.
var Names = []string{"chrome", "chromium", "msedge", "brave"}

// FindOptions narrow the search.
type FindOptions struct {
	Executable string // use just this one; empty: the environment's, else search
	Browser    string // one of Names; empty: any
}

// candidate is one possible place of a browser: a name on PATH, or a file.
type candidate struct{ browser, place string }

// Find returns the absolute path of the browser to launch: the given executable, the one in the environment,
// or the first that is installed in a usual place. The error names what was searched and
// the next step.
func Find(opts FindOptions) (string, error) {
	program, source := opts.Executable, ""
	if program == "" && opts.Browser == "" {
		if program = os.Getenv(EnvBrowser); program != "" {
			source = ", which $" + EnvBrowser + " names,"
		}
	}
	if slices.Contains(Names, program) {
		opts.Browser, program = program, ""
	}
	if program != "" {
		path, err := lookUp(program)
		if err == nil {
			return path, nil
		}
		if _, err := os.Stat(program); err == nil {
			return "", fmt.Errorf("no browser found: %s%s is not a program that can be started; name the "+
				"browser's executable", program, source)
		}
		return "", fmt.Errorf("no browser found: %s%s does not exist", program, source)
	}
	if opts.Browser != "" && !slices.Contains(Names, opts.Browser) {
		return "", fmt.Errorf("unknown browser %q: want one of %s", opts.Browser, strings.Join(Names, ", "))
	}
	var others, searched []string
	places := candidates()
	for _, name := range Names {
		path, missing := installed(places, name)
		switch {
		case path == "" && (opts.Browser == "" || opts.Browser == name):
			searched = append(searched, missing...)
		case path != "" && (opts.Browser == "" || opts.Browser == name):
			return path, nil
		case path != "":
			others = append(others, name)
		}
	}
	return "", notInstalled(cmp.Or(opts.Browser, "Chrome, Chromium, Edge or Brave")+source, searched,
		others)
}

// Installed returns the paths of the browsers that are installed in usual places, in the order of
// Names.
func Installed() (all []string) {
	places := candidates()
	for _, name := range Names {
		if path, _ := installed(places, name); path != "" {
			all = append(all, path)
		}
	}
	return all
}

// InstallAdvice is the next step where no browser is installed.
func InstallAdvice() string { return advice() }

// notInstalled names the next step: another browser that is installed, else an install.
func notInstalled(want string, searched, others []string) error {
	next := fmt.Sprintf("%s, or set %s to its executable", advice(), EnvBrowser)
	if len(others) > 0 {
		next = "installed are: " + strings.Join(others, ", ")
	}
	return fmt.Errorf("no browser found: %s is not installed (searched: %s); %s", want,
		strings.Join(searched, ", "), next)
}

// installed returns the path of the browser with that name, or else the searched places.
func installed(places []candidate, name string) (path string, searched []string) {
	for _, c := range places {
		if c.browser != name {
			continue
		}
		if path, err := lookUp(c.place); err == nil {
			return path, nil
		}
		searched = append(searched, c.place)
	}
	return "", searched
}

// lookUp resolves a name on PATH or checks a file.
func lookUp(place string) (string, error) {
	path, err := exec.LookPath(place)
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return "", err
	}
	return filepath.Abs(path)
}
