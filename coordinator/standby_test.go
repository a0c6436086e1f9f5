package main

import (
	"bytes"
	"strings"
	"testing"
)

// runBeside runs a program while another coordinator serves, and returns its standard
// error.
func runBeside(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := command(t.Context(), t, dir, append([]string{"run"}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("run %q: %v\n%s", args, err, &stderr)
	}
	return stderr.String()
}

// A coordinator on standby reports which of its options have no effect yet, and reports
// when it serves.
func TestStandsBy(t *testing.T) {
	dir, workspace := t.TempDir(), t.TempDir()
	first := start(t, dir, "serve", "--workspace", workspace)
	second := start(t, dir, "serve", "--workspace", workspace, "--hold", "1s")
	if second.first != first.first {
		t.Errorf("the addresses are %s and %s", first.first, second.first)
	}
	second.stderr.await(t, "Another coordinator already serves this address. This one takes over when that one ends. Until then these flags have no effect: --hold.\n")

	window := start(t, dir, "window", "--headless", "--workspace", workspace, "--allow-close")
	window.stderr.await(t, "Another coordinator already serves the window's address", "no effect: --allow-close.\n", "is ready")
	window.stop(t)

	if said := runBeside(t, dir, "--workspace", workspace, "--launch", "--hold", "1s", "--", "true"); !strings.Contains(said, "The program uses the browser of that one, which may end with it. Until then these flags have no effect: --launch, --hold.\n") {
		t.Errorf("run --launch --hold says %q", said)
	}
	if said := runBeside(t, dir, "--workspace", workspace, "--allow-close", "--", "true"); !strings.Contains(said, "no effect: --allow-close.\n") {
		t.Errorf("run --allow-close says %q", said)
	}
	// Standby beside an open window is the usual case for run, so it is not reported.
	if said := runBeside(t, dir, "--workspace", workspace, "--", "true"); said != "" {
		t.Errorf("run says %q", said)
	}

	first.stop(t)
	second.stderr.await(t, "The other coordinator has ended. This one serves the address now: "+second.first+"\n")
}
