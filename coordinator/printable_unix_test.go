//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"browser-coordinator/coordinator/terminal"
	"browser-coordinator/vscodeipc"
)

// hostile is a name that would set the terminal's title, clear the screen and show its
// end backwards. It also has an 8-bit control character and a second line.
const hostile = "shop\x1b]0;pwned\x07\x1b[2J\u009b31m\u202egnp\nspoof"

// TestNamesCannotDriveTheTerminal: the terminal shows a window's texts and does not
// interpret them. Programs read them unchanged.
func TestNamesCannotDriveTheTerminal(t *testing.T) {
	dir := t.TempDir()
	folder, err := vscodeipc.Canonical(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	folder = filepath.Join(folder, hostile)
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	s := bareWindow(t, dir, folder)
	if err := s.SetState(vscodeipc.State{Browser: &vscodeipc.Browser{URL: "ws://127.0.0.1:1/x", Product: "Chrome " + hostile, Via: "attached"}}); err != nil {
		t.Fatal(err)
	}
	elsewhere := t.TempDir()
	for _, args := range [][]string{
		{"windows"}, {"probe"}, {"windows", "--json"}, {"probe", "--json"},
		{"endpoint", "--workspace", folder}, {"endpoint", "--json", "--workspace", folder}, {"endpoint", "--workspace", elsewhere + "/" + hostile},
	} {
		t.Run(strings.ToValidUTF8(terminal.PrintableLine(strings.Join(args, " ")), ""), func(t *testing.T) {
			cmd := command(t.Context(), t, dir, args...)
			cmd.Dir = elsewhere
			var stderr strings.Builder
			cmd.Stderr = &stderr
			stdout, err := cmd.Output()
			if err != nil && !errors.As(err, new(*exec.ExitError)) {
				t.Fatal(err)
			}
			for _, out := range []string{string(stdout), stderr.String()} {
				for _, bad := range []string{"\x1b", "\x07", "\u009b", "\u202e", "\nspoof"} {
					if bad == "\nspoof" && args[0] == "endpoint" {
						continue // a message may have several lines
					}
					if strings.Contains(out, bad) {
						t.Errorf("%q is in %q", bad, out)
					}
				}
			}
			if !strings.Contains(string(stdout)+stderr.String(), "pwned") && args[0] != "endpoint" {
				t.Errorf("the name is not shown: %s%s", stdout, &stderr)
			}
			if args[0] == "windows" && len(args) > 1 {
				var read struct{ Windows []windowJSON }
				if err := json.Unmarshal(stdout, &read); err != nil || len(read.Windows) != 1 || *read.Windows[0].Workspace != folder || read.Windows[0].Browser.Product != "Chrome "+hostile {
					t.Errorf("a program reads %s, %v", stdout, err)
				}
			}
		})
	}
}
