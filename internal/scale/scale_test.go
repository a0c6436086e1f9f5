package main

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"
)

// fixed returns the requests one after the other.
func fixed(requests ...request) func() (request, bool) {
	return func() (request, bool) {
		if len(requests) == 0 {
			return request{}, false
		}
		r := requests[0]
		r.counts, requests = true, requests[1:]
		return r, true
	}
}

// plain are assumptions under which nothing is added to waiting and sessions.
func plain(nodeCount int) assumptions {
	return assumptions{
		work:   work{session: time.Minute, think: time.Hour, duration: 1000 * time.Hour},
		nodes:  nodes{slots: 1},
		scaler: scaler{min: nodeCount, max: nodeCount},
		hub:    hub{creators: math.MaxInt, timeout: math.MaxInt64 / 4},
	}
}

// erlangC is the probability that an arrival has to wait in a queue M/M/c, with a load of
// a = arrival rate times mean session length.
func erlangC(c int, a float64) float64 {
	b := 1.0 // Erlang B by recursion
	for k := 1; k <= c; k++ {
		b = a * b / (float64(k) + a*b)
	}
	return b / (1 - a/float64(c)*(1-b))
}

// TestQueueTheory: with a fixed number of slots, random arrivals and exponential lengths,
// the simulation has the waiting times that theory gives.
func TestQueueTheory(t *testing.T) {
	if c := erlangC(2, 1); math.Abs(c-1.0/3) > 1e-12 {
		t.Fatalf("Erlang C of 2 slots at a load of 1 is %v, want 1/3", c)
	}
	for _, c := range []struct{ slots, load int }{{1, 50}, {2, 70}, {10, 80}} {
		a := plain(c.slots)
		wanted := float64(c.slots) * float64(c.load) / 100 // sessions at the same time
		mean := float64(a.work.session)
		r := rand.New(rand.NewPCG(1, uint64(c.slots)))
		var at time.Duration
		const arrivals = 200_000
		made := 0
		got := simulate(a, 1, func() (request, bool) {
			made++
			at += time.Duration(r.ExpFloat64() * mean / wanted)
			return request{at: at, length: time.Duration(r.ExpFloat64() * mean), counts: true}, made <= arrivals
		})
		var total float64
		waited := 0
		for _, s := range got.sessions {
			total += wait(s).Seconds()
			if wait(s) > 0 {
				waited++
			}
		}
		probability := erlangC(c.slots, wanted)
		check := func(what string, got, want, tolerance float64) {
			t.Helper()
			if math.Abs(got-want) > tolerance*want {
				t.Errorf("%d slots at %d %%: %s %.4f, theory %.4f", c.slots, c.load, what, got, want)
			}
		}
		check("share that waits", float64(waited)/arrivals, probability, 0.03)
		check("mean wait in seconds", total/arrivals, probability*a.work.session.Seconds()/(float64(c.slots)-wanted), 0.06)
		if got.nodes[len(got.nodes)-1] != c.slots || len(got.sessions) != arrivals {
			t.Errorf("%d sessions on %v nodes", len(got.sessions), got.nodes)
		}
	}
}

// TestScaler: small cases, worked out by hand.
func TestScaler(t *testing.T) {
	const s = time.Second
	a := plain(0)
	a.scaler = scaler{poll: 10 * s, window: 30 * s, max: 2}
	a.hub = hub{create: s, creators: 1, timeout: 25 * s}
	got := simulate(a, 1, fixed(
		request{at: 1 * s, length: 100 * s},
		request{at: 1 * s, length: 100 * s}, // both nodes are ordered at 10 s, and there at once
		request{at: 20 * s, length: 9 * s},  // has no node: two are the most
		request{at: 90 * s, length: 9 * s},  // begins when the first one ends
		request{at: 300 * s, length: 9 * s}, // the nodes have ended: one is ordered at 300 s
	))
	var waits []time.Duration
	for _, session := range got.sessions {
		waits = append(waits, wait(session))
	}
	// The hub creates one session at a time.
	if want := []time.Duration{10 * s, 11 * s, 22 * s, 1 * s}; !reflect.DeepEqual(waits, want) {
		t.Errorf("waits %v, want %v", waits, want)
	}
	if got.timedOut != 1 || got.requests != 5 || got.lost != 0 {
		t.Errorf("%d of %d timed out, %d lost", got.timedOut, got.requests, got.lost)
	}
}

// TestEveryRequestEnds: whatever fails, no request is forgotten, and a seed gives one result.
func TestEveryRequestEnds(t *testing.T) {
	for name, change := range map[string]func(*assumptions){
		"usual":             func(*assumptions) {},
		"failing nodes":     func(a *assumptions) { a.nodes.life = 20 * time.Minute },
		"slow creation":     func(a *assumptions) { a.hub.create = time.Minute; a.nodes.life = 5 * time.Minute },
		"one session":       func(a *assumptions) { a.nodes.drainAfter = 1 },
		"four slots, waves": func(a *assumptions) { a.nodes.slots, a.nodes.drainAfter, a.work.wave = 4, 4, time.Hour },
		"few nodes":         func(a *assumptions) { a.scaler.max = 50 },
	} {
		a := usual()
		a.work.browsers = 60
		change(&a)
		run := func() result { return fleet(name, a, 20, 7).result }
		got := run()
		var aborted int // creations that a node's failure has ended; they count as lost too
		if aborted = got.requests - len(got.sessions) - got.timedOut; aborted < 0 || aborted > got.lost {
			t.Errorf("%s: %d requests: %d sessions, %d timed out, %d lost", name, got.requests, len(got.sessions), got.timedOut, got.lost)
		}
		if got.busySeconds > got.slotSeconds || len(got.sessions) == 0 {
			t.Errorf("%s: %d sessions, %v s of %v s busy", name, len(got.sessions), got.busySeconds, got.slotSeconds)
		}
		if (name == "failing nodes") != (got.lost > 100) && name != "slow creation" {
			t.Errorf("%s: %d lost", name, got.lost)
		}
		if again := run(); !reflect.DeepEqual(got, again) {
			t.Errorf("%s: the same seed gives another result", name)
		}
	}
}

// TestNetwork: the share of the sessions whose connection crosses no, one or two borders.
func TestNetwork(t *testing.T) {
	n := network{zones: 3, sameZone: 1, otherZone: 100}
	r := rand.New(rand.NewPCG(1, 1))
	found := map[time.Duration]int{}
	for range 90_000 {
		found[n.roundTrip(r)]++
	}
	for added, want := range map[time.Duration]int{2: 10_000, 101: 40_000, 200: 40_000} {
		if math.Abs(float64(found[added]-want)) > 1000 {
			t.Errorf("%d sessions with %d, want about %d", found[added], added, want)
		}
	}
}
