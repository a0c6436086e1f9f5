package toolstest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

//go:embed typescript.mjs
var parseScript string

// Parsed is an exported test as TypeScript parses it.
type Parsed struct {
	Errors   []string // of its syntax
	Shape    string   // its code without comments, with all texts of string literals removed
	Texts    []string // those texts, in their order
	Comments []string
}

// ParseTest parses an exported test.
func ParseTest(t testing.TB, source string) (p Parsed) {
	t.Helper()
	_, here, _, _ := runtime.Caller(0)
	from := filepath.Join(filepath.Dir(here), "../../extension/package.json")
	node := exec.Command("node", "--input-type=module", "--eval", parseScript, "--", from)
	node.Stdin = strings.NewReader(source)
	var failure bytes.Buffer
	node.Stderr = &failure
	out, err := node.Output()
	if err == nil {
		err = json.Unmarshal(out, &p)
	}
	if err != nil {
		t.Fatalf("parse with the extension's TypeScript (npm ci in extension/ installs it): %v: %s", err,
			failure.String())
	}
	return p
}
