package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// spdxPackage is one that a release has or contains, SPDX 2.3 clause 7.
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

// sbom lists the modules in the program and the npm packages in the extension, in SPDX 2.3.
func (r *release) sbom() error {
	modules, err := r.modules()
	if err != nil {
		return err
	}
	bundled, err := r.bundled()
	if err != nil {
		return err
	}
	const document, program, extension = "SPDXRef-DOCUMENT", "SPDXRef-coordinator", "SPDXRef-extension"
	packages := []spdxPackage{
		{Name: "browser-coordinator", SPDXID: program, VersionInfo: r.version, DownloadLocation: "NOASSERTION"},
		{Name: "browser-coordinator (VS Code extension)", SPDXID: extension, VersionInfo: r.version,
			DownloadLocation: "NOASSERTION"},
	}
	relationships := []spdxRelationship{{document, program, "DESCRIBES"}, {document, extension, "DESCRIBES"}}
	for _, p := range slices.Concat(modules, bundled) {
		owner, locator := program, fmt.Sprintf("pkg:golang/%s@%s", p.Name, p.Version)
		if p.npm {
			owner, locator = extension, fmt.Sprintf("pkg:npm/%s@%s", strings.Replace(p.Name, "@", "%40", 1), p.Version)
		}
		id := fmt.Sprintf("SPDXRef-%x", sha256.Sum256([]byte(locator)))[:24]
		packages = append(packages, spdxPackage{
			Name: p.Name, SPDXID: id, VersionInfo: p.Version, DownloadLocation: "NOASSERTION",
			ExternalRefs: []spdxExternal{{"PACKAGE-MANAGER", "purl", locator}},
		})
		relationships = append(relationships, spdxRelationship{owner, id, "DEPENDS_ON"})
	}
	name := "browser-coordinator-" + r.version
	text, err := json.MarshalIndent(map[string]any{
		"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": document, "name": name,
		"documentNamespace": r.baseURL + "/" + name + ".spdx.json",
		"creationInfo": map[string]any{"created": epoch.Format("2006-01-02T15:04:05Z"),
			"creators": []string{"Tool: browser-coordinator-release"}},
		"packages": packages, "relationships": relationships,
	}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, name+".spdx.json"), append(text, '\n'), 0o644)
}
