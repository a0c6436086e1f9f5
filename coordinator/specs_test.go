package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"browser-coordinator/internal/must"
)

// TestDocumentsNameTests: the documents name only tests that exist.
func TestDocumentsNameTests(t *testing.T) {
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
	goTest := regexp.MustCompile("`((?:Test|Fuzz|Benchmark)[A-Z]\\w+)[`/]")
	file := regexp.MustCompile("`((?:extension|coordinator|internal)/[\\w./-]+\\.test\\.(?:ts|mjs))`")
	for _, document := range documents(t) {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range goTest.FindAllSubmatch(text, -1) {
			if !declared[string(m[1])] {
				t.Errorf("%s names %s, which does not exist", document, m[1])
			}
		}
		for _, m := range file.FindAllSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join("..", string(m[1]))); err != nil {
				t.Errorf("%s names %s: %v", document, m[1], err)
			}
		}
	}
}

// TestTextsNameCommands: the documents, and the texts of the coordinator and the
// extension, name only commands and flags that exist.
func TestTextsNameCommands(t *testing.T) {
	p := new(program)
	root := p.root()
	root.InitDefaultHelpCmd()
	// In backquotes, or a line of an example.
	use := regexp.MustCompile("(?m)(?:`|^ *)coordinator ([a-z][a-z-]*)(.*?)(?:`|$)")
	flag := regexp.MustCompile(`--([a-z][a-z-]*)`)
	quoted := regexp.MustCompile(`'[^']*'`)
	named := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git" || d.Name() == "testdata" ||
			d.Name() == "artifacts") {
			return filepath.SkipDir
		}
		if !slices.Contains([]string{".md", ".go", ".ts", ".mjs", ".json", ".yml", ".tmpl"}, filepath.Ext(path)) ||
			strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range use.FindAllSubmatch(text, -1) {
			words := strings.Fields(string(m[2]))
			command := []string{string(m[1])}
			if command[0] == "do" && len(words) > 0 && words[0][0] >= 'a' && words[0][0] <= 'z' { // one of its commands
				command, words = []string{words[0]}, words[1:]
			}
			if len(words) > 0 { // of a group
				command = append(command, words[0])
			}
			cmd, _, err := root.Find(command)
			if err != nil || cmd == root || cmd.Hidden {
				t.Errorf("%s names %s: there is no such command", path, m[0])
				continue
			}
			named[cmd.Name()] = true
			p.addFlags(cmd)
			args, _, _ := strings.Cut(string(m[2])+" ", " -- ") // what follows is another program's
			args = quoted.ReplaceAllString(args, "")            // commands of `do`
			for _, f := range flag.FindAllStringSubmatch(args, -1) {
				if cmd.Flag(f[1]) == nil && f[1] != "help" {
					t.Errorf("%s names %s: there is no such flag", path, m[0])
				}
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(named) < 10 {
		t.Errorf("they name only the commands %v", named)
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
	path := regexp.MustCompile(
		"`((?:coordinator|cdpproxy|policy|vscodeipc|extension|internal|specs|adr|tools)/[\\w./-]*)`")
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

// TestDocsLinks: each link of a document leads to a file of the repository, and to a heading there.
func TestDocsLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading := regexp.MustCompile(`(?m)^#+ (.*)$`)
	linked := regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	notInAnchors := regexp.MustCompile(`[^\pL\pN_ -]`)
	read := func(path string) string { return string(must.Get(os.ReadFile(path))(t)) }
	anchors := func(path string) map[string]bool {
		named := map[string]bool{}
		for _, m := range heading.FindAllStringSubmatch(read(path), -1) {
			text := notInAnchors.ReplaceAllString(strings.ToLower(linked.ReplaceAllString(m[1], "$1")), "")
			named[strings.ReplaceAll(text, " ", "-")] = true
		}
		return named
	}
	links := 0
	for _, file := range documents(t) {
		for _, m := range link.FindAllStringSubmatch(read(file), -1) {
			path, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(path, ":") { // of another site
				continue
			}
			links++
			target := filepath.Join(filepath.Dir(file), path)
			if path == "" {
				target = file
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s: %v", file, m[1], err)
			} else if anchor != "" && filepath.Ext(target) == ".md" && !anchors(target)[anchor] {
				t.Errorf("%s links to %s: %s has no such heading", file, m[1], target)
			}
		}
	}
	if links < 100 {
		t.Errorf("they have only %d links", links)
	}
}

// documents are the Markdown files of the repository.
func documents(t *testing.T) []string {
	var files []string
	for _, pattern := range []string{"../*.md", "../adr/*.md", "../docs/*.md", "../extension/*.md", "../specs/*.md",
		"../specs/*/*.md"} {
		files = append(files, must.Get(filepath.Glob(pattern))(t)...)
	}
	return files
}
