//go:build linux

package main

import (
	"context"
	"math/rand/v2"
	"syscall"
	"time"
)

// overload stops random agents for up to 20 seconds each, until ctx ends. Meanwhile the first page of
// their window reports more than the 16,384 events that may wait for a coordinator.
func overload(ctx context.Context, random *rand.Rand, r *result, agents []*agent) {
	for {
		// The short run has one of them, too.
		pause := time.NewTimer(3*time.Second + time.Duration(random.Int64N(int64(10*time.Second))))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return
		}
		a := agents[random.IntN(len(agents))]
		length := 10*time.Second + time.Duration(random.Int64N(int64(10*time.Second)))
		if !a.signal(syscall.SIGSTOP) {
			continue
		}
		r.disturbed("overloads of agents", a.name)
		stopped := time.NewTimer(length)
		traffic, stop := context.WithTimeout(ctx, length)
		if a.site.flood(traffic, a.window.name) {
			r.add("floods of events")
		}
		stop()
		select {
		case <-stopped.C:
		case <-ctx.Done():
			stopped.Stop()
		}
		a.signal(syscall.SIGCONT)
	}
}
