// Package backoff spaces retries of what has no event: each pause is twice as long as
// the one before.
package backoff

import (
	"context"
	"math/rand/v2"
	"time"
)

// Backoff gives the pauses. Set First and Max; it is not for concurrent use.
type Backoff struct {
	First, Max time.Duration
	// Jitter is the part of a pause by which it is shorter or longer at random, so that
	// many clients do not retry at once.
	Jitter float64

	next time.Duration
}

// Next returns the next pause.
func (b *Backoff) Next() time.Duration {
	pause := max(b.next, b.First)
	b.next = min(2*pause, b.Max)
	return time.Duration(float64(pause) * (1 - b.Jitter + 2*b.Jitter*rand.Float64()))
}

// Reset begins with First again.
func (b *Backoff) Reset() { b.next = 0 }

// Sleep waits for the next pause. It reports false when ctx has ended first.
func (b *Backoff) Sleep(ctx context.Context) bool {
	timer := time.NewTimer(b.Next())
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
