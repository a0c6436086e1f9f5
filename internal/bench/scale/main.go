// Command benchscale measures how the cost of agents, windows and CDP clients grows on
// one machine: memory, processor time at rest, and how long a call takes.
//
//	go tool task bench:scale -- --keep docs/scale.md
//
// It needs Linux, and for 200 agents about 6 GB of free memory.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"browser-coordinator/internal/bench/peer"
	"browser-coordinator/internal/bench/record"
)

// mark names the figures in the Markdown file.
const mark = "bench:scale"

func main() {
	coordinator := flag.String("coordinator", "bin/coordinator", "the coordinator's `binary`")
	agents := flag.Int("agents", 200, "the most agents in one window")
	browsers := flag.Int("browsers", 20, "the most windows, and the most agents with a browser of their own")
	keep := flag.String("keep", "", "replace the figures in this Markdown `file`, between its two lines "+record.Mark(mark))
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	text, err := run(ctx, *coordinator, *agents, *browsers)
	if err == nil {
		fmt.Print(text)
		if *keep != "" {
			err = record.Keep(*keep, mark, text)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchscale:", err)
		os.Exit(1)
	}
}

// page is what the agents work in.
const page = `<!doctype html><title>Shop</title><h1>Shop</h1>
<button onclick="count.value = +count.value + 1">Add</button> <output id=count>0</output>
<ul></ul><script>
for (let i = 0; i < 100; i++) document.querySelector("ul").append(Object.assign(document.createElement("li"), { textContent: "Article " + i }));
</script>`

func run(ctx context.Context, coordinator string, agents, browsers int) (text string, err error) {
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
	fmt.Fprintf(&out, "\nOn %s, on %s, at a load of %s.\n", record.Machine(), time.Now().Format(time.DateOnly), record.Load())
	for _, part := range []func(context.Context, *strings.Builder) error{
		func(ctx context.Context, out *strings.Builder) error { return b.shared(ctx, out, steps(agents)) },
		func(ctx context.Context, out *strings.Builder) error { return b.open(ctx, out, steps(browsers)) },
		func(ctx context.Context, out *strings.Builder) error { return b.clients(ctx, out, steps(agents)) },
		func(ctx context.Context, out *strings.Builder) error { return b.separate(ctx, out, steps(browsers)) },
	} {
		if err := part(ctx, &out); err != nil {
			return "", err
		}
		if err := b.close(); err != nil {
			return "", err
		}
	}
	fmt.Fprintf(&out, "\nLoad at the end: %s.\n\n", record.Load())
	return out.String(), nil
}

// steps are the numbers to measure at.
func steps(most int) []int {
	var out []int
	for _, n := range []int{1, 5, 10, 20, 50, 100} {
		if n < most && (most <= 20 || n != 5 && n != 20) {
			out = append(out, n)
		}
	}
	return append(out, most)
}
