// Command words lists what the program says to its users: errors, notices, findings, logs
// and help texts, each with its place. A person reads the list once, and rewrites what they
// would ask back about.
//
//	go run ./internal/words                     # all of it
//	go run ./internal/words ./coordinator/setup # one folder
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// speakers are the functions whose texts a user reads.
var speakers = []string{
	"Errorf", "New", "wrongUse", "notice", // errors and notices
	"finding", "ok", "unknown", "unusable", "refuse", "refused", "failure", // findings and refusals
	"Warn", "Info", "Error", // logs
	"StringVar", "StringVarP", "BoolVar", "BoolVarP", "IntVar", "DurationVar", "StringSliceVar", "Var", "Func", // flags
}

// fields are those of a command, of an error and of a tool.
var fields = []string{"Short", "Long", "Reason", "Fix", "Title", "Description"}

// skipped are the folders of what only the makers run.
var skipped = []string{"testdata", "node_modules", "bench", "soak", "cdptest", "pagetest", "toolstest", "gridtest",
	"conformance"}

func main() {
	folders := os.Args[1:]
	if len(folders) == 0 {
		folders = []string{"coordinator", "cdpproxy", "policy", "vscodeipc", "internal"}
	}
	for _, folder := range folders {
		if err := filepath.WalkDir(folder, visit); err != nil {
			fmt.Fprintln(os.Stderr, "words:", err)
			os.Exit(1)
		}
	}
}

func visit(path string, d fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	if d.IsDir() && slices.Contains(skipped, d.Name()) {
		return filepath.SkipDir
	}
	if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for _, line := range words(path, text) {
		fmt.Println(line)
	}
	return nil
}

// words are the texts in a Go file for its users, each with its place.
func words(path string, source []byte) (lines []string) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, source, parser.SkipObjectResolution)
	if err != nil {
		return []string{fmt.Sprintf("%s: %v", path, err)}
	}
	add := func(e ast.Expr) {
		if text := literal(e); strings.Contains(text, " ") { // a single word is a name
			lines = append(lines, fmt.Sprintf("%s: %s", files.Position(e.Pos()),
				strings.Join(strings.Fields(text), " ")))
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if slices.Contains(speakers, name(n.Fun)) {
				for _, argument := range n.Args {
					add(argument)
				}
			}
		case *ast.KeyValueExpr:
			if key, isName := n.Key.(*ast.Ident); isName && slices.Contains(fields, key.Name) {
				add(n.Value)
			}
		}
		return true
	})
	return lines
}

// name is that of a function without its package.
func name(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// literal is the text of a string, with … in place of what is only known when it runs.
func literal(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(e.Value)
		return text
	case *ast.BinaryExpr:
		if before, after := literal(e.X), literal(e.Y); before+after != "" {
			return orUnknown(before) + orUnknown(after)
		}
	}
	return ""
}

func orUnknown(text string) string {
	if text == "" {
		return "…"
	}
	return text
}
