// Command benchtools compares the coordinator's tools with those of its peers,
// Playwright MCP and chrome-devtools-mcp, and with the raw CDP commands that an action
// needs. One run measures all, each with its own Chromium of the same build, on the same
// page, with interleaved rounds.
//
//	go tool task bench:tools -- --keep specs/benchmarks.md
//
// Memory is reported on Linux only. The figures of a busy machine mean little by
// themselves; the ratios between the columns mean more.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"time"

	"browser-coordinator/coordinator/chrome"
	"browser-coordinator/internal/bench/peer"
	"browser-coordinator/internal/bench/record"
)

func main() {
	coordinator := flag.String("coordinator", "bin/coordinator", "the coordinator's `binary`")
	peers := flag.String("peers", "internal/bench/peer/npm", "the `folder` in which npm ci has installed the peers")
	rounds := flag.Int("rounds", 15, "how often each act is done")
	starts := flag.Int("starts", 7, "how often each server is started")
	own := flag.Bool("own", false, "compare those that can use the user's own browser, directly and as that")
	keep := flag.String("keep", "", "replace the figures in this Markdown `file`, between its two lines "+
		record.Mark(mark)+",\nwith --own "+record.Mark(ownMark))
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	t, err := run(ctx, *coordinator, *peers, *rounds, *starts, *own)
	if err == nil {
		t.print(os.Stdout)
		if *keep != "" {
			err = t.keepIn(*keep)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchtools:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, coordinator, peers string, rounds, starts int, own bool) (t *table, err error) {
	coordinator, err = filepath.Abs(coordinator)
	if err != nil {
		return nil, err
	}
	peers, err = filepath.Abs(peers)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "bench-tools-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	shop, err := openShop()
	if err != nil {
		return nil, err
	}
	defer shop.Close()
	programs := peer.Programs{Coordinator: coordinator, Peers: peers, Dir: dir}
	kinds := contenders(programs)
	if own {
		kinds = inOwnBrowser(programs)
	}
	t = newTable(kinds)
	if own {
		t.mark = ownMark
	} else if err := measureStarts(ctx, t, kinds, starts); err != nil {
		return nil, err
	}
	var running []*contestant
	defer func() {
		for _, c := range running {
			err = errors.Join(err, c.close())
		}
	}()
	for _, k := range kinds {
		c, err := enter(ctx, k, filepath.Join(dir, fmt.Sprint("profile", len(running))))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.name, err)
		}
		running = append(running, c)
	}
	// The first rounds are a warm-up and are not counted.
	const warm = 2
	for round := range rounds + warm {
		// Each round begins with another one.
		for i := range running {
			c := running[(i+round)%len(running)]
			if err := c.round(ctx, shop.url, t, round >= warm); err != nil {
				return nil, fmt.Errorf("%s: %w", c.kind.name, err)
			}
		}
	}
	for _, c := range running {
		t.add("memory after the rounds, MB", c.kind.name, c.memory())
	}
	return t, nil
}

// measureStarts measures each server from its start to its list of tools.
func measureStarts(ctx context.Context, table *table, kinds []contender, starts int) error {
	for range starts {
		for _, k := range kinds {
			if k.command == nil {
				continue
			}
			began := time.Now()
			s, err := peer.Start(ctx, k.command("http://127.0.0.1:9", ""))
			if err != nil {
				return fmt.Errorf("%s: %w", k.name, err)
			}
			err = s.ListTools(ctx)
			took := time.Since(began)
			table.add("start to tools/list, ms", k.name, milliseconds(took))
			table.add("idle memory, MB", k.name, s.Memory(peer.Resident))
			table.add("its own part of it, MB", k.name, s.Memory(peer.ItsOwn))
			if err := errors.Join(err, s.Close()); err != nil {
				return fmt.Errorf("%s: %w", k.name, err)
			}
		}
	}
	for _, k := range kinds {
		if k.command == nil {
			continue
		}
		characters, err := peer.ListCharacters(k.command("http://127.0.0.1:9", ""))
		if err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
		table.add("characters of the tool list", k.name, float64(characters))
	}
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// launch launches a Chromium with the same options for every contestant.
func launch(ctx context.Context, profile string) (*chrome.Browser, error) {
	found, err := chrome.Find(chrome.FindOptions{})
	if err != nil {
		return nil, err
	}
	return chrome.Launch(ctx, chrome.Options{
		Executable: found, Headless: true, UserDataDir: profile, DebuggingPort: new(0), Viewport: "1280x800",
		Args: []string{"--disable-gpu"},
	})
}

// median sorts the slice and returns its median.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[len(values)/2]
}
