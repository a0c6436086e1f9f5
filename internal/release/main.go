// Command release makes what a release consists of, in a folder: an archive of the program
// for each system with completions and man pages, the extension's packages, the npm
// packages, a list of the parts (SPDX), checksums, and the descriptions for the MCP
// registry, Homebrew and Scoop. Each package has the licences of the code of others in it.
// It publishes nothing.
//
// Two runs on one machine give the same bytes: no file has a time or a path of its build.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// target is a system that the program is built for.
type target struct{ goos, goarch string }

var targets = []target{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"},
}

// node is the system's name in Node and VS Code: linux-x64, win32-x64.
func (t target) node() string {
	names := strings.NewReplacer("windows", "win32", "amd64", "x64")
	return names.Replace(t.goos) + "-" + names.Replace(t.goarch)
}

// program is the name of the program's file.
func (t target) program() string {
	if t.goos == "windows" {
		return "coordinator.exe"
	}
	return "coordinator"
}

// release is what all steps share.
type release struct {
	repository string
	out        string // the folder for the results
	work       string // the folder for what they are made from
	version    string
	baseURL    string // the address that will have the archives
	source     string // the address of the public repository; empty: there is none
	npmScope   string
	name       string // in the MCP registry
	targets    []target
}

func main() {
	out := flag.String("out", "dist", "put the release into the new folder `DIR`")
	filter := flag.String("target", "", "make only what `SYSTEM`, for example linux-x64, needs")
	noticesOnly := flag.String("notices", "", "write only the licences of what the extension's package contains, to "+
		"`FILE`")
	baseURL := flag.String("base-url", "https://example.com/browser-coordinator/releases",
		"name `URL` as the place of the archives")
	source := flag.String("repository-url", "", "link the packages to the public repository at `URL`")
	scope := flag.String("npm-scope", "@browser-coordinator", "put the npm packages with the programs into `SCOPE`")
	name := flag.String("registry-name", "com.example/browser-coordinator",
		"describe the server to the MCP registry as `NAME`")
	flag.Parse()
	r := &release{baseURL: *baseURL, source: strings.TrimSuffix(*source, "/"), npmScope: *scope, name: *name,
		targets: targets}
	var err error
	if *noticesOnly != "" {
		r.repository = "."
		err = r.writeNotices(*noticesOnly, true)
	} else {
		err = r.make(*out, *filter)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func (r *release) make(out, filter string) (err error) {
	if r.repository, err = os.Getwd(); err != nil {
		return err
	}
	if filter != "" {
		r.targets = slices.DeleteFunc(slices.Clone(targets), func(t target) bool { return t.node() != filter })
		if len(r.targets) == 0 {
			return fmt.Errorf("there is no system %s", filter)
		}
	}
	if r.out, err = filepath.Abs(out); err != nil {
		return err
	}
	if entries, _ := os.ReadDir(r.out); len(entries) > 0 {
		return fmt.Errorf("%s is not empty: name a new folder, or delete it", r.out)
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	if r.work, err = os.MkdirTemp("", "browser-coordinator-release-"); err != nil {
		return err
	}
	defer os.RemoveAll(r.work)
	if r.version, err = readVersion(filepath.Join(r.repository, "extension", "package.json")); err != nil {
		return err
	}
	for _, step := range []func() error{
		r.build, r.notices, r.manuals, r.archives, r.npm, r.extension, r.sbom, r.checksums, r.descriptions,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// readVersion reads the version of a package.json. The program and the extension have the
// same.
func readVersion(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	var described struct{ Version string }
	if err := json.Unmarshal(text, &described); err != nil || described.Version == "" {
		return "", fmt.Errorf("%s names no version: %v", file, err)
	}
	return described.Version, nil
}

// host is the system of this machine.
var host = target{runtime.GOOS, runtime.GOARCH}

// programOf is the built program for a system.
func (r *release) programOf(t target) string { return filepath.Join(r.work, t.node(), t.program()) }
