package registry

import (
	"context"
	"time"

	"browser-coordinator/vscodeipc"
)

// How long List waits for an address after it is dialed: for a new one, and for one that
// could not be reached before. The latter may be a window by now, which responds within
// milliseconds; a call must not wait each time for a window that hangs.
const (
	firstTimeout = 2 * time.Second
	againTimeout = 250 * time.Millisecond
)

// attempt is the dialing of an address.
type attempt struct {
	address vscodeipc.Address
	entry   *entry
	ended   <-chan struct{}
	until   time.Time // the end of List's wait
}

// retry dials an address without a connection now. Registry.mu is held.
func (e *entry) retry(a vscodeipc.Address) attempt {
	ended, began := e.watcher.Retry()
	wait := firstTimeout
	if e.reason != "" {
		wait = againTimeout
	}
	return attempt{a, e, ended, began.Add(wait)}
}

// await waits until the attempt has ended.
func (a *attempt) await(ctx context.Context) {
	timer := time.NewTimer(time.Until(a.until))
	defer timer.Stop()
	select {
	case <-a.ended:
	case <-timer.C:
	case <-ctx.Done():
	}
}
