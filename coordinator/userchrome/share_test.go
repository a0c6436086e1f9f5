package userchrome

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

// counted is a context that counts what is to run after it.
type counted struct {
	context.Context
	waiting atomic.Int32
}

// Value hides the context within, which would not count.
func (c *counted) Value(any) any { return nil }

func (c *counted) AfterFunc(f func()) (stop func() bool) {
	c.waiting.Add(1)
	stopped := context.AfterFunc(c.Context, f)
	return func() bool {
		c.waiting.Add(-1)
		return stopped()
	}
}

// TestAttemptsToJoin: an attempt to join a connection leaves nothing behind. While two processes wait for a
// third one, there are several a second.
func TestAttemptsToJoin(t *testing.T) {
	folder := home(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := &counted{Context: ctx}
	for range 20 {
		if _, err := join(c, &port{folder: folder}, func() {}); !errors.Is(err, errNoOwner) {
			t.Fatal(err)
		}
	}
	if waiting := c.waiting.Load(); waiting != 0 {
		t.Errorf("%d functions wait for the end of the context", waiting)
	}
}
