package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Screen shows a text on a terminal that it replaces with the next one. Close leaves the
// last text behind, below what the terminal had before.
type Screen struct {
	out  io.Writer
	last string
}

// CanRedraw reports whether a stream is a terminal on which OpenScreen works.
func CanRedraw(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && Is(file) && os.Getenv("TERM") != "dumb" && takesSequences(file)
}

// OpenScreen clears the terminal until Close.
func OpenScreen(out io.Writer) *Screen {
	// The alternate screen, no cursor, and no line that continues on the next row: the
	// terminal may become narrower.
	fmt.Fprint(out, "\x1b[?1049h\x1b[?25l\x1b[?7l")
	return &Screen{out: out}
}

// Show replaces the text.
func (s *Screen) Show(text string) error {
	s.last = text
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if limit := height(s.out); len(lines) > limit {
		rest := len(lines) - limit + 1
		lines = append(lines[:limit-1:limit-1], fmt.Sprintf("… %d more lines", rest))
	}
	for i, line := range lines {
		lines[i] = Cut(line, Width(s.out))
	}
	// Home, and each row cleared before its line: behind a line that fills its row, the cursor
	// stands on the last character. Then the rows below.
	below := "\r\n\x1b[J"
	if len(lines) >= height(s.out) {
		below = ""
	}
	_, err := io.WriteString(s.out, "\x1b[H\x1b[K"+strings.Join(lines, "\r\n\x1b[K")+below)
	return err
}

// Close restores the terminal and prints the last text.
func (s *Screen) Close() {
	fmt.Fprint(s.out, "\x1b[?7h\x1b[?25h\x1b[?1049l"+Fold(s.last, Width(s.out), foldIndent))
}

// height is the number of rows of a terminal, or 24.
func height(stream any) int {
	if file, ok := stream.(*os.File); ok {
		if _, height, err := term.GetSize(int(file.Fd())); err == nil && height > 1 {
			return height
		}
	}
	return 24
}
