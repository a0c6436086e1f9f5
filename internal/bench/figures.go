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
	{"reply", 100, measureReply},
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
	for _, index := range rand.Perm(len(order)) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := measure(order[index]); err != nil {
			return fmt.Errorf("%s: %w", order[index], err)
		}
	}
	return nil
}

func microseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// measureEvaluate: 1+1 in a page of Chromium, µs, in conversations. A relay is idle
// during the conversations of the other ways. The first request of each one follows that
// idle time.
func measureEvaluate(ctx context.Context, b *bench) error {
	const conversations, length = 20, 60
	took, first := map[string][]float64{}, map[string][]float64{}
	for range conversations {
		err := inTurn(ctx, func(way string) error {
			for i := range length {
				start := time.Now()
				_, err := b.pages[way].ask("1", `{"id":1,"method":"Runtime.evaluate","params":{"expression":"1+1"}}`)
				if err != nil {
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

// measureReply: one reply of 50 MB from Chromium, ms, and the growth of the relay's
// memory meanwhile, MB.
func measureReply(ctx context.Context, b *bench) error {
	return inTurn(ctx, func(way string) error {
		const size = 50_000_000
		if _, err := b.pages[way].ask("2", `{"id":2,"method":"Runtime.evaluate",`+
			`"params":{"expression":"globalThis.large ??= '0123456789'.repeat(5000000); 0"}}`); err != nil {
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

// measureScreenshot: Playwright's screenshot of 1920 × 1080 pixels of noise, ms.
func measureScreenshot(ctx context.Context, b *bench) error {
	return inTurn(ctx, func(way string) error {
		took, err := b.screenshots(b.toBrowser[way].addr)
		b.keep("screenshot", way, took...)
		return err
	})
}

// measureIdle: the memory of each of many idle connections to a relay, kB.
func measureIdle(ctx context.Context, b *bench) error {
	const connections = 1000 // an endpoint takes 1,024; as many again at the peer, and as many files there
	return inTurn(ctx, func(way string) error {
		w := b.toPeer[way]
		if w.pid == 0 {
			return nil
		}
		resident := memory(w.pid, "VmRSS")
		conns, err := crowd(w.addr, connections)
		if err == nil {
			b.keep("idle", way, (memory(w.pid, "VmRSS")-resident)/connections)
		}
		for _, conn := range conns {
			if conn != nil {
				conn.Close()
			}
		}
		return err
	})
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
