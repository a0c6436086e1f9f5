// Command benchtasks plays tasks of an agent in small applications, with the coordinator's
// tools and with those of its peers, Playwright MCP and chrome-devtools-mcp. The
// application decides whether a task is done. A play-through is what a capable model does
// that knows only the list of tools.
//
//	go tool task bench:tasks -- --keep specs/benchmarks.md
//
// Each task has a browser and a server of its own. Their start is not counted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"browser-coordinator/coordinator/chrome"
	"browser-coordinator/internal/bench/peer"
	"browser-coordinator/internal/bench/record"
)

func main() {
	coordinator := flag.String("coordinator", "bin/coordinator", "the coordinator's `binary`")
	peers := flag.String("peers", "internal/bench/peer/npm", "the `folder` in which npm ci has installed the peers")
	only := flag.String("task", "", "play only the tasks with this `text` in their name")
	kinds := flag.String("servers", strings.Join([]string{ours, shell, playwright, devtools}, ","), "play only with these `servers`")
	trace := flag.String("trace", "", "write all calls and answers to this `file`")
	keep := flag.String("keep", "", "replace the figures in this Markdown `file`, between its two lines "+record.Mark(mark))
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := bench(ctx, *coordinator, *peers, strings.Split(*kinds, ","), *only, *trace, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "benchtasks:", err)
		os.Exit(1)
	}
}

func bench(ctx context.Context, coordinator, peers string, kinds []string, only, trace, keep string) (err error) {
	if coordinator, err = filepath.Abs(coordinator); err != nil {
		return err
	}
	if peers, err = filepath.Abs(peers); err != nil {
		return err
	}
	out := io.Discard
	if trace != "" {
		file, err := os.Create(trace)
		if err != nil {
			return err
		}
		defer file.Close()
		out = file
	}
	table := newTable(kinds)
	for _, t := range tasks {
		if !strings.Contains(t.name, only) {
			continue
		}
		for _, kind := range kinds {
			fmt.Fprintf(out, "==== %s, %s\n\n", t.name, kind)
			r, err := play(ctx, t, kind, peer.Programs{Coordinator: coordinator, Peers: peers}, out)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", t.name, kind, err)
			}
			fmt.Fprintf(out, "==== %s, %s: %v\n\n", t.name, kind, r.err)
			if r.err != nil {
				fmt.Fprintf(os.Stderr, "%s, %s: %.600v\n", t.name, kind, r.err)
			}
			table.add(t.name, kind, r)
		}
	}
	if slices.Contains(kinds, shell) {
		if table.once[shell], err = learn(ctx, peer.Programs{Coordinator: coordinator}); err != nil {
			return err
		}
	}
	table.print(os.Stdout)
	if keep == "" {
		return nil
	}
	return table.keepIn(keep)
}

// thinking is how long a model takes before a call.
const thinking = 3 * time.Second

// play plays a task with a server and its own browser.
func play(ctx context.Context, t task, kind string, programs peer.Programs, trace io.Writer) (r result, err error) {
	if programs.Dir, err = os.MkdirTemp("", "bench-tasks-"); err != nil {
		return r, err
	}
	defer os.RemoveAll(programs.Dir)
	found, err := chrome.Find(chrome.FindOptions{})
	if err != nil {
		return r, err
	}
	var sandbox []string
	if os.Geteuid() == 0 {
		sandbox = []string{"--no-sandbox"}
	}
	cmd := programs.Ours("--viewport", "1280x800", "--executable", found.Path)
	first, about := "browser_navigate", args{"url": "about:blank"}
	switch kind {
	case playwright:
		cmd = programs.Playwright(append(sandbox, "--headless", "--isolated", "--viewport-size", "1280x800", "--executable-path", found.Path)...)
	case devtools:
		first, about = "navigate_page", args{"type": "url", "url": "about:blank", "pageId": 1}
		chromeArgs := []string{"--headless", "--isolated", "--viewport", "1280x800", "--executablePath", found.Path, "--workspace", programs.Dir}
		for _, a := range sandbox {
			chromeArgs = append(chromeArgs, "--chrome-arg="+a)
		}
		cmd = programs.DevTools(chromeArgs...)
	}
	server, err := start(ctx, kind, programs, cmd)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	if a, err := server.Call(ctx, first, about); err != nil || a.Refused {
		return r, errors.Join(err, fmt.Errorf("start: %s", a.Text))
	}
	return run(ctx, t, kind, server, programs.Dir, trace, thinking), nil
}

// server is a caller that ends.
type server interface {
	caller
	Close() error
}

// start starts the server of a kind, whose command is cmd.
func start(ctx context.Context, kind string, programs peer.Programs, cmd *exec.Cmd) (server, error) {
	if kind != shell {
		return peer.Start(ctx, cmd)
	}
	c := commandLine{programs}
	text, err := c.run(ctx, "coordinator start "+strings.Join(cmd.Args[2:], " "))
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, text)
	}
	return c, nil
}
