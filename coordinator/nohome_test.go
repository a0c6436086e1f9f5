package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An agent works even if its home folder is not writable, as in a container. The log
// reports once what is missing.
func TestHomeThatCannotBeWritten(t *testing.T) {
	home := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(home, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(home, "below") // not even root makes a folder below a file
	shop, url := folder(t, "shop"), servePage(t)
	for _, args := range [][]string{nil, {"--", "added"}} {
		agent := host(t, dir, shop, args...)
		if text := mustTool(t, agent, "browser_navigate", map[string]any{"url": url}); !strings.Contains(text, "Sample") {
			t.Errorf("%v: %s", args, text)
		}
		if text := mustTool(t, agent, "browser_snapshot", map[string]any{"filename": "page"}); !strings.Contains(text, savedIn(shop, "page")) {
			t.Errorf("%v: %s", args, text)
		}
		if text := mustTool(t, agent, "window_list", nil); strings.Contains(text, "Calls without `window` go to the browser at") {
			t.Errorf("%v: an address that is not served: %s", args, text)
		}
	}

	cmd := command(t.Context(), t, dir, "mcp", "--no-launch")
	cmd.Dir = shop
	out, err := cmd.CombinedOutput() // without input it ends at once
	if err != nil || strings.Count(string(out), "cannot make the folder "+filepath.Join(dir, "state")) != 1 || !strings.Contains(string(out), "set XDG_STATE_HOME") {
		t.Errorf("the log: %v %s", err, out)
	}
}
