package chrome

import (
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
	Getenv     func(string) string
}

// NotFoundError reports that there is no browser, where Find searched, and the next step.
type NotFoundError struct {
	Wanted string   // the requested browser; empty: any
	Looked []string // names on PATH and files that Find tried
	Advice string   // what to install, for this system
	// Installed are the other known browsers that are installed, if one was requested by
	// name.
	Installed []string
	// File: an executable was requested, and no browser by its name.
	File bool
	// Unusable: the file exists, but is no program.
	Unusable bool
	// Variable: the request came from EnvBrowser.
	Variable bool
}

func (e *NotFoundError) Error() string {
	wanted := e.Wanted
	if wanted == "" {
		wanted = "Chrome, Chromium, Edge or Brave"
	}
	if e.Variable {
		wanted += ", which $" + EnvBrowser + " names,"
	}
	looked := strings.Join(e.Looked, ", ")
	switch {
	case e.Unusable:
		return fmt.Sprintf("no browser found: %s is there, but is no program that can be started; name the browser's executable", wanted)
	case e.File:
		return fmt.Sprintf("no browser found: %s is not there", wanted)
	case len(e.Installed) > 0:
		return fmt.Sprintf("no browser found: %s is not there (looked for %s); installed are: %s", wanted, looked, strings.Join(e.Installed, ", "))
	}
	return fmt.Sprintf("no browser found: %s is not there (looked for %s); %s, or set %s to its executable",
		wanted, looked, e.Advice, EnvBrowser)
}

// candidate is one possible place of a browser: a name on PATH, or a file.
type candidate struct{ browser, place string }

// Find returns the browser to launch: the given executable, the one in the environment,
// or the first that is installed in a usual place.
func Find(opts FindOptions) (Installation, error) {
	if opts.Getenv == nil {
		opts.Getenv = os.Getenv
	}
	given, variable := opts.Executable, false
	if given == "" && opts.Browser == "" {
		given = opts.Getenv(EnvBrowser)
		variable = given != ""
	}
	if slices.Contains(Names, given) {
		opts.Browser, given = given, ""
	}
	if given != "" {
		path, err := lookUp(given)
		if err != nil {
			_, statErr := os.Stat(given)
			return Installation{}, &NotFoundError{Wanted: given, Looked: []string{given}, File: true, Unusable: statErr == nil, Variable: variable}
		}
		return Installation{Path: path}, nil
	}
	if opts.Browser != "" && !slices.Contains(Names, opts.Browser) {
		return Installation{}, fmt.Errorf("unknown browser %q: known are %s", opts.Browser, strings.Join(Names, ", "))
	}
	missing := &NotFoundError{Wanted: opts.Browser, Advice: advice(), Variable: variable}
	places := candidates(opts.Getenv)
	for _, name := range Names {
		path, looked := installed(places, name)
		switch {
		case opts.Browser != "" && opts.Browser != name:
			if path != "" {
				missing.Installed = append(missing.Installed, name)
			}
		case path != "":
			return Installation{Name: name, Path: path}, nil
		default:
			missing.Looked = append(missing.Looked, looked...)
		}
	}
	return Installation{}, missing
}

// installed returns the path of the browser with that name; empty if there is none.
// looked has the searched places.
func installed(places []candidate, name string) (path string, looked []string) {
	for _, c := range places {
		if c.browser != name {
			continue
		}
		if path, err := lookUp(c.place); err == nil {
			return path, nil
		}
		looked = append(looked, c.place)
	}
	return "", looked
}

// lookUp resolves a name on PATH or checks a file.
func lookUp(place string) (string, error) {
	path, err := exec.LookPath(place)
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return "", err
	}
	return filepath.Abs(path)
}
