package backoff

import (
	"context"
	"slices"
	"testing"
	"time"
)

func TestPauses(t *testing.T) {
	b := Backoff{First: time.Second, Max: 5 * time.Second}
	var pauses []time.Duration
	for range 5 {
		pauses = append(pauses, b.Next())
	}
	b.Reset()
	pauses = append(pauses, b.Next())
	if want := []time.Duration{1e9, 2e9, 4e9, 5e9, 5e9, 1e9}; !slices.Equal(pauses, want) {
		t.Errorf("the pauses are %v, want %v", pauses, want)
	}
}

func TestJitter(t *testing.T) {
	for range 1000 {
		b := Backoff{First: time.Second, Max: time.Second, Jitter: 0.2}
		if pause := b.Next(); pause < 800*time.Millisecond || pause > 1200*time.Millisecond {
			t.Fatalf("a pause of %v", pause)
		}
	}
}

func TestSleep(t *testing.T) {
	b := Backoff{First: time.Millisecond, Max: time.Hour}
	if !b.Sleep(t.Context()) {
		t.Error("the pause did not end")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b = Backoff{First: time.Hour, Max: time.Hour}
	if b.Sleep(ctx) {
		t.Error("the pause did not end with the context")
	}
}
