//go:build unix

package page_test

import (
	"os"
	"path/filepath"
	"testing"

	"browser-coordinator/coordinator/chrome"
	"browser-coordinator/internal/pagetest"
)

// On a busy machine the process of a new tab starts slowly. The tab can be navigated
// nevertheless.
func TestSlowStartOfTab(t *testing.T) { // alone, with its own browser
	slow := filepath.Join(t.TempDir(), "slow")
	if err := os.WriteFile(slow, []byte("#!/bin/sh\nsleep 5\nexec \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	pagetest.UseBrowser(t, chrome.Options{Args: []string{"--no-zygote", "--renderer-cmd-prefix=" + slow}})
	p, _ := pagetest.Open(t, "<!doctype html><title>here</title>")
	pagetest.Expect(t, p, "document.title", `"here"`)
}
