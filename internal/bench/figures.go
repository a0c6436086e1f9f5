//go:build linux

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// figure is one measurement. Each round measures every way once, in a changing order.
type figure struct {
	name    string
	most    int // rounds
	measure func(ctx context.Context, b *bench) error
}

var figures = []figure{
	{"evaluate", 100, measureEvaluate},
	{"echo", 100, measureEcho},
	{"down", 100, measureDown},
	{"reply", 100, measureReply},
	{"flood", 100, measureFlood},
	{"screenshot", 3, measureScreenshot},
	{"idle", 1, measureIdle},
}

func figureNames() (names []string) {
	for _, f := range figures {
		names = append(names, f.name)
	}
	return names
}

// keep adds the values of one round.
func (b *bench) keep(figure, way string, values ...float64) {
	if b.samples[figure] == nil {
		b.samples[figure] = map[string][][]float64{}
	}
	b.samples[figure][way] = append(b.samples[figure][way], values)
}

// inTurn calls measure for every way, in another order each time.
func inTurn(ctx context.Context, measure func(way string) error) error {
	for _, at := range rand.Perm(len(order)) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := measure(order[at]); err != nil {
			return fmt.Errorf("%s: %w", order[at], err)
		}
	}
	return nil
}

func microseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// measureEvaluate: 1+1 in a page of Chromium, µs, in conversations. A relay is idle
// during the conversations of the other ways. The first request of each one follows that
// idle time.
func measureEvaluate(ctx context.Context, b *bench) error {
	const conversations, length = 6, 200
	took, first := map[string][]float64{}, map[string][]float64{}
	for range conversations {
		err := inTurn(ctx, func(way string) error {
			for i := range length {
				start := time.Now()
				if _, err := b.pages[way].ask("1", `{"id":1,"method":"Runtime.evaluate","params":{"expression":"1+1"}}`); err != nil {
					return err
				}
				took[way] = append(took[way], microseconds(time.Since(start)))
				if i == 0 {
					first[way] = append(first[way], took[way][len(took[way])-1])
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for way := range took {
		b.keep("evaluate", way, took[way]...)
		b.keep("first evaluate", way, first[way]...)
	}
	return nil
}

// measureEcho: a message of 100 bytes and its echo, µs, and the relay's processor time
// for that, µs.
func measureEcho(ctx context.Context, b *bench) error {
	text := fmt.Sprintf("%-100s", `{"id":1,"method":"Runtime.evaluate","params":{"expression":"1+1"}}`)
	took, worked := map[string][]float64{}, map[string]float64{}
	const batches, batch = 10, 300
	for range batches {
		err := inTurn(ctx, func(way string) error {
			before := cpu(b.toPeer[way].pid)
			defer func() { worked[way] += microseconds(cpu(b.toPeer[way].pid) - before) }()
			for range batch {
				start := time.Now()
				if err := b.peers[way].send(text); err != nil {
					return err
				}
				if _, _, err := b.peers[way].next(); err != nil {
					return err
				}
				took[way] = append(took[way], microseconds(time.Since(start)))
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for way, values := range took {
		b.keep("echo", way, values...)
		if b.toPeer[way].pid != 0 {
			b.keep("echo cpu", way, worked[way]/(batches*batch))
		}
	}
	return nil
}

// measureDown: frames of 1 MB from the peer: GB/s, and seconds of the relay's processor
// per GB.
func measureDown(ctx context.Context, b *bench) error {
	return inTurn(ctx, func(way string) error {
		before, start := cpu(b.toPeer[way].pid), time.Now()
		if err := b.peers[way].send(`{"id":1,"method":"down"}`); err != nil {
			return err
		}
		for range frames {
			if _, _, err := b.peers[way].next(); err != nil {
				return err
			}
		}
		const gb = float64(frames*frameSize) / 1e9
		b.keep("down", way, gb/time.Since(start).Seconds())
		if pid := b.toPeer[way].pid; pid != 0 {
			b.keep("down cpu", way, (cpu(pid)-before).Seconds()/gb)
		}
		return nil
	})
}

// measureReply: one reply of 50 MB from Chromium, ms, and the growth of the relay's
// memory meanwhile, MB.
func measureReply(ctx context.Context, b *bench) error {
	return inTurn(ctx, func(way string) error {
		const size = 50_000_000
		if _, err := b.pages[way].ask("2", `{"id":2,"method":"Runtime.evaluate","params":{"expression":"globalThis.large ??= '0123456789'.repeat(5000000); 0"}}`); err != nil {
			return err
		}
		pid := b.toBrowser[way].pid
		resident := 0.0
		if pid != 0 {
			if err := resetPeak(pid); err != nil {
				return err
			}
			resident = memory(pid, "VmRSS")
		}
		start := time.Now()
		got, err := b.pages[way].ask("3", `{"id":3,"method":"Runtime.evaluate","params":{"expression":"large"}}`)
		if err == nil && got < size {
			err = fmt.Errorf("a reply of %d bytes", got)
		}
		if err != nil {
			return err
		}
		b.keep("reply", way, microseconds(time.Since(start))/1e3)
		if pid != 0 {
			b.keep("peak", way, (memory(pid, "VmHWM")-resident)/1e3)
		}
		return nil
	})
}

// measureFlood: a page logs as fast as it can; thousands of events per second that
// arrive.
func measureFlood(ctx context.Context, b *bench) error {
	const events = 10_000
	rates := map[string][]float64{}
	flood := func(way string) error {
		page := b.pages[way]
		if _, err := page.ask("4", `{"id":4,"method":"Runtime.enable"}`); err != nil {
			return err
		}
		start := time.Now()
		if err := page.send(fmt.Sprintf(`{"id":5,"method":"Runtime.evaluate","params":{"expression":"for (let i = 0; i < %d; i++) console.log(i); 0"}}`, events)); err != nil {
			return err
		}
		for range events + 1 { // the reply too
			if _, _, err := page.next(); err != nil {
				return err
			}
		}
		rates[way] = append(rates[way], events/time.Since(start).Seconds()/1e3)
		// Otherwise the browser would repeat all of them next time.
		if _, err := page.ask("6", `{"id":6,"method":"Runtime.discardConsoleEntries"}`); err != nil {
			return err
		}
		_, err := page.ask("7", `{"id":7,"method":"Runtime.disable"}`)
		return err
	}
	for range 3 {
		if err := inTurn(ctx, flood); err != nil {
			return err
		}
	}
	for way, values := range rates {
		b.keep("flood", way, values...)
	}
	return nil
}

// measureScreenshot: Playwright's screenshot of 1920 × 1080 pixels of noise, ms.
func measureScreenshot(ctx context.Context, b *bench) error {
	return inTurn(ctx, func(way string) error {
		took, err := b.screenshots(b.toBrowser[way].addr)
		b.keep("screenshot", way, took...)
		return err
	})
}

// measureIdle: the cost of each of many idle connections to a relay, kB and
// descriptors, and what of both remains after they have closed.
func measureIdle(ctx context.Context, b *bench) error {
	const connections = 1000 // an endpoint takes 1,024; as many again at the peer, and as many files there
	return inTurn(ctx, func(way string) error {
		w := b.toPeer[way]
		if w.pid == 0 {
			return nil
		}
		resident, files := memory(w.pid, "VmRSS"), descriptors(w.pid)
		conns, err := crowd(w.addr, connections)
		if err == nil {
			b.keep("idle", way, (memory(w.pid, "VmRSS")-resident)/connections)
			b.keep("descriptors", way, float64(descriptors(w.pid)-files)/connections)
		}
		for _, conn := range conns {
			if conn != nil {
				conn.Close()
			}
		}
		if err != nil {
			return err
		}
		for deadline := time.Now().Add(10 * time.Second); descriptors(w.pid) > files && time.Now().Before(deadline); {
			time.Sleep(10 * time.Millisecond) // no event reports that another process has closed
		}
		b.keep("left", way, float64(descriptors(w.pid)-files))
		b.keep("left memory", way, (atRest(w.pid)-resident)/connections)
		return nil
	})
}

// atRest is the resident memory of a process when it has not decreased for half a
// second, or after 5 s: a process may release unused memory a moment later.
func atRest(pid int) float64 {
	return leastOf(func() float64 { return memory(pid, "VmRSS") }, 50*time.Millisecond, 500*time.Millisecond, 5*time.Second)
}

// leastOf polls now at each pause until the value has not decreased for rest, or until
// most.
func leastOf(now func() float64, pause, rest, most time.Duration) float64 {
	begun := time.Now()
	least, since := now(), begun
	for time.Since(since) < rest && time.Since(begun) < most {
		time.Sleep(pause) // no event exists
		if value := now(); value < least {
			least, since = value, time.Now()
		}
	}
	return least
}

func crowd(addr string, n int) ([]net.Conn, error) {
	conns, errs := make([]net.Conn, n), make(chan error, n)
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for i := worker; i < n; i += 8 {
				c, err := connect(addr, peerPath)
				if err != nil {
					errs <- err
					return
				}
				conns[i], c.in = c.conn, nil
			}
		})
	}
	all.Wait()
	close(errs)
	return conns, <-errs
}
