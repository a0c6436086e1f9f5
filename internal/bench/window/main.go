// Command benchwindow runs the benchmarks of the window protocol in both languages, and
// keeps their figures beside the aims of the protocol.
//
//	go tool task bench:window -- --keep specs/benchmarks.md
//
// It runs in the repository's root, and needs the npm packages of extension/.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"browser-coordinator/internal/bench/record"
)

// mark is the name of the window protocol's figures in a file.
const mark = "window"

func main() {
	benchtime := flag.String("benchtime", "3s", "how `long` each benchmark of Go takes, or how often (100x)")
	keep := flag.String("keep", "",
		"replace the figures in this Markdown `file`, between its two lines "+record.Mark(mark))
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *benchtime, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "benchwindow:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, benchtime, keep string) error {
	load := record.Load() // without our own
	all, err := measureGo(ctx, benchtime)
	if err != nil {
		return err
	}
	theirs, err := measureTypeScript(ctx)
	if err != nil {
		return err
	}
	for name, value := range theirs {
		all[name] = value
	}
	node, err := exec.CommandContext(ctx, "node", "--version").Output()
	if err != nil {
		return fmt.Errorf("ask Node for its version: %w", err)
	}
	text, err := markdown(all)
	if err != nil {
		return err
	}
	text = fmt.Sprintf("Measured on %s, %s, load %s before. Go %s, Node %s.\n\n%s",
		time.Now().UTC().Format(time.DateOnly), record.Machine(), load,
		strings.TrimPrefix(runtime.Version(), "go"), strings.TrimPrefix(strings.TrimSpace(string(node)), "v"), text)
	fmt.Print(text)
	if keep == "" {
		return nil
	}
	return record.Keep(keep, mark, text)
}

// measureGo returns the figures of vscodeipc's benchmarks, in nanoseconds and bytes.
func measureGo(ctx context.Context, benchtime string) (figures, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", ".", "-benchtime", benchtime,
		"-timeout", "10m", "./vscodeipc")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("run the benchmarks of Go: %w\n%s", err, out)
	}
	return readGo(out)
}

// measureTypeScript returns the figures of the extension's benchmark, in the same units.
func measureTypeScript(ctx context.Context) (_ figures, err error) {
	dir, err := os.MkdirTemp("", "bench-window-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "figures.json")
	cmd := exec.CommandContext(ctx, "npm", "--prefix", "extension", "run", "--silent", "bench", "--", "--outputJson", file)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("run the benchmark of TypeScript: %w\n%s", err, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return readTypeScript(text)
}

// figures are named by benchmark and unit, as in "Push p50".
type figures map[string]float64

// readGo reads the output of go test: each line is a name, a count, and values with
// their units.
func readGo(out []byte) (figures, error) {
	all := figures{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		if len(words) < 4 || !strings.HasPrefix(words[0], "Benchmark") {
			continue
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(words[0], "Benchmark"), "-")
		for i := 2; i+1 < len(words); i += 2 {
			var value float64
			if _, err := fmt.Sscan(words[i], &value); err != nil {
				return nil, fmt.Errorf("read %q: %w", line, err)
			}
			all[name+" "+words[i+1]] = value
		}
	}
	return all, nil
}

// readTypeScript reads Vitest's report, which is in milliseconds.
func readTypeScript(text []byte) (figures, error) {
	var report struct {
		Files []struct {
			Groups []struct {
				Benchmarks []struct {
					Name        string
					Median, P99 float64
				}
			}
		}
	}
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&report); err != nil {
		return nil, fmt.Errorf("read Vitest's report: %w", err)
	}
	all := figures{}
	for _, file := range report.Files {
		for _, group := range file.Groups {
			for _, b := range group.Benchmarks {
				all["TypeScript p50-"+b.Name] = b.Median * float64(time.Millisecond)
				all["TypeScript p99-"+b.Name] = b.P99 * float64(time.Millisecond)
			}
		}
	}
	return all, nil
}
