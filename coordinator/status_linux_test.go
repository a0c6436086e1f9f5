package main

import (
	"os"
	"strings"
	"testing"
)

// On a terminal the status follows the windows until the user interrupts it, and leaves
// the last one behind.
func TestLive(t *testing.T) {
	t.Parallel()
	dir, shop := t.TempDir(), t.TempDir()
	cmd, shown := onTerminal(t, dir, "status")
	shown.await(t, "\x1b[?1049h", "no endpoint is served")
	openWindow(t, dir, shop)
	shown.await(t, canonical(t, shop), " (terminal, process ")
	cmd.Process.Signal(os.Interrupt)
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	shown.await(t, "\x1b[?1049l")
	if _, left, _ := strings.Cut(shown.String(), "\x1b[?1049l"); !strings.Contains(left, canonical(t, shop)) {
		t.Errorf("it leaves %q", left)
	}
}

// The help fills the lines of the terminal.
func TestHelpFillsTerminal(t *testing.T) {
	t.Parallel()
	cmd, shown := onTerminal(t, t.TempDir(), "help", "status")
	shown.await(t, "what clients may do there, who serves the endpoints, and", "Flags:")
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
