package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// noticesFile is what packages have of the licences of others' code in them.
const noticesFile = "THIRD-PARTY-NOTICES.txt"

// part is code of others in the program or in the extension's bundle.
type part struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	License string `json:"license"` // its name, if the part has one
	Folder  string `json:"folder"`
	npm     bool
}

// modules are the parts of the program, for all systems. They are found in the module cache.
func (r *release) modules() ([]part, error) {
	found := map[string]part{}
	for _, t := range targets {
		cmd := exec.Command("go", "list", "-deps", "-f",
			"{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}", "./coordinator")
		cmd.Dir, cmd.Env = r.repository, append(os.Environ(), "GOOS="+t.goos, "GOARCH="+t.goarch, "CGO_ENABLED=0",
			"GOWORK=off")
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("list the modules for %s: %w", t.node(), err)
		}
		for line := range strings.Lines(string(out)) {
			if fields := strings.Split(strings.TrimSpace(line), "\t"); len(fields) == 3 {
				found[fields[0]] = part{Name: fields[0], Version: fields[1], Folder: fields[2]}
			}
		}
	}
	out, err := exec.Command("go", "env", "GOROOT", "GOVERSION").Output()
	root, version, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	// Scripts of others in the program.
	found["axe-core"] = part{
		Name: "axe-core", Version: "4.14.1, whose source is at https://github.com/dequelabs/axe-core",
		Folder: filepath.Join(r.repository, "coordinator", "page", "audit", "axe"),
	}
	found["std"] = part{Name: "std", Version: strings.TrimPrefix(version, "go"), Folder: root}
	return sorted(slices.Collect(maps.Values(found))), err
}

// bundled are the npm packages in the extension's bundle, as its build has listed them.
func (r *release) bundled() (parts []part, err error) {
	text, err := os.ReadFile(filepath.Join(r.repository, "extension", "dist", "bundled.json"))
	if err == nil {
		err = json.Unmarshal(text, &parts)
	}
	for i := range parts {
		parts[i].Folder, parts[i].npm = filepath.Join(r.repository, "extension", parts[i].Folder), true
	}
	return sorted(parts), err
}

func sorted(parts []part) []part {
	slices.SortFunc(parts, func(a, b part) int { return strings.Compare(a.Name, b.Name) })
	return parts
}

// notices are the licences of parts.
func notices(parts []part) (string, error) {
	var b strings.Builder
	fmt.Fprintln(&b, "Browser Coordinator contains code of others, under these licences.")
	for _, p := range parts {
		texts, err := licences(p.Folder)
		if err != nil {
			return "", err
		}
		if len(texts) == 0 && p.License != "" { // some npm packages have no file for it
			texts = []string{"Licence: " + p.License}
		}
		if len(texts) == 0 {
			return "", fmt.Errorf("%s %s has no licence in %s", p.Name, p.Version, p.Folder)
		}
		fmt.Fprintf(&b, "\n%s\n%s %s\n", strings.Repeat("=", 80), p.Name, p.Version)
		for _, text := range texts {
			fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")))
		}
	}
	return b.String(), nil
}

// licences are the texts of the files that a folder has of its licence.
func licences(folder string) (texts []string, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		isLicence := slices.ContainsFunc([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE"},
			func(start string) bool { return strings.HasPrefix(name, start) })
		if !e.Type().IsRegular() || !isLicence {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		texts = append(texts, string(text))
	}
	return texts, nil
}

// writeNotices writes the notices of the program, and of the extension too if its bundle is
// built.
func (r *release) writeNotices(file string, withExtension bool) error {
	parts, err := r.modules()
	if err != nil {
		return err
	}
	if withExtension {
		bundled, err := r.bundled()
		if errors.Is(err, fs.ErrNotExist) {
			return errors.New("the extension is not built: npm --prefix extension run build")
		} else if err != nil {
			return err
		}
		parts = append(parts, bundled...)
	}
	text, err := notices(parts)
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

func (r *release) programNotices() string { return filepath.Join(r.work, noticesFile) }

func (r *release) notices() error { return r.writeNotices(r.programNotices(), false) }
