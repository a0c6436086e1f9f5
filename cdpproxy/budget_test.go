package cdpproxy

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestBudget: stalled holders are evicted for one that needs memory, the one
// without progress for the longest time first. A holder that makes progress, waits
// itself or cannot be evicted stays.
func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(100, stallTimeout, memoryTimeout)
		over := make(chan struct{})
		var evicted []string
		holder := func(name string) *claim {
			return &claim{budget: b, over: over, evict: func(string) { evicted = append(evicted, name) }}
		}
		stays := &claim{budget: b}
		first, second, busy, asks := holder("first"), holder("second"), holder("busy"), holder("asks")
		for _, c := range []*claim{stays, first, second, busy} {
			if !c.take(25) {
				t.Fatal("there is memory, but not to be had")
			}
			time.Sleep(time.Second)
		}
		if asks.take(1) {
			t.Error("more was taken than there is")
		}
		asks.takeAnyway(5)
		began := time.Now()
		busy.progress()
		if !asks.await(20) || time.Since(began) != stallTimeout-3*time.Second || len(evicted) != 1 || evicted[0] != "first" {
			t.Errorf("after %v: evicted %q", time.Since(began), evicted)
		}
		if first.take(1) {
			t.Error("an evicted holder takes more")
		}
		first.give(25)
		if b.used != 100 {
			t.Errorf("%d are used", b.used)
		}
		waits := make(chan bool)
		go func() { waits <- busy.await(20) }()
		synctest.Wait()
		second.give(25)
		if !<-waits || len(evicted) != 1 {
			t.Errorf("what was given back was not taken; evicted %q", evicted)
		}
		began = time.Now()
		stays.takeAnyway(100)
		if holder("late").await(150) || time.Since(began) != memoryTimeout {
			t.Errorf("it waited %v for more than there can be", time.Since(began))
		}
		go func() { waits <- holder("ends").await(150) }()
		synctest.Wait()
		close(over)
		if <-waits {
			t.Error("a holder that has ended has taken more")
		}
		for _, c := range []*claim{stays, first, second, busy, asks} {
			c.close()
		}
		if b.used != 0 || len(b.claims) != 0 {
			t.Errorf("%d are used by %d at the end", b.used, len(b.claims))
		}
	})
}
