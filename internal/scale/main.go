// Command scale simulates fleets of browsers on Selenium Grid, as docs/scale.md plans
// them: agents that ask for sessions, a queue, nodes that come and go with its length.
//
//	go run ./internal/scale
//	go run ./internal/scale -browsers 500 -slots 4 -poll 10s
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"
)

func main() {
	a := usual()
	sizes := flag.String("browsers", "10,1000,100000", "browsers wanted at the same time, on average; several with commas")
	perGrid := flag.Int("per-grid", 1000, "browsers of one grid; more are spread over several grids")
	seed := flag.Uint64("seed", 1, "of the random numbers")
	flag.DurationVar(&a.work.session, "session", a.work.session, "mean length of a session")
	flag.DurationVar(&a.work.think, "think", a.work.think, "mean pause between two commands")
	flag.DurationVar(&a.work.duration, "duration", a.work.duration, "simulated time")
	flag.DurationVar(&a.work.warmUp, "warm-up", a.work.warmUp, "time at the start that does not count")
	flag.DurationVar(&a.work.wave, "wave", a.work.wave, "all sessions are requested at once, again after this time; 0: at random times")
	flag.IntVar(&a.nodes.slots, "slots", a.nodes.slots, "sessions of a node")
	flag.DurationVar(&a.nodes.start, "node-start", a.nodes.start, "mean time until a new node is ready")
	flag.DurationVar(&a.nodes.life, "node-life", a.nodes.life, "mean time to a node's failure")
	flag.IntVar(&a.nodes.drainAfter, "drain-after", a.nodes.drainAfter, "sessions after which a node ends; 0: never")
	flag.DurationVar(&a.scaler.poll, "poll", a.scaler.poll, "the scaler's polling interval")
	flag.DurationVar(&a.scaler.window, "window", a.scaler.window, "how long the demand must be lower before nodes end")
	flag.Float64Var(&a.scaler.spare, "spare", a.scaler.spare, "nodes beyond the demand, as a share of it")
	flag.DurationVar(&a.hub.create, "create", a.hub.create, "time to create a session in a free slot")
	flag.IntVar(&a.hub.creators, "creators", a.hub.creators, "sessions that a distributor creates at the same time")
	flag.DurationVar(&a.hub.timeout, "queue-timeout", a.hub.timeout, "of a request in the queue")
	flag.IntVar(&a.network.zones, "zones", a.network.zones, "zones over which agents, routers and nodes are spread")
	flag.DurationVar(&a.network.sameZone, "same-zone", a.network.sameZone, "round trip within a zone")
	flag.DurationVar(&a.network.otherZone, "other-zone", a.network.otherZone, "round trip between zones")
	flag.DurationVar(&a.network.router, "router", a.network.router, "what the grid's relay adds to a command")
	flag.Parse()
	fmt.Printf("A session lasts %v on average, with a command each %v. The first %v of %v do not count.\n",
		a.work.session, a.work.think, a.work.warmUp, a.work.duration)

	var rows []row
	for _, text := range strings.Split(*sizes, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || *perGrid < 1 {
			fmt.Fprintf(os.Stderr, "-browsers %s: want numbers from 1\n", *sizes)
			os.Exit(2)
		}
		b := a
		b.work.browsers = n
		rows = append(rows, fleet(text+" browsers", b, *perGrid, *seed))
	}
	table(os.Stdout, "Sizes", rows)

	rows = nil
	for _, v := range variants {
		b := a
		v.change(&b)
		rows = append(rows, fleet(v.name, b, *perGrid, *seed))
	}
	table(os.Stdout, "1000 browsers, with one assumption changed", rows)
}

// variants change one assumption each.
var variants = []struct {
	name   string
	change func(*assumptions)
}{
	{"as above", func(*assumptions) {}},
	{"10 % spare nodes", func(a *assumptions) { a.scaler.spare = 0.1 }},
	{"a node for each session", func(a *assumptions) { a.nodes.drainAfter = a.nodes.slots }},
	{"4 slots in a node", func(a *assumptions) { a.nodes.slots = 4 }},
	{"polling each 10 s", func(a *assumptions) { a.scaler.poll = 10 * time.Second }},
	{"new nodes need new machines (2 min)", func(a *assumptions) { a.nodes.start = 2 * time.Minute }},
	{"a node fails each day", func(a *assumptions) { a.nodes.life = 24 * time.Hour }},
	{"sessions of 1 min", func(a *assumptions) { a.work.session = time.Minute }},
	{"from nothing", func(a *assumptions) { a.work.warmUp, a.work.duration = 0, 10*time.Minute }},
	{"all at once, each hour", func(a *assumptions) { a.work.wave = time.Hour }},
	{"all at once, new machines (2 min)", func(a *assumptions) { a.work.wave, a.nodes.start = time.Hour, 2*time.Minute }},
	{"routers of the own zone", func(a *assumptions) { a.network.ownRouters = true }},
	{"one zone", func(a *assumptions) { a.network.zones = 1 }},
}

// fleet simulates as many grids as needed.
func fleet(name string, a assumptions, perGrid int, seed uint64) row {
	r := row{name: name, grids: (a.work.browsers + perGrid - 1) / perGrid}
	a.work.browsers = a.work.browsers / r.grids
	for i := range r.grids {
		random := rand.New(rand.NewPCG(seed, uint64(i)+2))
		r.add(simulate(a, seed+uint64(i), a.work.requests(random)))
	}
	return r
}
