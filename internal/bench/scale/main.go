// Command scale measures what one agent, window and CDP client more costs on one machine:
// memory, processor time at rest, and how long a call takes.
//
//	go tool task bench:scale -- --keep docs/scale.md
//
// It needs Linux, and about 3 GB of free memory.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/internal/bench/peer"
	"browser-coordinator/internal/bench/record"
)

// mark names the figures in the Markdown file.
const mark = "bench:scale"

func main() {
	coordinator := flag.String("coordinator", "bin/coordinator", "the coordinator's `binary`")
	keep := flag.String("keep", "",
		"replace the figures in this Markdown `file`, between its two lines "+record.Mark(mark))
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	text, err := run(ctx, *coordinator)
	if err == nil {
		fmt.Print(text)
		if *keep != "" {
			err = record.Keep(*keep, mark, text)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

// page is what the agents work in.
const page = `<!doctype html><title>Shop</title><h1>Shop</h1>
<button onclick="count.value = +count.value + 1">Add</button> <output id=count>0</output>
<ul></ul><script>
for (let i = 0; i < 100; i++)
  document.querySelector("ul").append(Object.assign(document.createElement("li"), { textContent: "Article " + i }));
</script>`

func run(ctx context.Context, coordinator string) (text string, err error) {
	if coordinator, err = filepath.Abs(coordinator); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "bs-") // short: sockets are below it
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, page)
	}))
	defer site.Close()
	b := &bench{programs: peer.Programs{Coordinator: coordinator, Dir: dir}, url: site.URL}
	defer func() { err = errors.Join(err, b.close()) }()

	var out strings.Builder
	fmt.Fprintf(&out, "\nOn %s, on %s, at a load of %s.\n\n| what | measured with | costs |\n|---|--:|---|\n",
		record.Machine(), time.Now().Format(time.DateOnly), record.Load())
	for _, part := range []func(context.Context, *strings.Builder) error{
		b.agentsOfAWindow, b.manyWindows, b.clientsOfAnEndpoint,
	} {
		if err := errors.Join(part(ctx, &out), b.close()); err != nil {
			return "", err
		}
	}
	out.WriteString("\n")
	return out.String(), nil
}

// agentsOfAWindow measures agents that share one window's browser. Each has read the
// window's page; four of them act in a tab of their own.
func (b *bench) agentsOfAWindow(ctx context.Context, out *strings.Builder) error {
	const agents, acting = 50, 4
	if err := b.openWindow(b.programs.Dir); err != nil {
		return err
	}
	var clickers []agent
	for range acting {
		a, err := b.startAgent(ctx)
		if err == nil {
			err = errors.Join(a.call(ctx, "browser_tabs", map[string]any{"action": "new", "url": b.url}), a.click(ctx))
		}
		if err != nil {
			return err
		}
		clickers = append(clickers, a)
	}
	windowBefore, _ := use(pids(b.windows)...)
	for range agents - acting {
		a, err := b.startAgent(ctx)
		if err == nil {
			err = a.call(ctx, "browser_snapshot", nil)
		}
		if err != nil {
			return err
		}
	}
	ownUsage, _, share, _ := atRest(pids(b.agents)...)
	window, _ := use(pids(b.windows)...)
	fmt.Fprintf(out, "| an agent | %d | %.1f MB for its coordinator, and %.2f MB in the window's; "+
		"all of them at rest %.1f %% of a processor |\n",
		agents, ownUsage.private/agents, (window.private-windowBefore.private)/(agents-acting), 100*share)
	one, err := repeat(1, func(int) error { return clickers[0].click(ctx) })
	if err != nil {
		return err
	}
	processes := append(pids(b.agents), pids(b.windows)...)
	before := cpuOf(processes...)
	four, err := repeat(acting, func(i int) error { return clickers[i].click(ctx) })
	if err != nil {
		return err
	}
	clicks := float64(len(four))
	fmt.Fprintf(out, "| a click | %d | %s, p99 %s; %d agents that click without a pause: %.0f a second, "+
		"each %.1f ms of processor time with the browser's |\n",
		agents, one.percentile(0.5), one.percentile(0.99), acting, clicks/period.Seconds(),
		(cpuOf(processes...)-before).Seconds()*1000/clicks)
	return nil
}

// manyWindows measures windows, each with a browser and one page.
func (b *bench) manyWindows(ctx context.Context, out *strings.Builder) error {
	const windows = 10
	for range windows {
		folder, err := os.MkdirTemp(b.programs.Dir, "w")
		if err != nil {
			return err
		}
		if err := b.openWindow(folder); err != nil {
			return err
		}
	}
	a, err := b.startAgent(ctx)
	if err != nil {
		return err
	}
	list, err := repeat(1, func(int) error { return a.call(ctx, "window_list", nil) })
	if err != nil {
		return err
	}
	ownUsage, browsers, _, share := atRest(pids(b.windows)...)
	fmt.Fprintf(out, "| a window | %d | %.1f MB for its coordinator; an agent lists all windows in %s |\n",
		windows, ownUsage.private/windows, list.percentile(0.5))
	fmt.Fprintf(out, "| its browser, headless, with one simple page | %d | %.0f MB private, %.0f MB resident; "+
		"%d processes; at rest %.1f %% of a processor |\n", windows,
		browsers.private/windows, browsers.resident/windows, browsers.processes/windows, 100*share/windows)
	return nil
}

