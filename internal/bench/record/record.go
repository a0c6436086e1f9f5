// Package record keeps the figures of a benchmark in a Markdown file, with the machine
// on which they were measured.
//
//	err := record.Keep("specs/benchmarks.md", "window", table)
//
// It does not judge the figures.
package record

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// Keep replaces the text between the two lines <!-- name --> in a Markdown file.
func Keep(file, name, text string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	mark := Mark(name) + "\n"
	parts := strings.Split(string(b), mark)
	if len(parts) != 3 {
		return fmt.Errorf("%s has not two lines %s", file, Mark(name))
	}
	return os.WriteFile(file, []byte(parts[0]+mark+text+mark+parts[2]), 0o644)
}

// Mark is the line before and after the figures of a name.
func Mark(name string) string { return "<!-- " + name + " -->" }

// Machine describes the machine of the measurement, as far as the system reports it.
func Machine() string {
	model := "processors"
	b, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(b)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			model = strings.TrimSpace(value)
			break
		}
	}
	system := strings.TrimSpace(runtime.GOOS + " " + firstWords("/proc/sys/kernel/osrelease", 1))
	return fmt.Sprintf("%d × %s, %s %s", runtime.NumCPU(), model, system, runtime.GOARCH)
}

// Load is the number of running programs in the last 1, 5 and 15 minutes; empty if the
// system does not report it.
func Load() string { return firstWords("/proc/loadavg", 3) }

func firstWords(path string, n int) string {
	b, _ := os.ReadFile(path)
	words := strings.Fields(string(b))
	return strings.Join(words[:min(n, len(words))], " ")
}
