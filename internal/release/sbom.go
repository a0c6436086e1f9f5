package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
)

// spdxPackage is a part of the program, SPDX 2.3 clause 7.
type spdxPackage struct {
	Name             string         `json:"name"`
	SPDXID           string         `json:"SPDXID"`
	VersionInfo      string         `json:"versionInfo"`
	DownloadLocation string         `json:"downloadLocation"`
	FilesAnalyzed    bool           `json:"filesAnalyzed"`
	ExternalRefs     []spdxExternal `json:"externalRefs,omitempty"`
}

type spdxExternal struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type spdxRelationship struct {
	From string `json:"spdxElementId"`
	To   string `json:"relatedSpdxElement"`
	Type string `json:"relationshipType"`
}

// sbom lists the modules in the programs of all systems, in SPDX 2.3.
func (r *release) sbom() error {
	const document, program = "SPDXRef-DOCUMENT", "SPDXRef-coordinator"
	packages := []spdxPackage{{Name: "browser-coordinator", SPDXID: program, VersionInfo: r.version, DownloadLocation: "NOASSERTION"}}
	relationships := []spdxRelationship{{document, program, "DESCRIBES"}}
	listed := map[string]bool{}
	for _, t := range r.targets {
		info, err := buildinfo.ReadFile(r.programOf(t))
		if err != nil {
			return err
		}
		for _, m := range append(info.Deps, &debug.Module{Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go")}) {
			locator := fmt.Sprintf("pkg:golang/%s@%s", m.Path, m.Version)
			id := fmt.Sprintf("SPDXRef-%x", sha256.Sum256([]byte(locator)))[:24]
			if listed[id] {
				continue
			}
			listed[id] = true
			packages = append(packages, spdxPackage{
				Name: m.Path, SPDXID: id, VersionInfo: m.Version, DownloadLocation: "NOASSERTION",
				ExternalRefs: []spdxExternal{{"PACKAGE-MANAGER", "purl", locator}},
			})
			relationships = append(relationships, spdxRelationship{program, id, "DEPENDS_ON"})
		}
	}
	name := "browser-coordinator-" + r.version
	text, err := json.MarshalIndent(map[string]any{
		"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": document, "name": name,
		"documentNamespace": r.baseURL + "/" + name + ".spdx.json",
		"creationInfo":      map[string]any{"created": epoch.Format("2006-01-02T15:04:05Z"), "creators": []string{"Tool: browser-coordinator-release"}},
		"packages":          packages, "relationships": relationships,
	}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, name+".spdx.json"), append(text, '\n'), 0o644)
}
