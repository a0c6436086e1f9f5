package registry

import (
	"context"
	"time"

	"browser-coordinator/vscodeipc"
)

// How long List waits for an address, from the moment when it is dialed: for one
// that is new, and for one that could not be reached before. That may have become a
// window, which answers within milliseconds; a call does not wait for a window that
// hangs each time.
const (
	patience      = 2 * time.Second
	patienceAgain = 250 * time.Millisecond
)

// asked is an address that is being dialed.
type asked struct {
	address vscodeipc.Address
	entry   *entry
	ended   <-chan struct{}
	until   time.Time // List waits no longer
}

// ask has an address dialed now to which there is no connection. Registry.mu is held.
func (e *entry) ask(a vscodeipc.Address) asked {
	ended, began := e.watcher.Retry()
	wait := patience
	if e.reason != "" {
		wait = patienceAgain
	}
	return asked{a, e, ended, began.Add(wait)}
}

// await waits until the attempt has ended.
func (a *asked) await(ctx context.Context) {
	timer := time.NewTimer(time.Until(a.until))
	defer timer.Stop()
	select {
	case <-a.ended:
	case <-timer.C:
	case <-ctx.Done():
	}
}
