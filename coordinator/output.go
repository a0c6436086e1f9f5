package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
)

// printJSON writes v for programs.
func printJSON(w io.Writer, v any) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(printableJSON(text.Bytes()))
	return err
}

// heededWriter keeps the first error of what is written by cobra, which heeds none.
type heededWriter struct {
	to     io.Writer
	failed error
}

func (w *heededWriter) Write(b []byte) (int, error) {
	n, err := w.to.Write(b)
	if w.failed == nil {
		w.failed = err
	}
	return n, err
}

// table writes rows for people; the first is the header.
func table(w io.Writer, rows [][]string) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			if i > 0 {
				fmt.Fprint(tw, "\t")
			}
			if cell == "" {
				cell = "-"
			}
			fmt.Fprint(tw, printableLine(cell))
		}
		fmt.Fprintln(tw)
	}
	return tw.Flush()
}

// paintedTable is a table whose first column has a colour of its own in each row;
// none where it is empty.
func paintedTable(w io.Writer, rows [][]string, colours []string) error {
	var plain bytes.Buffer
	if err := table(&plain, rows); err != nil {
		return err
	}
	for i := 0; plain.Len() > 0; i++ {
		line, _ := plain.ReadString('\n')
		first := rows[i][0]
		if colours[i] != "" {
			line = paint(w, colours[i], first) + strings.TrimPrefix(line, first)
		}
		if _, err := io.WriteString(w, line); err != nil {
			return err
		}
	}
	return nil
}

// Colours, on a terminal only (https://no-color.org).
const (
	green  = "32"
	yellow = "33"
	red    = "31"
)

func paint(w io.Writer, colour, text string) string {
	if !isTerminal(w) || os.Getenv("NO_COLOR") != "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}
