package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSpecsNameTests: the specs name only tests that exist.
func TestSpecsNameTests(t *testing.T) {
	declared := map[string]bool{}
	declaration := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(`)
	err := filepath.WalkDir("..", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range declaration.FindAllSubmatch(text, -1) {
			declared[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	specs, err := filepath.Glob("../specs/*.md")
	if err != nil || len(specs) == 0 {
		t.Fatalf("%d specs, %v", len(specs), err)
	}
	goTest := regexp.MustCompile("`((?:Test|Fuzz|Benchmark)[A-Z]\\w+)[`/]")
	file := regexp.MustCompile("`((?:extension|coordinator|internal)/[\\w./-]+\\.test\\.(?:ts|mjs))`")
	for _, spec := range specs {
		text, err := os.ReadFile(spec)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range goTest.FindAllSubmatch(text, -1) {
			if !declared[string(m[1])] {
				t.Errorf("%s names %s, which does not exist", spec, m[1])
			}
		}
		for _, m := range file.FindAllSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join("..", string(m[1]))); err != nil {
				t.Errorf("%s names %s: %v", spec, m[1], err)
			}
		}
	}
}

// TestContributingNamesFiles: CONTRIBUTING.md names only folders and files that exist,
// and every package.
func TestContributingNamesFiles(t *testing.T) {
	text, err := os.ReadFile("../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	path := regexp.MustCompile("`((?:coordinator|cdpproxy|policy|vscodeipc|extension|internal|specs|adr|tools)/[\\w./-]*)`")
	for _, m := range path.FindAllSubmatch(text, -1) {
		named[string(m[1])] = true
		if _, err := os.Stat(filepath.Join("..", string(m[1]))); err != nil {
			t.Errorf("CONTRIBUTING.md names %s: %v", m[1], err)
		}
	}
	for _, p := range ourPackages(t) {
		folder := strings.TrimPrefix(p.ImportPath, module+"/") + "/"
		part := regexp.MustCompile(`^(extension/e2e|specs|internal/bench/record)/`) // of what is named
		if !named[folder] && !part.MatchString(folder) {
			t.Errorf("CONTRIBUTING.md does not say what %s is for", folder)
		}
	}
}
