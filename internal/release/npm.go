package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// start is the command of the npm package.
//
//go:embed templates/start.js
var start []byte

const description = "Let an AI agent drive the browser that you debug in a VS Code window"

// npm packs the npm package, and one with the program for each system. The first has the
// others as optional dependencies, of which npm installs the one that fits the system: no
// script runs at the installation.
func (r *release) npm() error {
	fmt.Println("pack for npm")
	optional := map[string]string{}
	for _, t := range targets {
		optional[r.npmScope+"/"+t.node()] = r.version
	}
	readme, err := os.ReadFile(filepath.Join(r.repository, "README.md"))
	if err != nil {
		return err
	}
	common := map[string]any{
		"version": r.version, "description": description, "license": "MIT",
		"engines": map[string]string{"node": ">=18"},
	}
	if r.source != "" {
		common["repository"] = map[string]string{"type": "git", "url": "git+" + r.source + ".git"}
		common["bugs"], common["homepage"] = r.source+"/issues", r.source
	}
	starter := with(common, map[string]any{
		"name": "browser-coordinator", "bin": map[string]string{"browser-coordinator": "start.js",
			"coordinator": "start.js"},
		"mcpName": r.name, "config": map[string]string{"scope": r.npmScope}, "optionalDependencies": optional,
	})
	if err := r.pack("browser-coordinator", starter, map[string][]byte{"start.js": start,
		"README.md": readme}); err != nil {
		return err
	}
	licences, err := os.ReadFile(r.programNotices())
	if err != nil {
		return err
	}
	for _, t := range r.targets {
		program, err := os.ReadFile(r.programOf(t))
		if err != nil {
			return err
		}
		system, cpu, _ := strings.Cut(t.node(), "-")
		described := with(common, map[string]any{
			"name": r.npmScope + "/" + t.node(), "os": []string{system}, "cpu": []string{cpu}, "preferUnplugged": true,
		})
		if err := r.pack(t.node(), described, map[string][]byte{t.program(): program,
			noticesFile: licences}); err != nil {
			return err
		}
	}
	return nil
}

func with(common, extra map[string]any) map[string]any {
	all := maps.Clone(common)
	maps.Copy(all, extra)
	return all
}

// pack packs an npm package with these files.
func (r *release) pack(name string, described map[string]any, files map[string][]byte) error {
	dir := filepath.Join(r.work, "npm", name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	license, err := os.ReadFile(filepath.Join(r.repository, "LICENSE"))
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(described, "", "  ")
	if err != nil {
		return err
	}
	files["LICENSE"], files["package.json"] = license, append(text, '\n')
	for file, content := range files {
		mode := os.FileMode(0o644)
		if strings.HasPrefix(file, "coordinator") || strings.HasSuffix(file, ".js") {
			mode = 0o755
		}
		if err := os.WriteFile(filepath.Join(dir, file), content, mode); err != nil {
			return err
		}
	}
	return r.run(exec.Command("npm", "pack", "--silent", "--offline", "--pack-destination", r.out, dir))
}
