package userchrome

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Names are the browsers whose profile folders are known.
var Names = []string{"chrome", "chrome-beta", "chrome-canary", "chromium", "edge", "brave"}

// products are their names for people.
var products = map[string]string{
	"chrome": "Chrome", "chrome-beta": "Chrome Beta", "chrome-canary": "Chrome Canary", "chromium": "Chromium",
	"edge": "Microsoft Edge", "brave": "Brave",
}

// Browser is one of the user's browsers: one of Names, or a profile folder.
type Browser struct {
	product string   // for people
	folders []string // of its profiles, the usual ones of this system; one if it was given
}

// Parse reads a name, or the path of a profile folder; ok: it is one of them, and no address.
func Parse(text string) (b Browser, ok bool, err error) {
	if slices.Contains(Names, text) {
		folders := profileFolders(runtime.GOOS, text, os.Getenv)
		for i, folder := range folders {
			folders[i] = filepath.FromSlash(folder)
		}
		return Browser{products[text], folders}, true, nil
	}
	if strings.Contains(text, "://") || !strings.ContainsAny(text, `/\`) && text != "." && text != ".." {
		return b, false, nil
	}
	folder, err := filepath.Abs(text)
	if err == nil {
		folder, err = filepath.EvalSymlinks(folder) // two names of a folder mean one connection
	}
	if err == nil {
		var info os.FileInfo
		if info, err = os.Stat(folder); err == nil && !info.IsDir() {
			err = errors.New("it is a file: name the folder around it")
		}
	}
	if err != nil {
		return b, true, fmt.Errorf("no profile folder of a browser at %s: %w", text, err)
	}
	return Browser{"Chrome", []string{folder}}, true, nil
}

// Find returns the one of the user's browsers that lets programs connect.
func Find() (Browser, error) {
	var open []string
	var errs []error
	for _, name := range Names {
		b, _, _ := Parse(name)
		if len(b.usual()) == 0 {
			continue
		}
		if _, err := b.choose(); err != nil {
			errs = append(errs, err)
		} else {
			open = append(open, name)
		}
	}
	switch {
	case len(open) == 1:
		b, _, err := Parse(open[0])
		return b, err
	case len(open) > 1:
		return Browser{}, fmt.Errorf("several of your browsers let programs connect: name one of %s",
			strings.Join(open, ", "))
	case len(errs) > 0:
		return Browser{}, slices.MaxFunc(errs, func(x, y error) int { return cmp.Compare(weight(x), weight(y)) })
	}
	return Browser{}, fmt.Errorf("no browser of yours was found: start one, %s", switchOn)
}

// Name is the browser for people, within a sentence.
func (b Browser) Name() string { return "your own " + b.product }

// usual returns those of the folders that exist, without links.
func (b Browser) usual() (present []string) {
	for _, folder := range b.folders {
		if resolved, err := filepath.EvalSymlinks(folder); err == nil && !slices.Contains(present, resolved) {
			present = append(present, resolved)
		}
	}
	return present
}

// choose finds the one profile folder whose browser lets programs connect.
func (b Browser) choose() (*port, error) {
	folders := b.usual()
	if len(folders) == 0 {
		return nil, fmt.Errorf("%s has no profile folder at %s: start it once, or name the folder that "+
			"chrome://version shows, without its last part, with --attach DIR", b.Name(), strings.Join(b.folders, " or "))
	}
	var open []*port
	var errs []error
	for _, folder := range folders {
		p, err := b.readPort(folder)
		if err == nil {
			open = append(open, p)
		}
		errs = append(errs, err)
	}
	switch len(open) {
	case 1:
		return open[0], nil
	case 0:
		// One that runs says more than one that does not.
		return nil, slices.MaxFunc(errs, func(x, y error) int { return cmp.Compare(weight(x), weight(y)) })
	}
	var named []string
	for _, p := range open {
		named = append(named, p.folder)
	}
	return nil, fmt.Errorf("several browsers run that could be %s: name the profile folder of one with --attach DIR. "+
		"They are at %s", b.Name(), strings.Join(named, ", "))
}

func weight(err error) int {
	switch {
	case errors.As(err, new(*offError)):
		return 2
	case errors.As(err, new(*endedError)):
		return 0
	}
	return 1
}
