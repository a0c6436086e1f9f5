package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// What a reader can hold in the head: see CONTRIBUTING.md.
const (
	maxFields  = 15 // of a struct
	maxMethods = 40 // of a type
	maxFiles   = 25 // of a folder, without tests
)

func TestSizes(t *testing.T) {
	t.Parallel()
	files, methods := map[string]int{}, map[string]int{}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := entry.Name(); entry.IsDir() && (name == "node_modules" || name == "artifacts" || len(name) > 2 && name[0] == '.') {
			return fs.SkipDir
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		folder := filepath.Dir(path)
		files[folder]++
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeSpec:
				if s, ok := n.Type.(*ast.StructType); ok && s.Fields.NumFields() > maxFields {
					t.Errorf("%s.%s has %d fields", folder, n.Name, s.Fields.NumFields())
				}
			case *ast.FuncDecl:
				if n.Recv == nil {
					break
				}
				receiver := n.Recv.List[0].Type
				if pointer, ok := receiver.(*ast.StarExpr); ok {
					receiver = pointer.X
				}
				if name, ok := receiver.(*ast.Ident); ok {
					methods[folder+"."+name.Name]++
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for folder, n := range files {
		if n > maxFiles {
			t.Errorf("%s has %d files", folder, n)
		}
	}
	for name, n := range methods {
		if n > maxMethods {
			t.Errorf("%s has %d methods", name, n)
		}
	}
}
