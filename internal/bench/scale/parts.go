package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"browser-coordinator/coordinator/cdp"
)

// acting is how long agents act at each step.
const acting = 3 * time.Second

// shared measures agents that share one window's browser. Each reads the window's page
// once, and then rests, except those that act.
func (b *bench) shared(ctx context.Context, out *strings.Builder, counts []int) error {
	if err := b.openWindow(); err != nil {
		return err
	}
	out.WriteString(`
**Agents that share one window's browser.** Each has read the window's page; four of them have a tab of their own.

| agents | a coordinator, private | resident | all, private | CPU at rest | the window's coordinator | its browser, private | a click | p99 | clicks/s of four | CPU of a click |
|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
`)
	for _, n := range counts {
		err := b.grow(ctx, n, func(a *agent) error {
			if len(b.agents) <= 4 {
				if err := a.call(ctx, "browser_tabs", map[string]any{"action": "new", "url": b.url}); err != nil {
					return err
				}
				return a.click(ctx)
			}
			return a.call(ctx, "browser_snapshot", nil)
		})
		if err != nil {
			return err
		}
		own, _, share, _ := atRest(b.pids()...)
		window, browser := use(b.windows[0].Process.Pid)
		one, err := repeat(acting, 1, func(int) error { return b.agents[0].click(ctx) })
		if err != nil {
			return err
		}
		processes := append(b.pids(), b.windows[0].Process.Pid)
		before := cpuOf(processes...)
		four, err := repeat(acting, min(n, 4), func(i int) error { return b.agents[i].click(ctx) })
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "| %d | %.1f MB | %.1f MB | %.0f MB | %.1f %% | %.1f MB | %.0f MB | %s | %s | %.0f | %.1f ms |\n", n,
			own.private/float64(n), own.resident/float64(n), own.private, 100*share, window.private, browser.private,
			one.percentile(0.5), one.percentile(0.99), float64(len(four))/acting.Seconds(), four.each(cpuOf(processes...)-before))
	}
	return nil
}

// open measures open windows, each with a browser and one page. One agent is there.
func (b *bench) open(ctx context.Context, out *strings.Builder, counts []int) error {
	out.WriteString(`
**Open windows**, each with a browser. One agent works in one of them.

| windows | a window's coordinator, private | its browser, private | resident | the agent's coordinator, private | its list of the windows | a click | p99 |
|--:|--:|--:|--:|--:|--:|--:|--:|
`)
	for _, n := range counts {
		for len(b.windows) < n {
			if err := b.openWindow(); err != nil {
				return err
			}
		}
		if err := b.grow(ctx, 1, func(a *agent) error { return a.click(ctx) }); err != nil {
			return err
		}
		list, err := repeat(acting/3, 1, func(int) error { return b.agents[0].call(ctx, "window_list", nil) })
		if err != nil {
			return err
		}
		clicks, err := repeat(acting, 1, func(int) error { return b.agents[0].click(ctx) })
		if err != nil {
			return err
		}
		var windows []int
		for _, w := range b.windows {
			windows = append(windows, w.Process.Pid)
		}
		own, browsers := use(windows...)
		agents, _ := use(b.pids()...)
		each := float64(n)
		fmt.Fprintf(out, "| %d | %.1f MB | %.0f MB | %.0f MB | %.1f MB | %s | %s | %s |\n", n, own.private/each, browsers.private/each,
			browsers.resident/each, agents.private, list.percentile(0.5), clicks.percentile(0.5), clicks.percentile(0.99))
	}
	return nil
}

// clients measures CDP clients of a window's endpoint.
func (b *bench) clients(ctx context.Context, out *strings.Builder, counts []int) error {
	if err := b.openWindow(); err != nil {
		return err
	}
	out.WriteString(`
**CDP clients of one window's endpoint.** One of them calls, the others rest.

| clients | the window's coordinator, private | CPU at rest | its browser, private | Browser.getVersion | p99 |
|--:|--:|--:|--:|--:|--:|
`)
	for _, n := range append([]int{0}, counts...) {
		for len(b.conns) < n {
			conn, err := cdp.Dial(ctx, b.endpoint, nil)
			if err != nil {
				return err
			}
			b.conns = append(b.conns, conn)
		}
		window, browser, share, _ := atRest(b.windows[0].Process.Pid)
		var calls times
		if n > 0 {
			var err error
			calls, err = repeat(acting/3, 1, func(int) error { return b.conns[0].Call(ctx, "Browser.getVersion", nil, nil) })
			if err != nil {
				return err
			}
		}
		fmt.Fprintf(out, "| %d | %.1f MB | %.1f %% | %.0f MB | %s | %s |\n", n, window.private, 100*share, browser.private,
			calls.percentile(0.5), calls.percentile(0.99))
	}
	return nil
}

// separate measures agents with a headless browser of their own each.
func (b *bench) separate(ctx context.Context, out *strings.Builder, counts []int) error {
	out.WriteString(`
**Agents with a headless browser of their own**, each with one page.

| agents | a coordinator, private | a browser, private | resident | processes | CPU at rest, coordinators | browsers | a click | p99 | clicks/s of all | CPU of a click |
|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
`)
	for _, n := range counts {
		err := b.grow(ctx, n, func(a *agent) error {
			return a.call(ctx, "browser_navigate", map[string]any{"url": b.url})
		})
		if err != nil {
			return err
		}
		own, browsers, share, browserShare := atRest(b.pids()...)
		one, err := repeat(acting, 1, func(int) error { return b.agents[0].click(ctx) })
		if err != nil {
			return err
		}
		before := cpuOf(b.pids()...)
		all, err := repeat(acting, n, func(i int) error { return b.agents[i].click(ctx) })
		if err != nil {
			return err
		}
		each := float64(n)
		fmt.Fprintf(out, "| %d | %.1f MB | %.0f MB | %.0f MB | %.0f | %.1f %% | %.1f %% | %s | %s | %.0f | %.1f ms |\n", n,
			own.private/each, browsers.private/each, browsers.resident/each, float64(browsers.processes)/each, 100*share, 100*browserShare,
			one.percentile(0.5), one.percentile(0.99), float64(len(all))/acting.Seconds(), all.each(cpuOf(b.pids()...)-before))
	}
	return nil
}
