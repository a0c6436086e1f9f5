package registry

import (
	"context"
	"errors"
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
