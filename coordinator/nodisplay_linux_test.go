package main

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
)

// withoutDisplay runs the programs of this test without a display.
func withoutDisplay(t *testing.T) {
	t.Helper()
	for _, name := range []string{"DISPLAY", "WAYLAND_DISPLAY", "XDG_SESSION_TYPE"} {
		t.Setenv(name, "")
		if err := os.Unsetenv(name); err != nil {
			t.Fatal(err)
		}
	}
}

// Without a display, one line reports that and the next step. The browser's own output
// appears only with -v.
func TestNoDisplay(t *testing.T) {
	withoutDisplay(t)
	window := func(args ...string) string {
		out, err := command(t.Context(), t, t.TempDir(), append([]string{"window", "--workspace", t.TempDir()}, args...)...).CombinedOutput()
		if err == nil {
			t.Errorf("a window opened without a display: %s", out)
		}
		return string(out)
	}
	said := window()
	_, told, _ := strings.Cut(said, "coordinator: ")
	if !strings.Contains(told, "has no display to show its window on (") || !strings.HasSuffix(told, "): add --headless\n") || strings.Count(told, "\n") != 1 {
		t.Errorf("the window says %q", said)
	}
	if strings.Contains(said, "ERROR:") {
		t.Errorf("the browser's log is shown without -v: %q", said)
	}
	if said := window("-v"); !strings.Contains(said, "ERROR:ui/") {
		t.Errorf("the browser's log is not shown with -v: %q", said)
	}

	serving := start(t, t.TempDir(), "serve", "--launch", "--headed", "--workspace", t.TempDir())
	res, err := http.Get(serving.first + "/json/version")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(body), "): leave --headed away.") || strings.Contains(string(body), "ERROR:") {
		t.Errorf("clients are told %q", body)
	}
}
