package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// build builds the program for each system, and for this one.
func (r *release) build() error {
	for _, t := range append(slices.Clone(r.targets), host) {
		if _, err := os.Stat(r.programOf(t)); err == nil {
			continue
		}
		fmt.Println("build", t.node())
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w -X main.release="+r.version, "-o",
			r.programOf(t), "./coordinator")
		cmd.Env = append(os.Environ(), "GOOS="+t.goos, "GOARCH="+t.goarch, "CGO_ENABLED=0", "GOWORK=off")
		if err := r.run(cmd); err != nil {
			return fmt.Errorf("build for %s: %w", t.node(), err)
		}
	}
	return nil
}

// run runs a command in the repository. Its output is part of the error.
func (r *release) run(cmd *exec.Cmd) error {
	if cmd.Dir == "" {
		cmd.Dir = r.repository
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return nil
}

// extension makes the extension's packages, which hold the program.
func (r *release) extension() error {
	fmt.Println("package the extension")
	cmd := exec.Command("npm", "--prefix", "extension", "run", "--silent", "package", "--")
	if r.source != "" {
		cmd.Args = append(cmd.Args, "--repository", r.source)
	}
	for _, t := range r.targets {
		cmd.Args = append(cmd.Args, t.node())
	}
	cmd.Env = append(os.Environ(), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", epoch.Unix()))
	if err := r.run(cmd); err != nil {
		return err
	}
	for _, t := range r.targets {
		name := "browser-coordinator-" + t.node() + ".vsix"
		text, err := os.ReadFile(filepath.Join(r.repository, "extension", "dist", name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(r.out, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
