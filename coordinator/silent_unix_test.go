//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestSilentWindow: a window that does not answer is no closed one. It is named with how long
// it has been silent, and its agents do not get another browser.
func TestSilentWindow(t *testing.T) {
	t.Parallel()
	dir, shop := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(shop, "src"), 0o700); err != nil {
		t.Fatal(err)
	}
	window := openWindow(t, dir, shop)
	signal := func(s os.Signal) {
		t.Helper()
		if err := window.cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	signal(syscall.SIGSTOP)
	defer signal(syscall.SIGCONT)

	const silence = "a window is there, but it has not answered for 2s: its program is stopped or busy"
	if got := output(t, dir, "status"); !strings.Contains(got, silence) || strings.Contains(got, "deadline") ||
		!strings.Contains(got, "does not respond: it is stopped or busy") {
		t.Errorf("status: %s", got)
	}
	if got := output(t, dir, "status", "--json"); !strings.Contains(got, silence) {
		t.Errorf("status --json: %s", got)
	}
	agent := host(t, dir, filepath.Join(shop, "src")) // the window of a folder above counts too
	agent.Refused("browser_navigate", args{"url": "about:blank"}, "the window of ", "cannot be used now",
		"its program is stopped or busy", "continue a stopped one by `fg`")
	agent.Expect("window_list", nil, "its program is stopped or busy")
	other := host(t, dir, t.TempDir()) // another folder's agent has nothing to do with it
	other.Must("browser_tabs", args{"action": "list"})

	signal(syscall.SIGCONT)
	text, err := agent.Call("browser_navigate", args{"url": "about:blank"})
	for tries := 1; err != nil && tries < 50; tries++ { // its program goes on when the system lets it
		text, err = agent.Call("browser_navigate", args{"url": "about:blank"})
	}
	if err != nil || strings.Contains(text, "browser of its own") {
		t.Error(text, err)
	}
}
