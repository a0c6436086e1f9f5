// Package backoff spaces retries where no event exists: each pause is twice as long as
// the one before.
package backoff

import (
	"context"
	"math/rand/v2"
	"time"
)

// Backoff returns the pauses. Set First and Max. It is not for concurrent use.
type Backoff struct {
	First, Max time.Duration
	// Jitter is the largest random part by which a pause is shorter or longer, so that
	// many clients do not retry at the same time.
	Jitter float64

	next time.Duration
}

// Next returns the next pause.
func (b *Backoff) Next() time.Duration {
	pause := max(b.next, b.First)
	b.next = min(2*pause, b.Max)
	return time.Duration(float64(pause) * (1 - b.Jitter + 2*b.Jitter*rand.Float64()))
}

// Reset makes First the next pause.
func (b *Backoff) Reset() { b.next = 0 }

// Sleep waits for the next pause. It reports false if ctx ends first.
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
