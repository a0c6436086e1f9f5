package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/internal/bench/peer"
)

// bench has the running processes.
type bench struct {
	programs peer.Programs
	url      string
	windows  []*exec.Cmd
	endpoint string // of the first window
	agents   []*agent
	conns    []*cdp.Conn
}

// agent is a coordinator over stdio.
type agent struct {
	*peer.Server
	cmd *exec.Cmd
}

func (b *bench) close() error {
	var errs []error
	for _, c := range b.conns {
		errs = append(errs, c.Close())
	}
	for _, a := range b.agents {
		errs = append(errs, a.Close())
	}
	for _, w := range b.windows {
		errs = append(errs, w.Process.Signal(os.Interrupt), w.Wait())
	}
	b.conns, b.agents, b.windows = nil, nil, nil
	return errors.Join(errs...)
}

// openWindow starts a window with a browser. The first one is that of the agents.
func (b *bench) openWindow() error {
	folder := b.programs.Dir
	if len(b.windows) > 0 {
		var err error
		if folder, err = os.MkdirTemp("", "bs-"); err != nil {
			return err
		}
		defer os.Remove(folder)
	}
	cmd := b.programs.Ours()
	cmd.Args = []string{cmd.Args[0], "window", "--headless", "--url", b.url, "--workspace", folder}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	b.windows = append(b.windows, cmd)
	line, err := bufio.NewReader(out).ReadString('\n')
	if len(b.windows) == 1 {
		b.endpoint = strings.TrimSpace(line)
	}
	return err
}

// grow starts agents until there are n, and prepares each.
func (b *bench) grow(ctx context.Context, n int, prepare func(*agent) error) error {
	for len(b.agents) < n {
		cmd := b.programs.Ours()
		server, err := peer.Start(ctx, cmd)
		if err != nil {
			return err
		}
		a := &agent{server, cmd}
		b.agents = append(b.agents, a)
		if err := errors.Join(a.ListTools(ctx), prepare(a)); err != nil {
			return err
		}
	}
	return nil
}

// call calls a tool that must succeed.
func (a *agent) call(ctx context.Context, tool string, args map[string]any) error {
	answer, err := a.Call(ctx, tool, args)
	if err == nil && answer.Refused {
		err = fmt.Errorf("%s: %s", tool, answer.Text)
	}
	return err
}

func (a *agent) click(ctx context.Context) error {
	return a.call(ctx, "browser_click", map[string]any{"target": "button"})
}

// pids are the processes of the agents.
func (b *bench) pids() []int {
	var out []int
	for _, a := range b.agents {
		out = append(out, a.cmd.Process.Pid)
	}
	return out
}

// rest is the time in which the processor time at rest is counted.
const rest = 5 * time.Second

// atRest returns what the processes use, and which share of a processor while nothing is
// done.
func atRest(pids ...int) (own, browsers usage, ownShare, browserShare float64) {
	ownBefore, browsersBefore := use(pids...)
	begin := time.Now()
	time.Sleep(rest)
	own, browsers = use(pids...)
	seconds := time.Since(begin).Seconds()
	return own, browsers, (own.cpu - ownBefore.cpu).Seconds() / seconds, (browsers.cpu - browsersBefore.cpu).Seconds() / seconds
}

// cpuOf is the processor time of the processes and of their descendants.
func cpuOf(pids ...int) time.Duration {
	own, browsers := use(pids...)
	return own.cpu + browsers.cpu
}

// each is how much of a total each call has, in milliseconds.
func (t times) each(total time.Duration) float64 {
	return float64(total) / float64(time.Millisecond) / float64(max(len(t), 1))
}

// times are how long calls took.
type times []time.Duration

// repeat calls do for a time, in each of the goroutines, and returns all calls.
func repeat(d time.Duration, goroutines int, do func(i int) error) (times, error) {
	var mu sync.Mutex
	var all times
	var errs []error
	var done sync.WaitGroup
	begin := time.Now()
	for i := range goroutines {
		done.Go(func() {
			for time.Since(begin) < d {
				before := time.Now()
				err := do(i)
				mu.Lock()
				all = append(all, time.Since(before))
				if err != nil {
					errs = append(errs, err)
				}
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	done.Wait()
	slices.Sort(all)
	return all, errors.Join(errs...)
}

func (t times) percentile(share float64) string {
	if len(t) == 0 {
		return "–"
	}
	d := t[min(int(share*float64(len(t))), len(t)-1)]
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}
