package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"browser-coordinator/internal/bench/record"
)

// table collects the results, with a row per task.
type table struct {
	mark        string // the name of the figures in a file
	kinds, rows []string
	cells       map[[2]string]result
	once        map[string]figures       // what an agent pays once, for all tasks
	cost        map[string]time.Duration // of one command
}

func newTable(mark string) *table {
	return &table{mark: mark, cells: map[[2]string]result{}, once: map[string]figures{}}
}

func (t *table) add(row, kind string, r result) {
	if !slices.Contains(t.rows, row) {
		t.rows = append(t.rows, row)
	}
	t.cells[[2]string{row, kind}] = r
}

func (t *table) print(w io.Writer) {
	fmt.Fprint(w, "| calls, characters received, ms |")
	for _, k := range t.kinds {
		fmt.Fprintf(w, " %s |", titles[k])
	}
	fmt.Fprintf(w, "\n|---%s|\n", strings.Repeat("|---:", len(t.kinds)))
	sums := map[string]figures{}
	counts := map[string]map[string]int{}
	for _, k := range t.kinds {
		counts[k] = map[string]int{}
	}
	for _, row := range t.rows {
		fmt.Fprintf(w, "| %s |", row)
		for _, k := range t.kinds {
			r := t.cells[[2]string{row, k}]
			sum := sums[k]
			sum.add(r.figures)
			sums[k] = sum
			end := ""
			switch {
			case r.wrong:
				end = ", **wrong**"
				counts[k]["wrong"]++
			case r.err != nil:
				end = ", **not done**"
			default:
				counts[k]["done"]++
			}
			fmt.Fprintf(w, " %d, %d, %d%s |", r.calls, r.received, r.took.Milliseconds(), end)
		}
		fmt.Fprintln(w)
	}
	if len(t.once) > 0 {
		fmt.Fprint(w, "| the skill, once |")
		for _, k := range t.kinds {
			once, sum := t.once[k], sums[k]
			sum.add(once)
			sums[k] = sum
			fmt.Fprintf(w, " %d, %d, %d |", once.calls, once.received, once.took.Milliseconds())
		}
		fmt.Fprintln(w)
	}
	for _, total := range []struct {
		name  string
		value func(string) int
	}{
		{"**tasks done**", func(k string) int { return counts[k]["done"] }},
		{"wrong answers", func(k string) int { return counts[k]["wrong"] }},
		{"refused calls", func(k string) int { return sums[k].refused }},
		{"**calls**", func(k string) int { return sums[k].calls }},
		{"characters sent", func(k string) int { return sums[k].sent }},
		{"**characters received**", func(k string) int { return sums[k].received }},
		{"pictures received", func(k string) int { return sums[k].pictures }},
		{"ms in calls", func(k string) int { return int(sums[k].took.Milliseconds()) }},
	} {
		fmt.Fprintf(w, "| %s |", total.name)
		for _, k := range t.kinds {
			fmt.Fprintf(w, " %d |", total.value(k))
		}
		fmt.Fprintln(w)
	}
	if t.cost == nil {
		return
	}
	fmt.Fprint(w, "| ms of one command, median |")
	for _, k := range t.kinds {
		fmt.Fprintf(w, " %.1f |", t.cost[k].Seconds()*1000)
	}
	fmt.Fprintf(w, "\n\nThe coordinator's tool takes %.1f ms over MCP for what its command does.\n",
		t.cost[ours].Seconds()*1000)
}

// keepIn replaces the figures in a file.
func (t *table) keepIn(file string) error {
	var figures strings.Builder
	fmt.Fprintf(&figures, "%s, load %s, %s.\n\n", record.Machine(), record.Load(), time.Now().UTC().Format(time.DateOnly))
	t.print(&figures)
	return record.Keep(file, t.mark, figures.String())
}
