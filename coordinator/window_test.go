package main

import (
	"fmt"
	"strings"
	"testing"
)

// A second window on a folder reports that the folder has one: the address is not that
// of its browser.
func TestSecondWindow(t *testing.T) {
	dir, shop := t.TempDir(), folder(t, "shop")
	first := start(t, dir, "window", "--headless", "--workspace", shop)
	elsewhere := start(t, dir, "window", "--headless", "--workspace", folder(t, "other"))
	second := start(t, dir, "window", "--headless", "--workspace", shop)
	second.stderr.await(t, fmt.Sprintf("Another window has this folder already (terminal, process %d)", first.cmd.Process.Pid), "the window that opened first.\n", "is ready")
	for _, alone := range []*running{first, elsewhere} {
		alone.stderr.await(t, "is ready")
		if strings.Contains(alone.stderr.String(), "Another window") {
			t.Errorf("a window that is alone says %q", alone.stderr)
		}
	}
}
