package toolstest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"browser-coordinator/coordinator/chrome"
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
	_, file, _, _ := runtime.Caller(0)
	from := filepath.Join(filepath.Dir(file), "../../extension/package.json")
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

// RunTest runs an exported test with Playwright, which is installed for the tests of the CDP clients.
func RunTest(t testing.TB, source string, env ...string) {
	t.Helper()
	_, file, _, _ := runtime.Caller(0)
	modules := filepath.Join(filepath.Dir(file), "../conformance/node_modules")
	cli := filepath.Join(modules, "@playwright/test/cli.js")
	if _, err := os.Stat(cli); err != nil {
		t.Fatalf("run the test with Playwright (npm ci in internal/conformance/ installs it): %v", err)
	}
	browser, err := chrome.Find(chrome.FindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	settings, err := json.Marshal(map[string]any{"testDir": ".", "use": map[string]any{
		"launchOptions": map[string]any{"executablePath": browser},
	}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	err = errors.Join(os.Symlink(modules, filepath.Join(dir, "node_modules")),
		os.WriteFile(filepath.Join(dir, "exported.spec.ts"), []byte(source), 0o600),
		os.WriteFile(filepath.Join(dir, "playwright.config.mjs"), []byte("export default "+string(settings)), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), "node", cli, "test", "--reporter=line", "--timeout=60000")
	run.Dir, run.Env = dir, append(os.Environ(), env...)
	if out, err := run.CombinedOutput(); err != nil {
		t.Errorf("Playwright: %v: %s\n%s", err, out, source)
	}
}
