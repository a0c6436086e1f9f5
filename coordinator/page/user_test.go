package page_test

import (
	"context"
	"testing"
	"time"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/internal/pagetest"
)

// Nobody works in a browser of our own that draws on no screen, so input does not wait there.
func TestNoUserWithoutAScreen(t *testing.T) {
	t.Parallel()
	b := pagetest.ConnectWith(t, &page.Options{User: page.UserIfVisible})
	p, _ := pagetest.ServeIn(t, b, pagetest.HTML(`<!doctype html><button>Press</button>`))
	pagetest.Snapshot(t, p)
	if err := p.AwaitUser(t.Context()); err != nil {
		t.Fatal(err)
	}
	key := map[string]any{"type": "rawKeyDown", "key": "Shift"}
	if err := p.Session().Call(t.Context(), "Input.dispatchKeyEvent", key, nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond) // a user would have to rest for longer
	defer cancel()
	if err := p.AwaitUser(ctx); err != nil {
		t.Errorf("input waits: %v", err)
	}
}
