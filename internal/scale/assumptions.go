package main

import (
	"math/rand/v2"
	"time"
)

// assumptions are everything that the simulation takes for given.
type assumptions struct {
	work    work
	nodes   nodes
	scaler  scaler
	hub     hub
	network network
}

// work is what the agents of one grid ask for.
type work struct {
	browsers int           // wanted at the same time, on average
	session  time.Duration // mean length of a session, exponential
	think    time.Duration // mean pause of an agent between two commands
	duration time.Duration // in which sessions are requested
	warmUp   time.Duration // whose requests do not count
	wave     time.Duration // all are requested at once, again after this time; 0: at random times
}

// nodes are the machines or pods with browsers.
type nodes struct {
	slots      int           // sessions at the same time
	start      time.Duration // until the hub has a new node: uniform from half of it to one and a half
	life       time.Duration // mean time to a failure, exponential; 0: none
	drainAfter int           // sessions, after which a node ends (KEDA's jobs); 0: never
}

// scaler sets the number of nodes from the queue, as KEDA does for a Selenium Grid.
type scaler struct {
	poll     time.Duration // 0: the number of nodes is fixed
	window   time.Duration // the number follows the highest demand in it when it falls
	min, max int
	spare    float64 // nodes beyond the demand, as a share of it
}

// hub is the grid's queue and distributor.
type hub struct {
	create   time.Duration // to create a session in a free slot
	creators int           // sessions created at the same time
	timeout  time.Duration // of a request in the queue
}

// network is the way of a command: from the agent to the router, and to the node.
type network struct {
	zones      int
	sameZone   time.Duration // round trip
	otherZone  time.Duration
	router     time.Duration // that the grid's own relay adds
	ownRouters bool          // the agents use the router of their zone
}

// usual are the assumptions of docs/scale.md.
func usual() assumptions {
	return assumptions{
		work:    work{browsers: 1000, session: 10 * time.Minute, think: 5 * time.Second, duration: 150 * time.Minute, warmUp: 30 * time.Minute},
		nodes:   nodes{slots: 1, start: 30 * time.Second, life: 30 * 24 * time.Hour},
		scaler:  scaler{poll: 30 * time.Second, window: 5 * time.Minute, max: 1 << 20},
		hub:     hub{create: 1500 * time.Millisecond, creators: 24, timeout: 5 * time.Minute},
		network: network{zones: 3, sameZone: 200 * time.Microsecond, otherZone: time.Millisecond, router: 500 * time.Microsecond},
	}
}

// request is an agent's wish for a session.
type request struct {
	at, length    time.Duration
	queued, begun bool
	counts        bool // after the warm-up
}

// requests returns a generator of the requests. Their lengths are exponential.
func (w work) requests(r *rand.Rand) func() (request, bool) {
	gap := float64(w.session) / float64(w.browsers)
	var at time.Duration
	made := 0
	return func() (request, bool) {
		if w.wave == 0 {
			at += time.Duration(r.ExpFloat64() * gap)
		} else {
			at = w.wave * time.Duration(made/w.browsers)
			made++
		}
		length := time.Duration(r.ExpFloat64() * float64(w.session))
		return request{at: at, length: length, counts: at >= w.warmUp}, at < w.duration
	}
}

// roundTrip returns what the network adds to each command of a session. The connection,
// and with it the zones on its way, stays the same for the whole session.
func (n network) roundTrip(r *rand.Rand) time.Duration {
	hop := func(near bool) time.Duration {
		if near || r.IntN(max(n.zones, 1)) == 0 {
			return n.sameZone
		}
		return n.otherZone
	}
	return n.router + hop(n.ownRouters) + hop(false)
}
