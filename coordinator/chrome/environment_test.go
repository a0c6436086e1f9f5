package chrome

import (
	"slices"
	"testing"
)

// A browser gets no credentials for a provider: its pages' processes have a copy.
func TestEnvironment(t *testing.T) {
	got := environment([]string{"A=b", "BROWSER_COORDINATOR_GRID=https://ada:secret@grid.test",
		"BROWSER_COORDINATOR_ATTACH=wss://x?secret", "BROWSER_COORDINATOR_HEADERS=A: secret", "VSCODE_PID=1"})
	if !slices.Equal(got, []string{"A=b"}) {
		t.Errorf("%q", got)
	}
}
