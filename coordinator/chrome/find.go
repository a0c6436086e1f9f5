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

// Installation is a browser on this machine.
type Installation struct {
	Name string // one of Names; empty for an executable that was given
	Path string // absolute
}

// FindOptions narrow the search.
type FindOptions struct {
	Executable string // use just this one; empty: the environment's, else search
	Browser    string // one of Names; empty: any
}

// candidate is one possible place of a browser: a name on PATH, or a file.
type candidate struct{ browser, place string }

// Find returns the browser to launch: the given executable, the one in the environment,
// or the first that is installed in a usual place. The error names what was searched and
// the next step.
func Find(opts FindOptions) (Installation, error) {
	given, source := opts.Executable, ""
	if given == "" && opts.Browser == "" {
		if given = os.Getenv(EnvBrowser); given != "" {
			source = ", which $" + EnvBrowser + " names,"
		}
	}
	if slices.Contains(Names, given) {
		opts.Browser, given = given, ""
	}
	if given != "" {
		path, err := lookUp(given)
		if err == nil {
			return Installation{Path: path}, nil
		}
		if _, err := os.Stat(given); err == nil {
			return Installation{}, fmt.Errorf("no browser found: %s%s is not a program that can be started; name the "+
				"browser's executable", given, source)
		}
		return Installation{}, fmt.Errorf("no browser found: %s%s does not exist", given, source)
	}
	if opts.Browser != "" && !slices.Contains(Names, opts.Browser) {
		return Installation{}, fmt.Errorf("unknown browser %q: want one of %s", opts.Browser, strings.Join(Names, ", "))
	}
	var others, searched []string
	places := candidates()
	for _, name := range Names {
		path, missing := installed(places, name)
		switch {
		case path == "" && (opts.Browser == "" || opts.Browser == name):
			searched = append(searched, missing...)
		case path != "" && (opts.Browser == "" || opts.Browser == name):
			return Installation{Name: name, Path: path}, nil
		case path != "":
			others = append(others, name)
		}
	}
	return Installation{}, notInstalled(cmp.Or(opts.Browser, "Chrome, Chromium, Edge or Brave")+source, searched,
		others)
}

// Installed returns the browsers that are installed in usual places, in the order of
// Names.
func Installed() (all []Installation) {
	places := candidates()
	for _, name := range Names {
		if path, _ := installed(places, name); path != "" {
			all = append(all, Installation{name, path})
		}
	}
	return all
}

// InstallAdvice is the next step where no browser is installed.
func InstallAdvice() string { return advice() }

// notInstalled names the next step: another browser that is installed, else an install.
func notInstalled(wanted string, searched, others []string) error {
	next := fmt.Sprintf("%s, or set %s to its executable", advice(), EnvBrowser)
	if len(others) > 0 {
		next = "installed are: " + strings.Join(others, ", ")
	}
	return fmt.Errorf("no browser found: %s is not installed (searched: %s); %s", wanted,
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
