package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"browser-coordinator/coordinator/chrome"
	"browser-coordinator/internal/toolstest"
)

// recordingBrowser puts a browser of that name into a folder. It records its arguments
// and then becomes the real browser. The test machine has no screen, so a browser that
// should have a window runs without one.
func recordingBrowser(t *testing.T, dir, name string) (path string, started func() []string) {
	t.Helper()
	found, err := chrome.Find(chrome.FindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	path, record := filepath.Join(dir, name), filepath.Join(dir, name+".args")
	script := fmt.Sprintf("#!/bin/sh\nprintf '%%s\\n' \"$@\" > '%s'\nexec '%s' --headless=new \"$@\"\n", record,
		found)
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path, func() []string {
		t.Helper()
		args, err := os.ReadFile(record)
		if err != nil {
			t.Fatalf("%s was not started: %v", name, err)
		}
		return strings.Split(string(args), "\n")
	}
}

// The agent's own browser is the chosen one, with a window or without.
func TestChosenBrowser(t *testing.T) {
	t.Parallel()
	url, dir := toolstest.ServeSample(t), t.TempDir()
	executable, givenStarted := recordingBrowser(t, dir, "some-browser")
	_, braveStarted := recordingBrowser(t, dir, "brave-browser")
	for _, test := range []struct {
		args     []string
		started  func() []string
		headless bool
	}{
		{[]string{"--executable", executable}, givenStarted, true},
		{[]string{"--browser", "brave", "--headed"}, braveStarted, false},
	} {
		cmd := command(t.Context(), t, t.TempDir(), append([]string{"mcp"}, test.args...)...)
		cmd.Dir, cmd.Env = t.TempDir(), append(cmd.Env, "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
		agent := startHost(t, cmd)
		agent.Expect("browser_navigate", args{"url": url}, "Sample")
		if started := test.started(); slices.Contains(started, "--headless=new") != test.headless {
			t.Errorf("headless %t, started with %q", !test.headless, started)
		}
		agent.Close()
	}
	// The first call reports a missing browser, with the next step.
	gone := filepath.Join(dir, "gone")
	host(t, t.TempDir(), t.TempDir(), "--executable", gone).Refused("browser_snapshot", nil, "no browser found: "+gone+
		" does not exist")
}

// Without a display, one line reports that and the next step. The browser's own output
// appears only with -v.
func TestNoDisplay(t *testing.T) {
	t.Parallel()
	const noDisplay = "DISPLAY= WAYLAND_DISPLAY= XDG_SESSION_TYPE="
	window := func(args ...string) string {
		cmd := command(t.Context(), t, t.TempDir(), append([]string{"window", "--workspace", t.TempDir()}, args...)...)
		cmd.Env = append(cmd.Env, strings.Fields(noDisplay)...)
		out, err := cmd.CombinedOutput()
		if err == nil {
			t.Errorf("a window opened without a display: %s", out)
		}
		return string(out)
	}
	printed := window()
	line := printed[strings.Index(printed, "coordinator: launch"):]
	if !strings.Contains(line, "has no display to show its window on (") ||
		!strings.HasSuffix(line, "): add --headless\n") || strings.Count(line, "\n") != 1 {
		t.Errorf("the window prints %q", printed)
	}
	if strings.Contains(printed, "ERROR:") {
		t.Errorf("the browser's log is shown without -v: %q", printed)
	}
	if printed := window("-v"); !strings.Contains(printed, "ERROR:ui/") {
		t.Errorf("the browser's log is not shown with -v: %q", printed)
	}
	cmd := command(context.Background(), t, t.TempDir(), "serve", "--launch", "--headed", "--workspace", t.TempDir())
	cmd.Env = append(cmd.Env, strings.Fields(noDisplay)...)
	_, body := get(t, startCommand(t, cmd).first+"/json/version", nil)
	if !strings.Contains(body, "): leave --headed away.") || strings.Contains(body, "ERROR:") {
		t.Errorf("clients get %q", body)
	}
}
