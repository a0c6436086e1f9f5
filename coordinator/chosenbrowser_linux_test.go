package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"browser-coordinator/coordinator/chrome"
)

// sayingBrowser puts a browser of that name into a folder. It records its arguments and
// then becomes the real browser. The test machine has no screen, so a browser that
// should have a window runs without one.
func sayingBrowser(t *testing.T, dir, name string) (path string, started func() []string) {
	t.Helper()
	found, err := chrome.Find(chrome.FindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	path, said := filepath.Join(dir, name), filepath.Join(dir, name+".args")
	script := fmt.Sprintf("#!/bin/sh\nprintf '%%s\\n' \"$@\" > '%s'\nexec '%s' --headless=new \"$@\"\n", said, found.Path)
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path, func() []string {
		t.Helper()
		args, err := os.ReadFile(said)
		if err != nil {
			t.Fatalf("%s was not started: %v", name, err)
		}
		return strings.Split(string(args), "\n")
	}
}

// The agent's own browser is the chosen one, with a window or without.
func TestChosenBrowser(t *testing.T) {
	profilesIn(t)
	url := servePage(t)
	dir := t.TempDir()
	given, givenStarted := sayingBrowser(t, dir, "some-browser")
	_, braveStarted := sayingBrowser(t, dir, "brave-browser")
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, test := range []struct {
		args     []string
		started  func() []string
		headless bool
	}{
		{[]string{"--executable", given}, givenStarted, true},
		{[]string{"--executable", given, "--headed"}, givenStarted, false},
		{[]string{"--browser", "brave"}, braveStarted, true},
		{[]string{"--browser", "brave", "--headed"}, braveStarted, false},
	} {
		t.Run(strings.Join(test.args[:1], "")+fmt.Sprint(test.headless), func(t *testing.T) {
			agent := host(t, t.TempDir(), folder(t, "shop"), test.args...)
			if text := mustTool(t, agent, "browser_navigate", map[string]any{"url": url}); !strings.Contains(text, "Sample") {
				t.Errorf("it shows %s", text)
			}
			args := test.started()
			if got := slices.Contains(args, "--headless=new"); got != test.headless {
				t.Errorf("headless %t, started with %q", got, args)
			}
		})
	}
	// The first call reports a missing browser, with the next step. The start reports an
	// unknown name.
	gone := filepath.Join(dir, "gone")
	agent := host(t, t.TempDir(), folder(t, "shop"), "--executable", gone)
	if _, err := tool(t, agent, "browser_snapshot", nil); err == nil || !strings.Contains(err.Error(), "no browser found: "+gone+" does not exist") {
		t.Errorf("without the executable: %v", err)
	}
	out, err := command(t.Context(), t, t.TempDir(), "mcp", "--browser", "netscape").CombinedOutput()
	if err == nil || !strings.Contains(string(out), `unknown browser "netscape": known are chrome, chromium, msedge, brave`) {
		t.Errorf("an unknown browser: %v\n%s", err, out)
	}
}
