//go:build linux

// Command bench measures a window's endpoint beside a direct connection,
// httputil.ReverseProxy, and a floor in C that only copies bytes. One run measures all in
// turn, each relay in a process of its own. The figures of a run depend on the machine and
// its load; the ratios within a run hardly do.
//
//	go run ./internal/bench [--rounds N] [--json FILE] [--keep FILE]
//
// It needs Linux, cc, Node and the packages of internal/conformance.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"browser-coordinator/internal/bench/record"
)

// mark is the name of the endpoint's figures in a file.
const mark = "endpoint"

func main() {
	if len(os.Args) == 4 && os.Args[1] == "serve" {
		if err := serve(os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	rounds := flag.Int("rounds", 7, "how often each figure is measured for each way")
	filter := flag.String("only", "", "measure only these figures, comma-separated: "+strings.Join(figureNames(), ", "))
	asJSON := flag.String("json", "", "write all figures to this `file`")
	keep := flag.String("keep", "",
		"replace the figures in this Markdown `file`, between its two lines "+record.Mark(mark))
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *rounds, *filter, *asJSON, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, rounds int, filter, asJSON, keep string) error {
	b, err := open(ctx)
	if err != nil {
		return err
	}
	defer b.close()
	wanted := func(name string) bool {
		return filter == "" || strings.Contains(","+filter+",", ","+name+",")
	}
	for round := range rounds {
		for _, f := range figures {
			if !wanted(f.name) || round >= f.most {
				continue
			}
			fmt.Fprintf(os.Stderr, "\rround %d of %d: %-14s", round+1, rounds, f.name)
			if err := f.measure(ctx, b); err != nil {
				return fmt.Errorf("%s: %w", f.name, err)
			}
		}
	}
	fmt.Fprintf(os.Stderr, "\r%40s\r", "")
	report := b.report(rounds)
	text := report.markdown()
	fmt.Print(text)
	if asJSON != "" {
		if err := report.writeJSON(asJSON); err != nil {
			return err
		}
	}
	if keep != "" {
		return record.Keep(keep, mark, text)
	}
	return nil
}
