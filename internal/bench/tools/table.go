package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"browser-coordinator/internal/bench/record"
)

// table collects the measured values, with a row per measurement and a column per
// contender.
type table struct {
	mark    string
	columns []string
	rows    []string
	cells   map[[2]string][]float64
}

func newTable(kinds []contender) *table {
	t := &table{mark: mark, cells: map[[2]string][]float64{}}
	for _, k := range kinds {
		t.columns = append(t.columns, k.name)
	}
	return t
}

func (t *table) add(row, column string, value float64) {
	if !slices.Contains(t.rows, row) {
		t.rows = append(t.rows, row)
	}
	t.cells[[2]string{row, column}] = append(t.cells[[2]string{row, column}], value)
}

// print writes the medians as Markdown.
func (t *table) print(w io.Writer) {
	fmt.Fprintf(w, "| median | %s |\n|---%s|\n", strings.Join(t.columns, " | "), strings.Repeat("|---:", len(t.columns)))
	for _, row := range t.rows {
		fmt.Fprintf(w, "| %s |", row)
		for _, column := range t.columns {
			values := t.cells[[2]string{row, column}]
			switch m := median(values); {
			case len(values) == 0 || m == 0:
				fmt.Fprint(w, " – |")
			case m < 100 && m != float64(int(m)):
				fmt.Fprintf(w, " %.1f |", m)
			default:
				fmt.Fprintf(w, " %.0f |", m)
			}
		}
		fmt.Fprintln(w)
	}
}

// The names of the figures in a file: of the tools, and of those in the user's own browser.
const (
	mark    = "tools"
	ownMark = "own"
)

// keepIn replaces the figures in a file.
func (t *table) keepIn(file string) error {
	var figures strings.Builder
	fmt.Fprintf(&figures, "%s, load %s, %s.\n\n", record.Machine(), record.Load(), time.Now().UTC().Format(time.DateOnly))
	t.print(&figures)
	return record.Keep(file, t.mark, figures.String())
}
