// Command benchtasks plays tasks of an agent in small applications, with the coordinator's
// tools and with those of its peers, Playwright MCP and chrome-devtools-mcp, and in a shell
// with the commands of each and of agent-browser. The application decides whether a task is done. A
// play-through is what a capable model does that knows only the list of tools.
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
	"strings"
	"time"

	"browser-coordinator/coordinator/chrome"
	"browser-coordinator/internal/bench/peer"
	"browser-coordinator/internal/bench/record"
)

func main() {
	coordinator := flag.String("coordinator", "bin/coordinator", "the coordinator's `binary`")
	peers := flag.String("peers", "internal/bench/peer/npm", "the `folder` in which npm ci has installed the peers")
	filter := flag.String("task", "", "play only the tasks with this `text` in their name")
	all := []string{ours, playwright, devtools, shell, playwrightCLI, agentBrowser, devtoolsCLI}
	kinds := flag.String("servers", strings.Join(all, ","), "play only with these `servers`")
	trace := flag.String("trace", "", "write all calls and answers to this `file`")
	keep := flag.String("keep", "", "replace the figures in this Markdown `file`, between its lines "+
		record.Mark("tasks")+" and "+record.Mark("shells"))
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := bench(ctx, *coordinator, *peers, strings.Split(*kinds, ","), *filter, *trace, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "benchtasks:", err)
		os.Exit(1)
	}
}

func bench(ctx context.Context, coordinator, peers string, kinds []string, filter, trace, keep string) (err error) {
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
	programs := peer.Programs{Coordinator: coordinator, Peers: peers}
	servers, shells := newTable("tasks"), newTable("shells")
	for _, kind := range kinds {
		at := &servers.kinds
		if inShell(kind) {
			at = &shells.kinds
		}
		*at = append(*at, kind)
	}
	for _, t := range tasks {
		if !strings.Contains(t.name, filter) {
			continue
		}
		for _, kind := range kinds {
			fmt.Fprintf(out, "==== %s, %s\n\n", t.name, kind)
			r, err := play(ctx, t, kind, programs, out)
			for attempt := 1; err != nil && attempt < 3 && ctx.Err() == nil; attempt++ { // its browser has not started
				fmt.Fprintf(os.Stderr, "%s, %s: %v\n", t.name, kind, err)
				r, err = play(ctx, t, kind, programs, out)
			}
			if err != nil {
				return fmt.Errorf("%s, %s: %w", t.name, kind, err)
			}
			fmt.Fprintf(out, "==== %s, %s: %v\n\n", t.name, kind, r.err)
			if r.err != nil {
				fmt.Fprintf(os.Stderr, "%s, %s: %.600v\n", t.name, kind, r.err)
			}
			if inShell(kind) {
				shells.add(t.name, kind, r)
			} else {
				servers.add(t.name, kind, r)
			}
		}
	}
	if len(shells.kinds) > 0 {
		for _, kind := range shells.kinds {
			if shells.once[kind], err = learn(ctx, kind, programs); err != nil {
				return err
			}
		}
		if shells.cost, err = commandCost(ctx, shells.kinds, programs); err != nil {
			return err
		}
	}
	for _, t := range []*table{servers, shells} {
		if len(t.kinds) == 0 {
			continue
		}
		t.print(os.Stdout)
		fmt.Println()
		if keep != "" {
			err = errors.Join(err, t.keepIn(keep))
		}
	}
	return err
}

// thinking is how long a model takes before a call.
const thinking = 3 * time.Second

// play plays a task with a server and its own browser.
func play(ctx context.Context, t task, kind string, programs peer.Programs, trace io.Writer) (r result, err error) {
	ctx, cancel := context.WithTimeout(ctx, 6*time.Minute)
	defer cancel()
	s, err := openBrowser(ctx, kind, programs)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return run(ctx, t, kind, s, s.dir, trace, thinking), nil
}

// launched is a server that has launched its browser, and works in a folder of its own.
type launched struct {
	server
	dir string
}

// Close ends the server, and removes its folder.
func (l launched) Close() error { return errors.Join(l.server.Close(), os.RemoveAll(l.dir)) }

func openBrowser(ctx context.Context, kind string, programs peer.Programs) (l launched, err error) {
	if programs.Dir, err = os.MkdirTemp("", "bench-tasks-"); err != nil {
		return l, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(programs.Dir))
		}
	}()
	found, err := chrome.Find(chrome.FindOptions{})
	if err != nil {
		return l, err
	}
	var sandbox []string
	if os.Geteuid() == 0 {
		sandbox = []string{"--no-sandbox"}
	}
	programs.Browser, programs.BrowserArgs = found, sandbox
	cmd := programs.Ours("--viewport", "1280x800", "--executable", found)
	first, about := "browser_navigate", args{"url": "about:blank"}
	switch kind {
	case playwright:
		cmd = programs.Playwright(append(sandbox, "--headless", "--isolated", "--viewport-size", "1280x800",
			"--executable-path", found)...)
	case devtools:
		first, about = "navigate_page", args{"type": "url", "url": "about:blank", "pageId": 1}
		chromeArgs := []string{
			"--headless", "--isolated", "--viewport", "1280x800", "--executablePath", found,
			"--workspace", programs.Dir,
		}
		for _, a := range sandbox {
			chromeArgs = append(chromeArgs, "--chrome-arg="+a)
		}
		cmd = programs.DevTools(chromeArgs...)
	}
	s, err := start(ctx, kind, programs, cmd)
	if err != nil {
		return l, err
	}
	if !inShell(kind) {
		if a, err := s.Call(ctx, first, about); err != nil || a.Refused {
			return l, errors.Join(err, fmt.Errorf("start: %s", a.Text), s.Close())
		}
	}
	return launched{s, programs.Dir}, nil
}

// server is a caller that ends.
type server interface {
	caller
	Close() error
}

// inShell reports whether a kind is a command line.
func inShell(kind string) bool {
	_, isPeer := peerShells[kind]
	return kind == shell || isPeer
}

// start starts the server of a kind, whose command is cmd, or its browser from a shell.
func start(ctx context.Context, kind string, programs peer.Programs, cmd *exec.Cmd) (server, error) {
	if !inShell(kind) {
		return peer.Start(ctx, cmd)
	}
	c := commandLine{programs, "coordinator close"}
	line := "coordinator start " + strings.Join(cmd.Args[2:], " ") + " && coordinator open about:blank"
	if of, isPeer := peerShells[kind]; isPeer {
		c.stop, line = of.program+" "+of.stop, of.start
		if err := programs.LinkAgentBrowser(); err != nil {
			return nil, err
		}
	}
	text, err := c.run(ctx, line)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, text)
	}
	return c, nil
}
