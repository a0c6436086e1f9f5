package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
)

// printJSON writes v for programs.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
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
			fmt.Fprint(tw, cell)
		}
		fmt.Fprintln(tw)
	}
	return tw.Flush()
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
