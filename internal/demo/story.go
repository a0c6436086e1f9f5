package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// story describes the demo's steps to a person.
type story struct {
	out   io.Writer
	bold  bool
	start time.Time
	steps int
}

func (s *story) step(format string, args ...any) {
	s.steps++
	line := fmt.Sprintf("%2d. %s", s.steps, fmt.Sprintf(format, args...))
	if s.bold {
		line = "\x1b[1m" + line + "\x1b[0m"
	}
	fmt.Fprintf(s.out, "\n%s\n", line)
}

// show prints the result of a step, indented, cut after some lines.
func (s *story) show(text string) {
	const most = 14
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		if i == most {
			fmt.Fprintf(s.out, "    … and %d more lines\n", len(lines)-most)
			return
		}
		fmt.Fprintf(s.out, "    %s\n", line)
	}
}

func (s *story) end(format string, args ...any) {
	fmt.Fprintf(s.out, "\n%s It took %.1f s.\n", fmt.Sprintf(format, args...), time.Since(s.start).Seconds())
}
