package main

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"browser-coordinator/internal/must"
)

// On a terminal, `status --watch` follows the windows until the user interrupts it, and leaves
// the last one behind.
func TestLive(t *testing.T) {
	t.Parallel()
	dir, shop := t.TempDir(), t.TempDir()
	cmd, display := onTerminal(t, dir, "status", "--watch")
	display.await(t, "\x1b[?1049h", "no endpoint is served")
	openWindow(t, dir, shop)
	display.await(t, canonical(t, shop), " (terminal, process ")
	cmd.Process.Signal(os.Interrupt)
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	display.await(t, "\x1b[?1049l")
	if _, left, _ := strings.Cut(display.String(), "\x1b[?1049l"); !strings.Contains(left, canonical(t, shop)) {
		t.Errorf("it leaves %q", left)
	}
}

// Elsewhere `status --watch` prints each change, and ends once nobody reads it, even if nothing
// changes any more.
func TestStatusWatch(t *testing.T) {
	t.Parallel()
	dir, shop := t.TempDir(), t.TempDir()
	for _, args := range [][]string{{"status", "--watch"}, {"status", "--watch", "--json"}} {
		cmd := command(t.Context(), t, dir, args...)
		stdout, err := cmd.StdoutPipe()
		must.Do(t, err)
		stderr := new(printed)
		cmd.Stderr = stderr
		must.Do(t, cmd.Start())
		lines := bufio.NewScanner(stdout)
		await := func(want string) {
			t.Helper()
			for lines.Scan() {
				if strings.Contains(lines.Text(), want) {
					return
				}
			}
			t.Fatalf("%v ended before %q: %s", args, want, stderr)
		}
		if len(args) == 2 {
			stderr.await(t, "No window is open")
		} else {
			await(`"windows":[]`)
		}
		w := openWindow(t, dir, shop)
		await(canonical(t, shop))
		if err := stdout.Close(); err != nil {
			t.Error(err)
		}
		w.stop(t) // the watcher may write just when its reader has ended
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v ended with %v: %s", args, err, stderr)
		}
	}
}

// The help fills the lines of the terminal.
func TestHelpFillsTerminal(t *testing.T) {
	t.Parallel()
	cmd, display := onTerminal(t, t.TempDir(), "help", "status")
	display.await(t, "what clients may do there, who serves the endpoints, and", "Flags:")
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
