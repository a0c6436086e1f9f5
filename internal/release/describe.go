package main

import (
	"cmp"
	"embed"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

//go:embed templates/*.tmpl
var templates embed.FS

// descriptions fills in what the MCP registry, Homebrew and Scoop need, with the checksums
// of the archives.
func (r *release) descriptions() error {
	if len(r.targets) < len(targets) {
		return nil
	}
	sums := map[string]string{}
	for _, t := range r.targets {
		sum, err := sum(filepath.Join(r.out, r.archive(t)))
		if err != nil {
			return err
		}
		sums[t.goos+"/"+t.goarch] = sum
	}
	values := map[string]any{
		"Version": r.version, "Name": r.name, "Description": description, "BaseURL": r.baseURL,
		"Source": r.source, "Homepage": cmp.Or(r.source, r.baseURL),
	}
	functions := template.FuncMap{"sum": func(system string) string { return sums[system] }}
	all, err := template.New("").Funcs(functions).ParseFS(templates, "templates/*.tmpl")
	if err != nil {
		return err
	}
	for _, t := range all.Templates() {
		name, isFile := strings.CutSuffix(t.Name(), ".tmpl")
		if !isFile {
			continue
		}
		var text strings.Builder
		if err := t.Execute(&text, values); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(r.out, name), []byte(text.String()), 0o644); err != nil {
			return err
		}
	}
	return nil
}
