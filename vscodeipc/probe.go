package vscodeipc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"browser-coordinator/internal/usersocket"
	"browser-coordinator/vscodeipc/internal/socket"
)

// The verdicts of a probe (spec 10).
const (
	Live         = "live"
	Busy         = "busy"
	Stale        = "stale"
	Incompatible = "incompatible"
	Foreign      = "foreign"
)

const (
	probeTime = 1500 * time.Millisecond // for the responses
	// with deleting, which takes milliseconds unless another process holds the lock
	probeAllTime = 1950 * time.Millisecond
)

// Verdict is the result of a probe of one address.
type Verdict struct {
	Address Address
	Verdict string // Live, Busy, Stale, Incompatible or Foreign
	Reason  string // to display
	Deleted bool   // the address was stale and is gone
	Hello   *Hello // of a live window
}

// ProbeOptions are the options of Probe.
type ProbeOptions struct {
	DryRun bool        // delete nothing
	Dial   DialOptions // how to dial
}

// Probe probes every address in every known directory, all at the same time and within
// 2 s, and deletes the dead sockets. The verdicts are in the order of the addresses. The
// error reports directories that could not be searched; the verdicts are complete for
// all others. The reason of a verdict reports why a dead socket was not deleted.
func Probe(ctx context.Context, o ProbeOptions) ([]Verdict, error) {
	addresses, err := List()
	ctx, cancel := context.WithTimeout(ctx, probeAllTime)
	defer cancel()
	asking, cancelAsking := context.WithTimeout(ctx, probeTime)
	defer cancelAsking()
	verdicts := make([]Verdict, len(addresses))
	var all sync.WaitGroup
	for i, a := range addresses {
		all.Go(func() { verdicts[i] = probe(asking, a, o.Dial) })
	}
	all.Wait()
	// A window that was just closing is neither live nor dead: it has no verdict.
	verdicts = slices.DeleteFunc(verdicts, func(v Verdict) bool { return v.Verdict == "" })
	slices.SortFunc(verdicts, func(a, b Verdict) int { return strings.Compare(string(a.Address), string(b.Address)) })
	if !o.DryRun {
		removeStale(ctx, verdicts)
	}
	if err != nil {
		err = fmt.Errorf("probe the windows: %w", err)
	}
	return verdicts, err
}

// removeStale deletes the stale addresses, and records that in the verdicts.
func removeStale(ctx context.Context, verdicts []Verdict) {
	for i := range verdicts {
		v := &verdicts[i]
		if v.Verdict != Stale {
			continue
		}
		err := socket.RemoveStale(ctx, v.Address)
		v.Deleted = err == nil
		if err != nil {
			v.Reason += "; " + err.Error()
		}
	}
}

// probe probes one address: a window that agents cannot subscribe to is not live. The zero
// verdict means that the address has disappeared.
func probe(ctx context.Context, a Address, o DialOptions) Verdict {
	c, err := subscribe(ctx, a, o)
	if err == nil {
		hello := c.hello
		c.close()
		return Verdict{Address: a, Verdict: Live, Reason: "it responded", Hello: &hello}
	}
	v := Verdict{Address: a, Reason: err.Error()}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Verdict{}
	case errors.Is(err, socket.ErrForeign):
		v.Verdict = Foreign
	case errors.Is(err, errIncompatible):
		v.Verdict = Incompatible
	case usersocket.IsDead(err):
		v.Verdict, v.Reason = Stale, "no process listens there"
	case ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded):
		v.Verdict, v.Reason = Busy, "it accepted the connection, but did not respond in time: its program is stopped or busy"
	default:
		v.Verdict = Busy
	}
	return v
}
