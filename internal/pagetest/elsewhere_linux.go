package pagetest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"browser-coordinator/coordinator/chrome"
	"browser-coordinator/internal/must"
)

// Elsewhere runs a test in a browser that does not have this folder: a mount namespace
// stands for another machine. The calling test must not be parallel.
func Elsewhere(t *testing.T, folder string, test func(*testing.T)) {
	t.Helper()
	unshare := []string{"--mount"}
	if os.Getuid() != 0 {
		unshare = append(unshare, "--map-root-user")
	}
	if out, err := exec.Command("unshare", append(unshare, "true")...).CombinedOutput(); err != nil {
		must.Skip(t, "this system permits no mount namespace: %v %s", err, out)
	}
	found, err := chrome.Find(chrome.FindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "browser")
	hidden := fmt.Sprintf("#!/bin/sh\nmount -t tmpfs none '%s' && exec '%s' \"$@\"\n", folder, found)
	script := fmt.Sprintf("#!/bin/sh\nexec unshare %s '%s.hidden' \"$@\"\n", strings.Join(unshare, " "), program)
	if err := os.WriteFile(program+".hidden", []byte(hidden), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	browser, err := launchProgram(program, chrome.Options{})
	if err != nil {
		t.Fatal(err)
	}
	before := shared
	shared = browser
	defer func() { shared = before; browser.Close(context.Background()) }()
	test(t)
}
