package registry

import (
	"context"
	"errors"
	"strings"
	"testing"

	"browser-coordinator/vscodeipc"
)

func TestCall(t *testing.T) {
	folder, r := shop(t)
	window := serveCommands(t, folder, map[string]vscodeipc.Handler{
		"echo": func(_ context.Context, c vscodeipc.Call) (any, error) { return c.Arg, nil },
	})
	w, _, err := r.Resolve(t.Context(), Want{Dir: folder})
	if err != nil {
		t.Fatal(err)
	}
	var back string
	if err := r.Call(t.Context(), w, "echo", "hi", &back); err != nil || back != "hi" {
		t.Errorf("echo gives %q, %v", back, err)
	}
	var missing *NotOfferedError
	if err := r.Call(t.Context(), w, "debug.start", nil, nil); !errors.As(err, &missing) {
		t.Errorf("a command that is not offered: %v", err)
	}
	window.Close(t.Context())
	eventually(t, r, "the window is gone", func(l Listing) bool { return len(l.Windows) == 0 })
	if err := r.Call(t.Context(), w, "echo", "hi", nil); err == nil {
		t.Error("a window that has closed answered")
	}
}

// A window may offer few commands. Only the user of VS Code can get more of them by an update.
func TestNotOffered(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		"vscode":   "update it, and reload the window",
		"terminal": "is not a VS Code window, so that it cannot do this (debug.start)",
		"neovim":   "nvim-cdp 1.0 of /shop cannot do this (debug.start)",
	} {
		window := Window{Hello: vscodeipc.Hello{
			Server: vscodeipc.ServerInfo{Name: "nvim-cdp", Version: "1.0", Kind: kind}, Workspace: "/shop",
		}}
		err := &NotOfferedError{window, vscodeipc.CommandDebugStart}
		if got := err.Error(); !strings.Contains(got, want) || kind != "vscode" && strings.Contains(got, "update") {
			t.Errorf("%s: %s", kind, got)
		}
	}
}
