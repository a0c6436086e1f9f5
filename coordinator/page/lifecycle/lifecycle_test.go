package lifecycle_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"browser-coordinator/coordinator/page/lifecycle"
)

// A wait reads the log from its position: what happened before does not count.
func TestAwaitFromAPosition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		life := lifecycle.New()
		life.Log(lifecycle.Event{URL: "http://a/"}, lifecycle.Leaving)
		life.Commit(false)
		before := life.Seq()
		committed := func() bool { return life.After(before, lifecycle.Committed) }
		if err := life.AwaitFor(t.Context(), time.Second, committed); err != nil || committed() {
			t.Errorf("without an event: %v", err)
		}
		time.AfterFunc(time.Second, func() { life.Commit(true) })
		if err := life.Await(t.Context(), committed); err != nil || !life.Reached(lifecycle.Loaded) || life.Documents() != 2 {
			t.Errorf("%v, %d documents", err, life.Documents())
		}
		short, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("over"))
		defer cancel()
		if err := life.Await(short, func() bool { return false }); err == nil || err.Error() != "over" {
			t.Errorf("a wait that ends with its context: %v", err)
		}
	})
}

// Each event interrupts the calls that it makes pointless, and no others.
func TestInterruptions(t *testing.T) {
	var dialog *lifecycle.DialogError
	isDialog := func(err error) bool { return errors.As(err, &dialog) }
	for name, test := range map[string]struct {
		event                     func(*lifecycle.Lifecycle)
		request, call, overDialog func(error) bool // nil: it goes on
	}{
		"a navigation": {func(l *lifecycle.Lifecycle) { l.Log(lifecycle.Event{}, lifecycle.Leaving) },
			is(lifecycle.ErrLeaving), nil, nil},
		"a dialog": {func(l *lifecycle.Lifecycle) { l.OpenDialog(lifecycle.Dialog{Type: "alert"}) }, isDialog, isDialog, nil},
		"a crash": {
			func(l *lifecycle.Lifecycle) { l.End(lifecycle.ErrCrashed) },
			is(lifecycle.ErrCrashed), is(lifecycle.ErrCrashed), is(lifecycle.ErrCrashed),
		},
	} {
		life := lifecycle.New()
		call, end, err := life.Begin(t.Context())
		over, endOver, overErr := life.BeginOverDialog(t.Context())
		if err != nil || overErr != nil {
			t.Fatal(err, overErr)
		}
		var request context.Context
		_ = life.UnlessLeaving(t.Context(), func(ctx context.Context) error {
			test.event(life)
			request = ctx
			return nil
		})
		for description, c := range map[string]struct {
			ctx  context.Context
			want func(error) bool
		}{"request": {request, test.request}, "call": {call, test.call}, "call over a dialog": {over, test.overDialog}} {
			if cause := context.Cause(c.ctx); c.want == nil && description != "request" && cause != nil || c.want != nil &&
				!c.want(cause) {
				t.Errorf("%s: the %s ends with %v", name, description, cause)
			}
		}
		end()
		endOver()
	}
}

// A page with a dialog, or one that has ended, admits no call; a navigation revives it after a crash.
func TestRefusedCalls(t *testing.T) {
	life := lifecycle.New()
	life.Log(lifecycle.Event{}, lifecycle.Leaving)
	life.OpenDialog(lifecycle.Dialog{Type: "beforeunload"})
	if _, _, err := life.Begin(t.Context()); !errors.As(err, new(*lifecycle.DialogError)) || !life.IsLeaving() {
		t.Errorf("with a dialog: %v", err)
	}
	life.CloseDialog(false)
	if life.IsBlocked() {
		t.Error("the page stays")
	}
	life.End(lifecycle.ErrCrashed)
	if _, _, err := life.Begin(t.Context()); err != lifecycle.ErrCrashed {
		t.Errorf("after a crash: %v", err)
	}
	life.Commit(false)
	if _, end, err := life.Begin(t.Context()); err != nil {
		t.Errorf("after a navigation: %v", err)
	} else {
		end()
	}
	if err := life.UnlessLeaving(t.Context(), func(context.Context) error { return nil }); err != nil {
		t.Error(err)
	}
}

func is(want error) func(error) bool {
	return func(err error) bool { return errors.Is(err, want) }
}
