package vscodeipc

import (
	"time"

	"browser-coordinator/internal/backoff"
)

// newBackoff returns the pauses of the window protocol: 1, 2, 4, 8, 16, then 30 s, each
// up to 20 % shorter or longer.
func newBackoff() backoff.Backoff {
	return backoff.Backoff{First: time.Second, Max: 30 * time.Second, Jitter: 0.2}
}
