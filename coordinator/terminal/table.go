package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"golang.org/x/term"
)

// Count is a number with the words for one or for several.
func Count(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}

// Is reports whether a stream is a terminal.
func Is(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Width is the number of columns of a terminal, or 80.
func Width(stream any) int {
	if file, ok := stream.(*os.File); ok {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return 80
}

// JSON writes v for programs.
func JSON(w io.Writer, v any) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(PrintableJSON(text.Bytes()))
	return err
}

// Table writes rows for people; the first is the header.
func Table(w io.Writer, rows [][]string) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			if i > 0 {
				fmt.Fprint(tw, "\t")
			}
			if cell == "" {
				cell = "-"
			}
			fmt.Fprint(tw, PrintableLine(cell))
		}
		fmt.Fprintln(tw)
	}
	return tw.Flush()
}

// ColouredTable is a Table with a colour for the first column of each row; empty: none.
func ColouredTable(w io.Writer, rows [][]string, colours []string) error {
	var plain bytes.Buffer
	if err := Table(&plain, rows); err != nil {
		return err
	}
	for i := 0; plain.Len() > 0; i++ {
		line, _ := plain.ReadString('\n')
		if Is(w) {
			line = Fold(line, Width(w), foldIndent)
		}
		first := rows[i][0]
		if colours[i] != "" {
			line = Colour(w, colours[i], first) + strings.TrimPrefix(line, first)
		}
		if _, err := io.WriteString(w, line); err != nil {
			return err
		}
	}
	return nil
}

// Colours, on a terminal only (https://no-color.org).
const (
	Green  = "32"
	Yellow = "33"
	Red    = "31"
)

// Colour colours a text, on a terminal only.
func Colour(w io.Writer, code, text string) string {
	if !Is(w) || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
