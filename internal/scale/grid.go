package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// grid is one simulated Selenium Grid: a hub with its queue, and nodes.
type grid struct {
	events
	assumptions
	random *rand.Rand
	source func() (request, bool)
	drawn  bool // all requests have been made

	queue    []*request
	pending  int // requests in the queue that have not timed out
	creating int
	running  int
	up       int     // slots of the nodes that are up
	alive    []*node // starting or up, and not draining
	free     []*node // one entry for each free slot; some are stale
	demands  []demand

	changed time.Duration // until which the times in result are counted
	result  result
}

type node struct {
	index    int // in alive; -1: no longer there
	up, dead bool
	draining bool
	served   int
	sessions []*request
}

// demand is how many nodes the scaler wanted at a time.
type demand struct {
	at    time.Duration
	nodes int
}

// simulate runs one grid until all requests have ended.
func simulate(a assumptions, seed uint64, source func() (request, bool)) result {
	g := &grid{assumptions: a, random: rand.New(rand.NewPCG(seed, 1)), source: source}
	for range a.scaler.min {
		g.boot(0)
	}
	g.draw()
	if a.scaler.poll > 0 {
		g.scale()
	}
	g.sample()
	for !g.drawn || g.pending+g.creating+g.running > 0 {
		if !g.next() {
			break
		}
	}
	g.count()
	return g.result
}

// draw plans the arrival of the next request.
func (g *grid) draw() {
	r, ok := g.source()
	if !ok {
		g.drawn = true
		return
	}
	g.after(r.at-g.now, func() { g.arrive(&r); g.draw() })
}

func (g *grid) arrive(r *request) {
	g.count()
	if r.counts {
		g.result.requests++
	}
	r.at, r.queued = g.now, true
	g.queue = append(g.queue, r)
	g.pending++
	g.after(g.hub.timeout, func() {
		if r.queued {
			g.count()
			r.queued = false
			g.pending--
			if r.counts {
				g.result.timedOut++
			}
		}
	})
	g.dispatch()
}

// dispatch assigns free slots to the requests that have waited longest.
func (g *grid) dispatch() {
	for g.creating < g.hub.creators {
		for len(g.queue) > 0 && !g.queue[0].queued {
			g.queue = g.queue[1:]
		}
		if len(g.queue) == 0 {
			return
		}
		n := g.freeNode()
		if n == nil {
			return
		}
		r := g.queue[0]
		g.queue, r.queued = g.queue[1:], false
		n.sessions = append(n.sessions, r)
		n.served++
		g.pending--
		g.creating++
		g.after(g.hub.create, func() { g.begin(n, r) })
	}
}

// freeNode takes a free slot.
func (g *grid) freeNode() *node {
	for len(g.free) > 0 {
		n := g.free[len(g.free)-1]
		g.free = g.free[:len(g.free)-1]
		if g.accepts(n) {
			return n
		}
	}
	return nil
}

func (g *grid) accepts(n *node) bool {
	return n.up && !n.dead && !n.draining && (g.nodes.drainAfter == 0 || n.served < g.nodes.drainAfter)
}

// begin starts a session that has been created.
func (g *grid) begin(n *node, r *request) {
	g.count()
	g.creating--
	if n.dead { // while it created the session
		g.again(r, r.length)
		return
	}
	r.begun = true
	g.running++
	added := g.network.roundTrip(g.random)
	commands := float64(r.length) / float64(g.work.think)
	if r.counts {
		g.result.sessions = append(g.result.sessions, session{r.at, g.now, added})
	}
	g.after(r.length+time.Duration(commands*float64(added)), func() { g.end(n, r) })
	g.dispatch()
}

func (g *grid) end(n *node, r *request) {
	i := slices.Index(n.sessions, r)
	if n.dead || i < 0 {
		return
	}
	g.count()
	n.sessions = slices.Delete(n.sessions, i, i+1)
	g.running--
	if g.accepts(n) {
		g.free = append(g.free, n)
	} else if len(n.sessions) == 0 {
		g.remove(n)
	}
	g.dispatch()
}

// boot starts a node.
func (g *grid) boot(start time.Duration) {
	n := &node{index: len(g.alive)}
	g.alive = append(g.alive, n)
	g.after(time.Duration(float64(start)*(0.5+g.random.Float64())), func() {
		if n.index < 0 { // no longer wanted
			return
		}
		g.count()
		n.up = true
		g.up += g.nodes.slots
		for range g.nodes.slots {
			g.free = append(g.free, n)
		}
		if g.nodes.life > 0 {
			g.after(time.Duration(g.random.ExpFloat64()*float64(g.nodes.life)), func() { g.crash(n) })
		}
		g.dispatch()
	})
}

// crash ends a node with its sessions.
func (g *grid) crash(n *node) {
	if n.dead {
		return
	}
	g.count()
	lost := n.sessions
	g.remove(n)
	for _, r := range lost {
		if r.begun { // else begin asks again
			g.running--
			g.again(r, r.length/2)
		}
	}
}

// again asks at once for a new session, in place of one that a node has lost.
func (g *grid) again(lost *request, rest time.Duration) {
	if lost.counts {
		g.result.lost++
	}
	g.arrive(&request{length: rest, counts: lost.counts})
}

func (g *grid) remove(n *node) {
	g.forget(n)
	if n.up && !n.dead {
		g.up -= g.nodes.slots
	}
	n.dead = true
}

// forget takes a node off the scaler's list.
func (g *grid) forget(n *node) {
	if n.index < 0 {
		return
	}
	last := g.alive[len(g.alive)-1]
	g.alive[n.index], last.index = last, n.index
	g.alive, n.index = g.alive[:len(g.alive)-1], -1
}

// scale sets the number of nodes from the length of the queue and the running sessions.
func (g *grid) scale() {
	s := g.scaler
	sessions := float64(g.pending + g.creating + g.running)
	want := int(math.Ceil(sessions * (1 + s.spare) / float64(g.nodes.slots)))
	want = min(max(want, s.min), s.max)
	g.count()
	for len(g.alive) < want {
		g.boot(g.nodes.start)
	}
	g.demands = slices.DeleteFunc(append(g.demands, demand{g.now, want}), func(d demand) bool { return d.at < g.now-s.window })
	highest := slices.MaxFunc(g.demands, func(a, b demand) int { return a.nodes - b.nodes }).nodes
	for len(g.alive) > highest { // any of them, as Kubernetes does; a busy one drains
		n := g.alive[g.random.IntN(len(g.alive))]
		g.forget(n)
		n.draining = true
		if len(n.sessions) == 0 {
			g.remove(n)
		}
	}
	g.after(s.poll, g.scale)
}

// sample notes the number of nodes, for the table.
func (g *grid) sample() {
	g.result.nodes = append(g.result.nodes, g.up/g.nodes.slots)
	if g.now < g.work.duration {
		g.after(max(g.work.duration/samples, time.Second), g.sample)
	}
}

// count adds up what the time since the last change has cost.
func (g *grid) count() {
	from, to := max(g.changed, g.work.warmUp), min(g.now, g.work.duration)
	if to > from {
		d := (to - from).Seconds()
		g.result.slotSeconds += d * float64(g.up)
		g.result.busySeconds += d * float64(g.running)
		g.result.nodeSeconds += d * float64(g.up) / float64(g.nodes.slots)
	}
	g.changed = g.now
}
