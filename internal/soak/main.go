//go:build linux

// Command soak runs windows, agents and CDP clients for a while, and kills and stops
// them at random, also for longer than the events of a busy page can wait. It counts what must never happen: a wrong, lost or doubled response, a
// call that hangs, and anything left behind.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

func main() {
	coordinator := flag.String("coordinator", "bin/coordinator", "the `FILE` to test")
	duration := flag.Duration("duration", 10*time.Minute, "how long")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "of what happens at random")
	windows := flag.Int("windows", 2, "how many windows")
	each := flag.Int("each", 2, "how many agents and clients for each window")
	log := flag.String("log", "", "write to this `FILE` as well")
	logs := flag.String("logs", os.DevNull, "write what the agents' coordinators log to this `FILE`")
	flag.Parse()
	var out io.Writer = os.Stdout
	if *log != "" {
		file, err := os.Create(*log)
		if err != nil {
			fmt.Fprintln(os.Stderr, "soak:", err)
			os.Exit(1)
		}
		out = io.MultiWriter(os.Stdout, file)
	}
	agents, err := os.Create(*logs)
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
	ok, err := run(out, agents, *coordinator, *duration, *seed, *windows, *each)
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

func run(
	out, log io.Writer, coordinator string, duration time.Duration, seed uint64, windowCount, each int,
) (bool, error) {
	coordinator, err := filepath.Abs(coordinator)
	if err != nil {
		return false, err
	}
	fmt.Fprintf(out, "soak: %v, seed %d\n", duration, seed)
	place, err := newPlace(coordinator)
	if err != nil {
		return false, err
	}
	r := newResult(out, log)
	s, err := startSite()
	if err != nil {
		return false, err
	}
	defer s.close()
	// An interruption ends the run as its deadline does.
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()

	var streams uint64
	random := func() *rand.Rand { streams++; return rand.New(rand.NewPCG(seed, streams)) }
	var windows []*window
	var agents []*agent
	var keeping, working sync.WaitGroup
	kept, release := context.WithCancel(context.Background())
	defer release()
	for i := range windowCount {
		w, err := newWindow(place, s, r, i)
		if err != nil {
			return false, err
		}
		windows = append(windows, w)
		ready, gone := make(chan struct{}), make(chan struct{})
		keeping.Go(func() { defer close(gone); w.run(kept, ready) })
		select {
		case <-ready:
		case <-gone:
			return false, fmt.Errorf("no window: %s", r)
		}
	}
	timed, stop := context.WithTimeout(ctx, duration)
	defer stop()
	for _, w := range windows {
		for i := range each {
			a := &agent{target: target{name: fmt.Sprintf("a%d%s", i, w.name)}, window: w, site: s, result: r, random: random()}
			agents = append(agents, a)
			working.Go(func() { a.run(timed) })
			c := &client{name: fmt.Sprintf("c%d%s", i, w.name), window: w, site: s, result: r, random: random()}
			working.Go(func() { c.run(timed) })
		}
		passing := &agent{target: target{name: "p" + w.name}, window: w, site: s, result: r, random: random()}
		working.Go(func() { passing.pass(timed) })
	}
	disturber := random()
	working.Go(func() { disturb(timed, disturber, r, windows, agents) })
	overloader := random()
	working.Go(func() { overload(timed, overloader, r, agents) })
	progress(timed, r)
	working.Wait()
	release()
	keeping.Wait()
	r.checkActions(s)
	place.checkLeft(r, leaving)
	fmt.Fprintln(out, "soak:", r)
	return r.ok(), nil
}

// progress prints a line every ten seconds if the output is a terminal, until ctx ends.
func progress(ctx context.Context, r *result) {
	var ticks <-chan time.Time
	if info, err := os.Stdout.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		ticker := time.NewTicker(10 * time.Second)
		defer ticker.Stop()
		ticks = ticker.C
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
			fmt.Printf("%6.0fs %s\n", time.Since(r.began).Seconds(), r)
		}
	}
}