// clientsOfAnEndpoint measures CDP clients of a window's endpoint. One calls, the others
// rest.
func (b *bench) clientsOfAnEndpoint(ctx context.Context, out *strings.Builder) error {
	const clients = 100
	if err := b.openWindow(b.programs.Dir); err != nil {
		return err
	}
	before, _ := use(pids(b.windows)...)
	for range clients {
		conn, err := cdp.Dial(ctx, b.endpoint, nil)
		if err != nil {
			return err
		}
		b.conns = append(b.conns, conn)
	}
	after, _ := use(pids(b.windows)...)
	calls, err := repeat(1, func(int) error { return b.conns[0].Call(ctx, "Browser.getVersion", nil, nil) })
	fmt.Fprintf(out, "| a CDP client | %d | %.2f MB in the window's coordinator; "+
		"`Browser.getVersion` takes %s, p99 %s |\n", clients,
		(after.private-before.private)/clients, calls.percentile(0.5), calls.percentile(0.99))
	return err
}

// bench has the running processes.
type bench struct {
	programs peer.Programs
	url      string
	windows  []*exec.Cmd
	endpoint string // of the last window
	agents   []*exec.Cmd
	servers  []*peer.Server // those of agents
	conns    []*cdp.Conn
}

func (b *bench) close() error {
	var errs []error
	for _, c := range b.conns {
		errs = append(errs, c.Close())
	}
	for _, s := range b.servers {
		errs = append(errs, s.Close())
	}
	for _, w := range b.windows {
		errs = append(errs, w.Process.Signal(os.Interrupt), w.Wait())
	}
	*b = bench{programs: b.programs, url: b.url}
	return errors.Join(errs...)
}

// openWindow starts a window with a browser. The agents' folder is that of the programs.
func (b *bench) openWindow(folder string) error {
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
	b.endpoint = strings.TrimSpace(line)
	return err
}

// agent is a coordinator over stdio.
type agent struct{ *peer.Server }

func (b *bench) startAgent(ctx context.Context) (agent, error) {
	cmd := b.programs.Ours()
	server, err := peer.Start(ctx, cmd)
	if err != nil {
		return agent{}, err
	}
	b.agents, b.servers = append(b.agents, cmd), append(b.servers, server)
	return agent{server}, server.ListTools(ctx)
}

// call calls a tool that must succeed.
func (a agent) call(ctx context.Context, tool string, args map[string]any) error {
	answer, err := a.Call(ctx, tool, args)
	if err == nil && answer.Refused {
		err = fmt.Errorf("%s: %s", tool, answer.Text)
	}
	return err
}

func (a agent) click(ctx context.Context) error {
	return a.call(ctx, "browser_click", map[string]any{"target": "button"})
}

func pids(processes []*exec.Cmd) []int {
	var all []int
	for _, p := range processes {
		all = append(all, p.Process.Pid)
	}
	return all
}

// period is how long processes rest or act for one figure.
const period = 5 * time.Second

// atRest returns what the processes use, and which share of a processor while nothing is
// done.
func atRest(pids ...int) (ownUsage, browsers usage, ownShare, browserShare float64) {
	ownBefore, browsersBefore := use(pids...)
	begin := time.Now()
	time.Sleep(period)
	ownUsage, browsers = use(pids...)
	seconds := time.Since(begin).Seconds()
	ownShare = (ownUsage.cpu - ownBefore.cpu).Seconds() / seconds
	return ownUsage, browsers, ownShare, (browsers.cpu - browsersBefore.cpu).Seconds() / seconds
}

// cpuOf is the processor time of the processes and of their descendants.
func cpuOf(pids ...int) time.Duration {
	ownUsage, browsers := use(pids...)
	return ownUsage.cpu + browsers.cpu
}

// times are how long calls took, the shortest first.
type times []time.Duration

// repeat calls do for a period, in each of the goroutines.
func repeat(goroutines int, do func(i int) error) (times, error) {
	all, errs := make([]times, goroutines), make([]error, goroutines)
	var done sync.WaitGroup
	begin := time.Now()
	for i := range goroutines {
		done.Go(func() {
			for time.Since(begin) < period && errs[i] == nil {
				before := time.Now()
				errs[i] = do(i)
				all[i] = append(all[i], time.Since(before))
			}
		})
	}
	done.Wait()
	return slices.Sorted(slices.Values(slices.Concat(all...))), errors.Join(errs...)
}

func (t times) percentile(share float64) string {
	return fmt.Sprintf("%.1f ms", float64(t[int(share*float64(len(t)-1))])/float64(time.Millisecond))
}
