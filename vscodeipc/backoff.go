package vscodeipc

import (
	"math/rand/v2"
	"time"
)

const (
	firstPause = time.Second
	maxPause   = 30 * time.Second
	jitter     = 0.2
)

// backoff gives the pauses of spec 9: 1, 2, 4, 8, 16, then 30 s, each up to 20 %
// shorter or longer, so that clients of a window do not return all at once. The
// zero value is at the beginning.
type backoff struct{ tries int }

func (b *backoff) next() time.Duration {
	pause := min(firstPause<<min(b.tries, 10), maxPause)
	b.tries++
	return time.Duration(float64(pause) * (1 - jitter + 2*jitter*rand.Float64()))
}

func (b *backoff) reset() { b.tries = 0 }
